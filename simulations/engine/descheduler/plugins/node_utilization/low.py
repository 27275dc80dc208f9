"""LowNodeUtilization: pods leave nodes that are used too much while there are nodes that are used too little.

Source: pkg/framework/plugins/nodeutilization/lownodeutilization.go, descheduler v0.36
"""

from collections.abc import Sequence
from typing import ClassVar

from simulations.engine.api.node import Node
from simulations.engine.descheduler.framework.plugin import Handle
from simulations.engine.descheduler.plugins.node_utilization.args import LowNodeUtilizationArgs
from simulations.engine.descheduler.plugins.node_utilization.evicting import (
    Rules,
    SourceNodes,
    has_nothing_to_do,
    leave_pods,
    pool_of,
)
from simulations.engine.descheduler.plugins.node_utilization.usage import (
    Amounts,
    NodeUsage,
    caps,
    deviating,
    grouped,
    is_over,
    is_under,
    node_notes,
    resource_names,
    usage_of,
)
from simulations.engine.kernel.loop import Steps

UNDER, OVER, NEITHER = "under", "over", "appropriate"


class LowNodeUtilization:
    """Cordoned nodes give pods but take none. Usage is what pods request."""

    NAME: ClassVar[str] = "LowNodeUtilization"

    def __init__(self, args: LowNodeUtilizationArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._resources = resource_names(args.thresholds)

    def balance(self, nodes: Sequence[Node]) -> Steps[None]:
        """Sort the nodes into under, over and neither; then evict from those that are over, the fullest first."""
        usages = usage_of(self._handle.view, nodes, self._resources)
        low, high = self._args.thresholds, self._args.target_thresholds
        if self._args.use_deviation:
            low, high = deviating(usages, low, high)

        def group_of(usage: NodeUsage) -> str:
            if not usage.node.unschedulable and is_under(usage, low):
                return UNDER
            return OVER if is_over(usage, high) else NEITHER

        groups = grouped(usages, group_of, (UNDER, OVER, NEITHER))
        under, over = groups[UNDER], groups[OVER]
        self._handle.notes.nodes = node_notes(groups, low, high)
        none_over = "All nodes are under target utilization, nothing to do here"
        idle = has_nothing_to_do(len(under), len(over), len(nodes), self._args.number_of_nodes, none_over)
        if idle:
            self._handle.notes.nodes["idle"] = idle
            leave_pods(self._handle, usages, self.NAME, idle)
            return
        leave_pods(self._handle, under, self.NAME, "its node is underutilized")
        leave_pods(self._handle, groups[NEITHER], self.NAME, "its node is appropriately utilized")

        def capped(usage: NodeUsage) -> Amounts:
            return caps(usage.node, high, self._resources)

        limits = {usage.node.name: capped(usage) for usage in over}

        def above(usage: NodeUsage) -> bool:
            return any(usage.used[name] > limits[usage.node.name][name] for name in self._resources)

        rules = Rules(
            self.NAME, self._resources, self._handle.evictor.filter, above, self._args.excluded_namespaces, self._args.per_node
        )
        sources = SourceNodes(self._handle, rules, under, pool_of(under, capped, self._resources))
        yield from sources.evict_from(sorted(over, key=lambda usage: (-usage.size, usage.node.name)))
