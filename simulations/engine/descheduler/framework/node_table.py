"""The nodes in columns: what is free on each, and which of them a pod's spec allows. It answers for all nodes at once."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod, PodSpec
from simulations.engine.descheduler.framework.predicates import BLOCKING, matches_node, tolerates_all

Mask = NDArray[np.bool_]
Column = NDArray[np.int64]
LARGEST: Final = 2**52
"""Amounts above this count as this: no node has room for them, and sums stay within 64 bits."""


class NodeTable:
    """One row per node, in the order given. `count` keeps it up to date with the pods that are on them."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.row: Final = {node.name: i for i, node in enumerate(nodes)}
        self.schedulable: Final[Mask] = np.array([not node.unschedulable for node in nodes], dtype=np.bool_)
        self._free: dict[str, Column] = {}
        self._slots: Column = np.array([_capped(node.allocatable.get("pods", 0)) for node in nodes], dtype=np.int64)
        self._matching: dict[int, Mask] = {}
        self._tolerated: dict[int, Mask] = {}
        self._used: dict[str, Column] = {}

    def count(self, pod: Pod, sign: int) -> None:
        """A pod came (1) or went (-1); one that ended occupies nothing."""
        row = self.row.get(pod.node_name)
        if row is None or pod.terminal:
            return
        self._slots[row] -= sign
        for resource, amount in pod.spec.requests.items():
            self._column(resource)[row] -= sign * _capped(amount)

    def _column(self, resource: str) -> Column:
        column = self._free.get(resource)
        if column is None:
            amounts = [_capped(node.allocatable.get(resource, 0)) for node in self.nodes]
            column = self._free[resource] = np.array(amounts, dtype=np.int64)
        return column

    def mask(self, nodes: Iterable[Node]) -> Mask:
        """Which rows are those of these nodes; one that is gone is none of them."""
        mask = np.zeros(len(self.nodes), dtype=np.bool_)
        for node in nodes:
            row = self.row.get(node.name)
            if row is not None:
                mask[row] = True
        return mask

    def matching(self, spec: PodSpec) -> Mask:
        """Where nodeSelector and required node affinity allow the pod."""
        mask = self._matching.get(spec.id)
        if mask is None:
            found = [matches_node(spec, node) for node in self.nodes]
            mask = self._matching[spec.id] = np.array(found, dtype=np.bool_)
        return mask

    def tolerated(self, spec: PodSpec) -> Mask:
        """Where all NoSchedule and NoExecute taints are tolerated."""
        mask = self._tolerated.get(spec.id)
        if mask is None:
            found = [tolerates_all(spec.tolerations, node.taints, BLOCKING) for node in self.nodes]
            mask = self._tolerated[spec.id] = np.array(found, dtype=np.bool_)
        return mask

    def short_of(self, spec: PodSpec) -> list[tuple[str, Mask]]:
        """Per resource, in the order in which upstream looks at them, where there is too little of it; a pod slot at the end."""
        found = [(name, self._column(name) < _capped(amount)) for name, amount in spec.requests.items()]
        return [*found, ("pods", self._slots <= 0)]


def _capped(amount: int) -> int:
    return min(amount, LARGEST)
