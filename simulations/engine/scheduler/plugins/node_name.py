"""NodeName: a Pod that names its Node fits on that one only.

Source: pkg/scheduler/framework/plugins/nodename/node_name.go, v1.36
"""

from collections.abc import Sequence

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.columns import Columns
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.events import Action, EventRegistration, node_event
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Plugin, Scope
from simulations.engine.scheduler.framework.status import Status, unresolvable


class NodeName(Plugin):
    """Filters by `spec.nodeName`."""

    NAME = "NodeName"
    FILTER_SCOPE = Scope.NODE
    _STATUS = unresolvable(NAME, "node(s) didn't match the requested node name")

    def events_to_register(self) -> Sequence[EventRegistration]:
        """The Node may come."""
        return (EventRegistration(node_event(Action.ADD)),)

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Reject every Node but the one named."""
        return self._STATUS if pod.node_name and pod.node_name != info.name else None

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """Reject all Nodes but the one named."""
        if not pod.node_name:
            return None
        mask = np.ones(len(columns.valid), dtype=np.bool_)
        mask[: columns.rows] = [name != pod.node_name for name in columns.names]
        return FilterColumn.rejecting(mask, self._STATUS)
