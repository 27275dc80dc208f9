"""RemovePodsViolatingNodeAffinity: pods whose node no longer is what they require, or is not the best of what they prefer.

Source: pkg/framework/plugins/removepodsviolatingnodeaffinity/node_affinity.go, descheduler v0.36
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod, PodSpec
from simulations.engine.descheduler.framework.args import ArgReader
from simulations.engine.descheduler.framework.listing import EVERYTHING, PodFilter, Scope, both_filters
from simulations.engine.descheduler.framework.node_table import Mask, NodeTable
from simulations.engine.descheduler.framework.plugin import Handle, Outcome
from simulations.engine.descheduler.framework.predicates import matches_node
from simulations.engine.kernel.loop import Steps

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
Keeps = Callable[[Pod, Node], tuple[bool, str]]
"""Whether a pod stays on its node, and why, or why not."""


@dataclass(frozen=True, slots=True)
class RemovePodsViolatingNodeAffinityArgs:
    """The types of affinity, in the order in which they are looked at; an unknown type does nothing."""

    scope: Scope = EVERYTHING
    types: tuple[str, ...] = ()

    @classmethod
    def read(cls, args: ArgReader) -> "RemovePodsViolatingNodeAffinityArgs":
        """Read the arguments; what is wrong is noted."""
        args.only("namespaces", "labelSelector", "nodeAffinityType")
        types = args.texts("nodeAffinityType")
        if not types:
            args.wrong("nodeAffinityType", "nodeAffinityType needs to be set")
        return cls(Scope(args.chosen("namespaces"), args.selector("labelSelector")), types)


class RemovePodsViolatingNodeAffinity:
    """A pod goes only if it fits somewhere by NodeFit, its own node included."""

    NAME: ClassVar[str] = "RemovePodsViolatingNodeAffinity"

    def __init__(self, args: RemovePodsViolatingNodeAffinityArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._asked: tuple[NodeTable, Mask] | None = None
        self._best: dict[int, int] = {}

    def deschedule(self, nodes: Sequence[Node]) -> Steps[None]:
        """All nodes for one type of affinity, then all for the next; a limit on all evictions ends a type, and the next meets it again."""
        self._asked, self._best = None, {}
        for kind in self._args.types:
            if kind == REQUIRED:
                yield from self._evict(nodes, lambda pod, node: self._required(pod, node, nodes))
            elif kind == PREFERRED:
                yield from self._evict(nodes, lambda pod, node: self._preferred(pod, node, nodes))

    def _evict(self, nodes: Sequence[Node], keeps: Keeps) -> Steps[None]:
        for node in nodes:
            for pod, why in self._violating(node, keeps):
                outcome = yield from self._handle.evictor.evict(pod, self.NAME, why)
                if outcome is Outcome.TOTAL_LIMIT:
                    return
                if outcome is Outcome.NODE_LIMIT:
                    break

    def _violating(self, node: Node, keeps: Keeps) -> list[tuple[Pod, str]]:
        passes = PodFilter(self._handle, self._args.scope, both_filters(self._handle))
        found = []
        for pod in passes.unfinished_on(node.name):
            kept, why = keeps(pod, node)
            if kept:
                self._handle.notes.leave(pod, self.NAME, why)
            else:
                found.append((pod, why))
        return found

    def _required(self, pod: Pod, node: Node, nodes: Sequence[Node]) -> tuple[bool, str]:
        affinity = pod.spec.node_affinity
        if affinity is None or affinity.required is None:
            return True, "it has no required node affinity"
        if matches_node(pod.spec, node):
            return True, "its node is what it requires"
        if not self._fits_somewhere(pod, nodes):
            return True, "it fits no node"
        return False, f"{node.name} does not match its required node affinity any more"

    def _preferred(self, pod: Pod, node: Node, nodes: Sequence[Node]) -> tuple[bool, str]:
        affinity = pod.spec.node_affinity
        if affinity is None or not affinity.preferred:
            return True, "it has no preferred node affinity"
        own = _weight(pod.spec, node)
        if pod.spec.id not in self._best:
            self._best[pod.spec.id] = max([0, *(_weight(pod.spec, other) for other in nodes)])
        best = self._best[pod.spec.id]
        if best <= own:
            return True, "no node is preferred to its own"
        if not self._fits_somewhere(pod, nodes):
            return True, "it fits no node"
        return False, f"{node.name} has weight {own} by its preferred node affinity, the best node {best}"

    def _fits_somewhere(self, pod: Pod, nodes: Sequence[Node]) -> bool:
        table = self._handle.view.table
        if self._asked is None or self._asked[0] is not table:
            self._asked = (table, table.mask(nodes))
        return self._handle.fit.fits_any(pod, self._asked[1], other=False)


def _weight(spec: PodSpec, node: Node) -> int:
    """What the pod's preferred terms that match the node weigh together."""
    preferred = spec.node_affinity.preferred if spec.node_affinity is not None else ()
    return sum(item.weight for item in preferred if item.term.matches(node.name, node.labels))
