"""PreScore, Score and NormalizeScore of PodTopologySpread: ScheduleAnyway constraints and the defaults.

Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go, v1.36
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import HOSTNAME_LABEL, TopologySpreadConstraint
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Bools, Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.plugins.pod_topology_spread.common import (
    Constraints,
    count_on,
    counts,
    has_all_keys,
    included_mask,
    sum_by_domain,
)


@dataclass(slots=True)
class ScoredConstraint:
    """A soft constraint: its weight, and the Pods per value id among the domains of feasible Nodes (None: per Node)."""

    constraint: TopologySpreadConstraint
    weight: float
    per_domain: Ints | None


@dataclass(slots=True)
class ScoreState:
    """The constraints, and which of the feasible Nodes are ignored since they lack a key."""

    scored: list[ScoredConstraint]
    ignored: Bools
    namespace: str


def prepare(pod: Pod, constraints: Constraints, cache: SchedulerCache, rows: Ints, *, require_all: bool) -> ScoreState:
    """Sizes and counts of the domains; `require_all`: Nodes must have every key to count."""
    columns = cache.columns
    keyed = has_all_keys(constraints, columns)
    ignored = ~keyed[rows] if require_all else np.zeros(len(rows), dtype=np.bool_)
    taking_part = rows[~ignored]
    scored = []
    for constraint in constraints:
        if constraint.topology_key == HOSTNAME_LABEL:
            size, per_domain = len(taking_part), None
        else:
            label = columns.label(constraint.topology_key)
            values = np.unique(label.ids[taking_part])
            size = len(values)
            mask = included_mask(pod, constraint, columns)
            if require_all:
                mask &= keyed
            sums = sum_by_domain(label.ids, counts(cache, pod.namespace, constraint.selector), mask, len(label.values))
            per_domain = np.zeros(len(label.values), dtype=np.int64)
            per_domain[values] = sums[values]
        scored.append(ScoredConstraint(constraint, math.log(size + 2), per_domain))
    return ScoreState(scored, ignored, pod.namespace)


def score_row(state: ScoreState, columns: Columns, info: NodeInfo) -> int:
    """The raw score of one Node: how crowded its domains are, weighted."""
    total = 0.0
    for scored in state.scored:
        value = int(columns.label(scored.constraint.topology_key).ids[info.row])
        if value == 0:
            continue
        if scored.per_domain is None:
            count = count_on(info.pods, state.namespace, scored.constraint.selector)
        else:
            count = int(scored.per_domain[value])
        total += float(count) * scored.weight + float(scored.constraint.max_skew - 1)
    return math.floor(total + 0.5)


def score_rows(state: ScoreState, cache: SchedulerCache, rows: Ints) -> Ints:
    """The raw scores of these rows."""
    total: NDArray[np.float64] = np.zeros(len(rows))
    for scored in state.scored:
        ids = cache.columns.label(scored.constraint.topology_key).ids[rows]
        if scored.per_domain is None:
            column = counts(cache, state.namespace, scored.constraint.selector)
            here = np.zeros(len(rows), dtype=np.int64) if column is None else column[rows]
        else:
            here = scored.per_domain[ids]
        part = here.astype(np.float64) * scored.weight + float(scored.constraint.max_skew - 1)
        total += np.where(ids > 0, part, 0.0)
    return np.floor(total + 0.5).astype(np.int64)


def normalize(state: ScoreState, scores: Ints) -> Ints:
    """Fewer is better; ignored Nodes get 0, and all get 100 where the highest is 0."""
    counted = scores[~state.ignored]
    if not len(counted):
        return np.zeros_like(scores)
    lowest, highest = int(counted.min()), int(counted.max())
    scaled = 100 * (highest + lowest - scores) // highest if highest else np.full_like(scores, 100)
    return np.where(state.ignored, 0, scaled)
