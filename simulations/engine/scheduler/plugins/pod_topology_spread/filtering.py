"""PreFilter and Filter of PodTopologySpread: DoNotSchedule constraints.

Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, v1.36
"""

from dataclasses import dataclass

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import TopologySpreadConstraint
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Bools, Columns, Ids, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.plugin import FilterColumn
from simulations.engine.scheduler.framework.status import Status, unresolvable, unschedulable
from simulations.engine.scheduler.plugins.pod_topology_spread.common import (
    Constraints,
    counts,
    has_all_keys,
    included_mask,
    node_has_all_keys,
    node_included,
    sum_by_domain,
)

NAME = "PodTopologySpread"
REASON = "node(s) didn't match pod topology spread constraints"
SKEW = unschedulable(NAME, REASON)
MISSING_LABEL = unresolvable(NAME, f"{REASON} (missing required label)")


@dataclass(slots=True)
class ConstraintCounts:
    """Matching Pods per value id of the key, and which ids are domains; `own` is 1 if the Pod matches its own selector."""

    constraint: TopologySpreadConstraint
    ids: Ids
    counts: Ints
    domains: Bools
    own: int

    def minimum(self) -> int:
        """The global minimum; 0 with fewer domains than minDomains."""
        present = self.counts[self.domains]
        return 0 if len(present) < max(self.constraint.min_domains, 1) else int(present.min())


@dataclass(slots=True)
class FilterState:
    """The hard constraints of the Pod with their counts."""

    constraints: Constraints
    counted: list[ConstraintCounts]


def prepare(pod: Pod, constraints: Constraints, cache: SchedulerCache) -> FilterState:
    """Count per domain over all Nodes that have all keys and that the policies include."""
    columns = cache.columns
    keyed = has_all_keys(constraints, columns)
    counted = []
    for constraint in constraints:
        label = columns.label(constraint.topology_key)
        mask = keyed & included_mask(pod, constraint, columns)
        per_domain = sum_by_domain(label.ids, counts(cache, pod.namespace, constraint.selector), mask, len(label.values))
        domains = np.zeros(len(label.values), dtype=np.bool_)
        domains[label.ids[mask]] = True
        own = int(constraint.selector is not None and constraint.selector.matches(pod.labels))
        counted.append(ConstraintCounts(constraint, label.ids, per_domain, domains, own))
    return FilterState(constraints, counted)


def filter_row(state: FilterState, row: int) -> Status | None:
    """The rule for one Node."""
    for counted in state.counted:
        value = int(counted.ids[row])
        if value == 0:
            return MISSING_LABEL
        here = int(counted.counts[value]) if counted.domains[value] else 0
        if here + counted.own - counted.minimum() > counted.constraint.max_skew:
            return SKEW
    return None


def filter_all(state: FilterState, columns: Columns) -> FilterColumn:
    """The rule for all Nodes."""
    codes = np.zeros(len(columns.valid), dtype=np.int16)
    for counted in state.counted:
        here = np.where(counted.domains, counted.counts, 0)
        skewed = here + counted.own - counted.minimum() > counted.constraint.max_skew
        found = np.where(counted.ids == 0, 2, skewed[counted.ids]).astype(np.int16)
        codes = np.where(codes == 0, found, codes).astype(np.int16)
    return FilterColumn(codes, [SKEW, MISSING_LABEL])


def update(state: FilterState, pod: Pod, other: Pod, info: NodeInfo, amount: int) -> None:
    """Another Pod comes to or leaves the Node: no look at whether it is terminating, as upstream."""
    if other.namespace != pod.namespace or not node_has_all_keys(state.constraints, info.node):
        return
    for counted in state.counted:
        selector = counted.constraint.selector
        if selector is None or not selector.matches(other.labels) or not node_included(pod, counted.constraint, info.node):
            continue
        counted.counts[counted.ids[info.row]] += amount
