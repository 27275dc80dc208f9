"""NodePorts: two Pods on a Node cannot have the same host port.

Source: pkg/scheduler/framework/plugins/nodeports/node_ports.go, v1.36
"""

from collections.abc import Callable, Sequence

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import HostPort
from simulations.engine.scheduler.cache.columns import Columns
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.events import Action, EventRegistration, node_event, pod_event
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Handle, Plugin, PreFilterResult, Scope
from simulations.engine.scheduler.framework.status import SKIP, Status, unschedulable


class NodePorts(Plugin):
    """Filters by host ports in use."""

    NAME = "NodePorts"
    FILTER_SCOPE = Scope.NODE_AND_PODS
    _STATUS = unschedulable(NAME, "node(s) didn't have free ports for the requested pod ports")

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A Pod with the port went, or a Node came."""
        return (
            EventRegistration(pod_event(Action.DELETE), self._after_pod_deleted),
            EventRegistration(node_event(Action.ADD)),
        )

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult | None:
        """Skip for a Pod without host ports."""
        return None if pod.spec.host_ports else PreFilterResult(SKIP)

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Reject a Node where a port is taken."""
        taken = any(wanted.conflicts(used) for wanted in pod.spec.host_ports for used in info.ports)
        return self._STATUS if taken else None

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """The same by counts of Pods per Node with a conflicting port."""
        mask = np.zeros(len(columns.valid), dtype=np.bool_)
        for wanted in pod.spec.host_ports:
            taken = self.handle.cache.count_column(("port", wanted), _asks_for(wanted))
            mask |= taken.column(len(mask)) > 0
        return FilterColumn.rejecting(mask, self._STATUS)

    def _after_pod_deleted(self, pod: Pod, old: Pod, new: None) -> bool:
        if not old.node_name and not old.nominated_node_name:
            return False
        return any(wanted.conflicts(freed) for wanted in pod.spec.host_ports for freed in old.spec.host_ports)


def _asks_for(wanted: HostPort) -> Callable[[Pod], bool]:
    return lambda pod: any(wanted.conflicts(port) for port in pod.spec.host_ports)
