"""NodeFit: whether a pod could be on a node, by fewer rules than the scheduler's.

Source: pkg/descheduler/node/node.go, NodeFit, descheduler v0.36
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.descheduler.framework.cluster import ClusterView
from simulations.engine.descheduler.framework.node_table import Mask, NodeTable
from simulations.engine.descheduler.framework.predicates import term_namespaces, term_selects

UNSCHEDULABLE: Final = "node is not schedulable"
SELECTOR: Final = "pod node selector does not match the node label"
TAINTS: Final = "pod does not tolerate taints on the node"
ANTI_AFFINITY: Final = "pod matches inter-pod anti-affinity rule of other pod on node"


class NodeFit:
    """Asks all nodes at once. A pod's own anti-affinity is looked at against the pods of one node alone, and what it requests is not
    looked at on its own node.
    """

    def __init__(self, view: ClusterView) -> None:
        self._view = view

    def fits_any(self, pod: Pod, nodes: Mask, *, other: bool) -> bool:
        """Whether the pod fits a node of the mask; with `other` not its own."""
        table = self._view.table
        passing = self._asked(pod, nodes, other)
        for _reason, rejected in self._rejections(pod, table):
            passing &= ~rejected
            if not passing.any():
                return False
        if pod.spec.pod_anti_affinity is None or not pod.spec.pod_anti_affinity.required:
            return True
        return any(not self._is_kept_away(pod, table.nodes[row]) for row in np.flatnonzero(passing).tolist())

    def reasons(self, pod: Pod, nodes: Mask, *, other: bool) -> dict[str, int]:
        """Why it fits nowhere: how many nodes by the first rule that rejects each, in the order of the rules."""
        table = self._view.table
        left = self._asked(pod, nodes, other)
        found: dict[str, int] = {}
        first_rules = list(self._rejections(pod, table))
        for i, (reason, rejected) in enumerate(first_rules):
            if i == 3:
                away = table.mask(
                    table.nodes[row] for row in np.flatnonzero(left).tolist() if self._is_kept_away(pod, table.nodes[row])
                )
                _tally(found, ANTI_AFFINITY, left, away)
            _tally(found, reason, left, rejected)
        return found

    def _asked(self, pod: Pod, nodes: Mask, other: bool) -> Mask:
        asked = nodes.copy()
        own = self._view.table.row.get(pod.node_name)
        if other and own is not None:
            asked[own] = False
        return asked

    def _rejections(self, pod: Pod, table: NodeTable) -> Iterator[tuple[str, Mask]]:
        """The rules but anti-affinity, which is dear, with the nodes that each rejects; three, then a resource each."""
        yield UNSCHEDULABLE, ~table.schedulable
        yield SELECTOR, ~table.matching(pod.spec)
        yield TAINTS, ~table.tolerated(pod.spec)
        own = table.row.get(pod.node_name)
        for resource, short in table.short_of(pod.spec):
            if own is not None:
                short[own] = False
            yield f"insufficient {resource}", short

    def _is_kept_away(self, pod: Pod, node: Node) -> bool:
        """Whether a pod on the node is one that the pod must not be with; pods of the same name are taken for itself."""
        anti_affinity = pod.spec.pod_anti_affinity
        for term in anti_affinity.required if anti_affinity is not None else ():
            if term.topology_key not in node.labels:
                continue
            namespaces = term_namespaces(pod, term)
            others = self._view.unfinished_on(node.name)
            if any(other.name != pod.name and term_selects(term, namespaces, other) for other in others):
                return True
        return False


def _tally(found: dict[str, int], reason: str, left: Mask, rejected: Mask) -> None:
    number = int((left & rejected).sum())
    if number:
        found[reason] = found.get(reason, 0) + number
    left &= ~rejected
