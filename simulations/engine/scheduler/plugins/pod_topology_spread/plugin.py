"""The PodTopologySpread plugin.

Source: pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, v1.36
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import HOSTNAME_LABEL, ZONE_LABEL, TopologySpreadConstraint
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.events import Action, EventRegistration, node_event, pod_event
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Handle, Plugin, PreFilterResult
from simulations.engine.scheduler.framework.status import SKIP, Status
from simulations.engine.scheduler.plugins.pod_topology_spread import filtering, scoring
from simulations.engine.scheduler.plugins.pod_topology_spread.common import (
    Constraints,
    Defaulting,
    node_has_all_keys,
    own_constraints,
)
from simulations.engine.scheduler.plugins.pod_topology_spread.domains import DomainMemory

SYSTEM_DEFAULTS: Final = (
    TopologySpreadConstraint(3, HOSTNAME_LABEL, "ScheduleAnyway", None),
    TopologySpreadConstraint(5, ZONE_LABEL, "ScheduleAnyway", None),
)


@dataclass(frozen=True, slots=True)
class PodTopologySpreadArgs:
    """`defaulting_type` System uses the built-in constraints, List those of `default_constraints`."""

    defaulting_type: str = "System"
    default_constraints: Constraints = ()


class PodTopologySpread(Plugin):
    """Filters by DoNotSchedule constraints, scores by ScheduleAnyway ones or the defaults."""

    NAME = "PodTopologySpread"

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        self.handle = handle
        self.system_defaulted = args.defaulting_type == "System"
        defaults = SYSTEM_DEFAULTS if self.system_defaulted else args.default_constraints
        self._hard_defaults = tuple(c for c in defaults if c.hard)
        self._soft_defaults = tuple(c for c in defaults if not c.hard)
        self._defaulting = Defaulting()
        self._memory = DomainMemory(handle.cache)

    def _constraints(self, pod: Pod, *, hard: bool) -> Constraints:
        if pod.spec.spread_constraints:
            return own_constraints(pod, hard=hard)
        defaults = self._hard_defaults if hard else self._soft_defaults
        return self._defaulting.constraints(defaults, pod, self.handle.cache.listers) if defaults else ()

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Pods that count came, went or changed; Nodes with the keys came, went or changed."""
        pods = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL
        nodes = Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT
        return (
            EventRegistration(pod_event(pods), self._after_pod_change),
            EventRegistration(pod_event(Action.UPDATE_POD_TOLERATION), self._after_toleration),
            EventRegistration(node_event(nodes), self._after_node_change),
        )

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult | None:
        """Count Pods per domain."""
        constraints = self._constraints(pod, hard=True)
        if not constraints:
            return PreFilterResult(SKIP)
        state.data[self.NAME] = filtering.prepare(pod, constraints, self._memory)
        return None

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Reject a Node without a key, or where the skew would be too large."""
        return filtering.filter_row(state.data[self.NAME], info.row)

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """The same for all Nodes."""
        return filtering.filter_all(state.data[self.NAME], columns)

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, info: NodeInfo) -> None:
        """Count it in."""
        filtering.update(state.data[self.NAME], pod, added, info, 1)

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, info: NodeInfo) -> None:
        """Count it out."""
        filtering.update(state.data[self.NAME], pod, removed, info, -1)

    def pre_score(self, state: CycleState, pod: Pod, rows: Ints) -> Status | None:
        """Count Pods per domain of the feasible Nodes."""
        constraints = self._constraints(pod, hard=False)
        if not constraints:
            return SKIP
        require_all = bool(pod.spec.spread_constraints) or not self.system_defaulted
        state.data[self.NAME + "/score"] = scoring.prepare(pod, constraints, self._memory, rows, require_all=require_all)
        return None

    def score(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """How crowded the Node's domains are."""
        return scoring.score_row(state.data[self.NAME + "/score"], info)

    def score_columns(self, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        """The same for these rows."""
        return scoring.score_rows(state.data[self.NAME + "/score"], rows)

    def normalize(self, state: CycleState, scores: Ints) -> Ints:
        """Less crowded is better."""
        return scoring.normalize(state.data[self.NAME + "/score"], scores)

    # ---- queueing hints

    def _after_pod_change(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        other = new or old
        if other is None or other.namespace != pod.namespace:
            return False
        constraints = self._constraints(pod, hard=True)
        if old is not None and new is not None:
            if not new.node_name and new.uid != pod.uid:
                return False
            return any(_matches(c, old) != _matches(c, new) for c in constraints)
        if not other.node_name and not other.nominated_node_name:
            return False
        return any(_matches(c, other) for c in constraints)

    def _after_toleration(self, pod: Pod, old: Pod, new: Pod) -> bool:
        return new.uid == pod.uid and any(c.node_taints_policy == "Honor" for c in self._constraints(pod, hard=True))

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node | None) -> bool:
        constraints = self._constraints(pod, hard=True)
        before = old is not None and node_has_all_keys(constraints, old)
        after = new is not None and node_has_all_keys(constraints, new)
        if old is None or new is None or before != after:
            return before or after
        if not after:
            return False
        keys = [c.topology_key for c in constraints]
        return old.taints != new.taints or any(old.labels.get(k) != new.labels.get(k) for k in keys)


def _matches(constraint: TopologySpreadConstraint, pod: Pod) -> bool:
    return constraint.selector is not None and constraint.selector.matches(pod.labels)
