"""PreFilter and Filter of PodTopologySpread: DoNotSchedule constraints.

Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, v1.36
"""

from dataclasses import dataclass

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.columns import ABSENT, Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.plugin import FilterColumn
from simulations.engine.scheduler.framework.status import Status, unresolvable, unschedulable
from simulations.engine.scheduler.plugins.pod_topology_spread.common import Constraints, node_has_all_keys, node_included
from simulations.engine.scheduler.plugins.pod_topology_spread.domains import DomainMemory, Domains

NAME = "PodTopologySpread"
REASON = "node(s) didn't match pod topology spread constraints"
SKEW = unschedulable(NAME, REASON)
MISSING_LABEL = unresolvable(NAME, f"{REASON} (missing required label)")


@dataclass(slots=True)
class ConstraintCounts:
    """A constraint's domains with their Pods as of this cycle or what-if; `own` is 1 if the Pod matches its own selector."""

    domains: Domains
    counts: Ints
    own: int

    def allowed(self) -> int:
        """How many Pods a domain may hold before: the global minimum and the skew. The minimum is 0 with fewer domains than minDomains."""
        constraint = self.domains.constraint
        present = self.counts[self.domains.present]
        minimum = 0 if len(present) < max(constraint.min_domains, 1) else int(present.min())
        return constraint.max_skew + minimum - self.own


@dataclass(slots=True)
class FilterState:
    """The hard constraints of the Pod with their counts."""

    constraints: Constraints
    counted: list[ConstraintCounts]


def prepare(pod: Pod, constraints: Constraints, memory: DomainMemory) -> FilterState:
    """Count per domain over all Nodes that have all keys and that the policies include."""
    domains, _keyed = memory.of(pod, constraints, require_all=True)
    counted = []
    for one in domains:
        selector = one.constraint.selector
        own = int(selector is not None and selector.matches(pod.labels))
        counted.append(ConstraintCounts(one, one.counts().copy(), own))
    return FilterState(constraints, counted)


def filter_row(state: FilterState, row: int) -> Status | None:
    """The rule for one Node."""
    for counted in state.counted:
        value = int(counted.domains.ids[row])
        if value == ABSENT:
            return MISSING_LABEL
        here = int(counted.counts[value]) if counted.domains.present[value] else 0
        if here > counted.allowed():
            return SKEW
    return None


def filter_all(state: FilterState, columns: Columns) -> FilterColumn:
    """The rule for all Nodes: one verdict per domain."""
    codes = np.zeros(len(columns.valid), dtype=np.int16)
    for counted in state.counted:
        here = np.where(counted.domains.present, counted.counts, 0)
        verdicts = (here > counted.allowed()).astype(np.int16)
        verdicts[ABSENT] = 2
        found = verdicts[counted.domains.ids]
        codes = found if counted is state.counted[0] else np.where(codes == 0, found, codes)
    return FilterColumn(codes, [SKEW, MISSING_LABEL])


def update(state: FilterState, pod: Pod, other: Pod, info: NodeInfo, amount: int) -> None:
    """Another Pod comes to or leaves the Node: no look at whether it is terminating, as upstream."""
    if other.namespace != pod.namespace or not node_has_all_keys(state.constraints, info.node):
        return
    for counted in state.counted:
        constraint = counted.domains.constraint
        selector = constraint.selector
        if selector is None or not selector.matches(other.labels) or not node_included(pod, constraint, info.node):
            continue
        counted.counts[counted.domains.ids[info.row]] += amount
