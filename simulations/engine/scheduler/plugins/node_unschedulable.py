"""NodeUnschedulable: cordoned Nodes take no Pod that does not tolerate it.

Source: pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go, v1.36
"""

from collections.abc import Sequence
from typing import Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import NO_SCHEDULE, UNSCHEDULABLE_TAINT_KEY, Taint, tolerated
from simulations.engine.scheduler.cache.columns import Columns
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.events import Action, EventRegistration, node_event, pod_event
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Plugin, Scope
from simulations.engine.scheduler.framework.status import Status, unresolvable

_TAINT: Final = Taint(UNSCHEDULABLE_TAINT_KEY, "", NO_SCHEDULE)


class NodeUnschedulable(Plugin):
    """Filters Nodes with `spec.unschedulable`."""

    NAME = "NodeUnschedulable"
    FILTER_SCOPE = Scope.NODE
    _STATUS = unresolvable(NAME, "node(s) were unschedulable")

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A Node that takes Pods again, or a Pod that tolerates now."""
        return (
            EventRegistration(node_event(Action.ADD | Action.UPDATE_NODE_TAINT), self._after_node_change),
            EventRegistration(pod_event(Action.UPDATE_POD_TOLERATION), self._after_toleration),
        )

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Reject a cordoned Node."""
        if info.node.unschedulable and not tolerated(pod.spec.tolerations, _TAINT):
            return self._STATUS
        return None

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """Reject all cordoned Nodes."""
        if not columns.unschedulable.any() or tolerated(pod.spec.tolerations, _TAINT):
            return None
        return FilterColumn.rejecting(columns.unschedulable, self._STATUS)

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node) -> bool:
        return not new.unschedulable and (old is None or old.unschedulable)

    def _after_toleration(self, pod: Pod, old: Pod, new: Pod) -> bool:
        return new.uid == pod.uid and tolerated(new.spec.tolerations, _TAINT)
