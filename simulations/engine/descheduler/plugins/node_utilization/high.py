"""HighNodeUtilization: pods leave nodes that are used little, so that fewer nodes are in use.

Source: pkg/framework/plugins/nodeutilization/highnodeutilization.go, descheduler v0.36
"""

from collections.abc import Sequence
from typing import ClassVar

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.descheduler.framework.plugin import Handle
from simulations.engine.descheduler.framework.predicates import requested_names
from simulations.engine.descheduler.plugins.node_utilization.args import HighNodeUtilizationArgs
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
    grouped,
    is_under,
    node_notes,
    resource_names,
    usage_of,
)
from simulations.engine.kernel.loop import Steps

FULL = 100.0
UNDER, TAKERS, NEITHER = "under", "schedulable", "unschedulable"


class HighNodeUtilization:
    """Nodes at or below the thresholds give pods, cordoned ones too; the other schedulable nodes take them, up to all they have."""

    NAME: ClassVar[str] = "HighNodeUtilization"

    def __init__(self, args: HighNodeUtilizationArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._resources = resource_names(args.thresholds)
        self._full = dict.fromkeys(args.thresholds, FULL)

    def balance(self, nodes: Sequence[Node]) -> Steps[None]:
        """Sort the nodes into under, schedulable and neither; then evict from those that are under, the emptiest first."""
        usages = usage_of(self._handle.view, nodes, self._resources)
        groups = grouped(usages, self._group_of, (UNDER, TAKERS, NEITHER))
        under, takers = groups[UNDER], groups[TAKERS]
        self._handle.notes.nodes = node_notes(groups, self._args.thresholds, self._full)
        nowhere = "No node is available to schedule the pods, nothing to do here"
        idle = has_nothing_to_do(len(under), len(takers), len(nodes), self._args.number_of_nodes, nowhere)
        if idle:
            self._handle.notes.nodes["idle"] = idle
            leave_pods(self._handle, usages, self.NAME, idle)
            return
        leave_pods(self._handle, [*takers, *groups[NEITHER]], self.NAME, "its node is not underutilized")
        rules = Rules(self.NAME, self._resources, self._removable, lambda _usage: True, self._args.excluded_namespaces)
        sources = SourceNodes(self._handle, rules, takers, pool_of(takers, self._capped, self._resources))
        yield from sources.evict_from(sorted(under, key=lambda usage: (usage.size, usage.node.name)))

    def _group_of(self, usage: NodeUsage) -> str:
        if is_under(usage, self._args.thresholds):
            return UNDER
        return NEITHER if usage.node.unschedulable else TAKERS

    def _capped(self, usage: NodeUsage) -> Amounts:
        return caps(usage.node, self._full, self._resources)

    def _removable(self, pod: Pod) -> str:
        why = self._handle.evictor.filter(pod)
        if why or not self._args.only_thresholding:
            return why
        asked = requested_names(pod.spec)
        return "" if any(name in asked for name in self._args.thresholds) else "it requests no resource that has a threshold"
