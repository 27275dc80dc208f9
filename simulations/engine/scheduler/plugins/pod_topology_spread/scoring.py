"""PreScore, Score and NormalizeScore of PodTopologySpread: ScheduleAnyway constraints and the defaults.

Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go, v1.36
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import HOSTNAME_LABEL
from simulations.engine.scheduler.cache.columns import ABSENT, Bools, Ids, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.plugins.pod_topology_spread.common import Constraints, count_on
from simulations.engine.scheduler.plugins.pod_topology_spread.domains import DomainMemory, Domains


@dataclass(slots=True)
class ScoredConstraint:
    """A soft constraint: its weight, and the Pods per value id among the domains of feasible Nodes (None: per Node)."""

    domains: Domains
    weight: float
    per_domain: Ints | None

    @property
    def floor(self) -> float:
        """What a Node with the key gets even without Pods."""
        return float(self.domains.constraint.max_skew - 1)


@dataclass(slots=True)
class ScoreState:
    """The constraints, and which of the feasible Nodes are ignored since they lack a key."""

    scored: list[ScoredConstraint]
    ignored: Bools
    namespace: str


def prepare(pod: Pod, constraints: Constraints, memory: DomainMemory, rows: Ints, *, require_all: bool) -> ScoreState:
    """Sizes and counts of the domains; `require_all`: Nodes must have every key to count."""
    domains, keyed = memory.of(pod, constraints, require_all=require_all)
    ignored = ~keyed[rows] if require_all else np.zeros(len(rows), dtype=np.bool_)
    taking_part = rows[~ignored]
    return ScoreState([_scored(one, taking_part) for one in domains], ignored, pod.namespace)


def _scored(domains: Domains, taking_part: Ints) -> ScoredConstraint:
    if domains.constraint.topology_key == HOSTNAME_LABEL:
        return ScoredConstraint(domains, math.log(len(taking_part) + 2), None)
    found = np.zeros(len(domains.present), dtype=np.bool_)
    found[domains.ids[taking_part]] = True
    weight = math.log(int(np.count_nonzero(found)) + 2)
    return ScoredConstraint(domains, weight, np.where(found, domains.counts(), 0))


def score_row(state: ScoreState, info: NodeInfo) -> int:
    """The raw score of one Node: how crowded its domains are, weighted."""
    total = 0.0
    for scored in state.scored:
        value = int(scored.domains.ids[info.row])
        if value == ABSENT:
            continue
        if scored.per_domain is None:
            count = count_on(info.pods, state.namespace, scored.domains.constraint.selector)
        else:
            count = int(scored.per_domain[value])
        total += float(count) * scored.weight + scored.floor
    return math.floor(total + 0.5)


def score_rows(state: ScoreState, rows: Ints) -> Ints:
    """The raw scores of these rows."""
    total: NDArray[np.float64] = np.zeros(len(rows))
    for scored in state.scored:
        ids = scored.domains.ids[rows]
        total += np.where(ids == ABSENT, 0.0, _counts(scored, ids, rows).astype(np.float64) * scored.weight + scored.floor)
    return np.floor(total + 0.5).astype(np.int64)


def _counts(scored: ScoredConstraint, ids: Ids, rows: Ints) -> Ints:
    if scored.per_domain is not None:
        found: Ints = scored.per_domain[ids]
        return found
    counted = scored.domains.counted
    if counted is None:
        return np.zeros(len(rows), dtype=np.int64)
    return counted.column(len(scored.domains.ids))[rows]


def normalize(state: ScoreState, scores: Ints) -> Ints:
    """Fewer is better; ignored Nodes get 0, and all get 100 where the highest is 0."""
    counted = scores[~state.ignored]
    if not len(counted):
        return np.zeros_like(scores)
    lowest, highest = int(counted.min()), int(counted.max())
    scaled = 100 * (highest + lowest - scores) // highest if highest else np.full_like(scores, 100)
    return np.where(state.ignored, 0, scaled)
