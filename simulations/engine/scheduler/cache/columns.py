"""Node state in columns: one NumPy array per fact, one row per Node, kept up to date by what changed.

Rows are given in order of creation and are never reused, so a row names a Node for the whole run. `valid` says which are there now.
"""

import copy
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simulations.engine.api.node import Node
from simulations.engine.api.scheduling import Taint
from simulations.engine.scheduler.cache.node_info import NO_PRIORITY, NodeInfo

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]
Bools = NDArray[np.bool_]
_PER_ROW: Final = (
    "valid", "unschedulable", "pods", "allowed_pods", "nonzero_cpu", "nonzero_memory", "lowest_priority", "taint_sets", "_changed",
)  # fmt: skip
ABSENT: Final = 0
"""The value id of a label that a Node does not have."""


class LabelColumn:
    """One label key: a value id per Node (0 = absent) and the text of each id. Ids are given in order of appearance."""

    def __init__(self, key: str, rows: int) -> None:
        self.key = key
        self.ids: Ids = np.zeros(rows, dtype=np.int32)
        self.values: list[str | None] = [None]
        self._index: dict[str, int] = {}

    def set(self, row: int, value: str | None) -> None:
        """Record a Node's value."""
        self.ids[row] = ABSENT if value is None else self.id_of(value)

    def known_id(self, value: str) -> int:
        """The id of a value; -1 if no Node ever had it."""
        return self._index.get(value, -1)

    def id_of(self, value: str) -> int:
        """The id of a value, new if it was never seen."""
        value_id = self._index.get(value)
        if value_id is None:
            value_id = self._index[value] = len(self.values)
            self.values.append(value)
        return value_id


class Columns:
    """Facts about all Nodes as arrays over rows. Arrays may be replaced when rows are added: fetch them anew in each cycle."""

    def __init__(self) -> None:
        self.rows = 0
        self.valid: Bools = np.zeros(0, dtype=np.bool_)
        self.unschedulable: Bools = np.zeros(0, dtype=np.bool_)
        self.pods: Ints = np.zeros(0, dtype=np.int64)
        self.allowed_pods: Ints = np.zeros(0, dtype=np.int64)
        self.nonzero_cpu: Ints = np.zeros(0, dtype=np.int64)
        self.nonzero_memory: Ints = np.zeros(0, dtype=np.int64)
        self.lowest_priority: Ints = np.zeros(0, dtype=np.int64)
        self.taint_sets: Ids = np.zeros(0, dtype=np.int32)
        self.taints: list[tuple[Taint, ...]] = [()]
        self.names: list[str] = []
        self.version = 0
        """Goes up whenever a Node is added, removed or changed (not when Pods come and go)."""
        self.clock = 0
        """Goes up whenever a row changes, its Pods included; `changed_since` and `replaced_since` tell which rows did."""
        self._changed: Ints = np.zeros(0, dtype=np.int64)
        self._replaced: Ints = np.zeros(0, dtype=np.int64)
        self._taint_ids: dict[tuple[Taint, ...], int] = {(): 0}
        self._allocatable: dict[str, Ints] = {}
        self._requested: dict[str, Ints] = {}
        self._labels: dict[str, LabelColumn] = {}
        self._images: dict[str, Bools] = {}
        self._image_states: dict[str, tuple[int, int]] = {}
        self._nodes: list[Node | None] = []

    # ---- reading

    def allocatable(self, resource: str) -> Ints:
        """Allocatable of a resource, 0 where a Node has none."""
        column = self._allocatable.get(resource)
        if column is None:
            column = self._allocatable[resource] = np.zeros(len(self.valid), dtype=np.int64)
            for row, node in enumerate(self._nodes):
                if node is not None:
                    column[row] = node.allocatable.get(resource, 0)
        return column

    def requested(self, resource: str) -> Ints:
        """The sum of the requests of the Pods on each Node."""
        column = self._requested.get(resource)
        if column is None:
            column = self._requested[resource] = np.zeros(len(self.valid), dtype=np.int64)
        return column

    def label(self, key: str) -> LabelColumn:
        """The column of a label key, made on first use."""
        column = self._labels.get(key)
        if column is None:
            column = self._labels[key] = LabelColumn(key, len(self.valid))
            for row, node in enumerate(self._nodes):
                if node is not None:
                    column.set(row, node.labels.get(key))
        return column

    def has_image(self, name: str) -> Bools:
        """The rows of Nodes that have an image."""
        column = self._images.get(name)
        if column is None:
            column = self._images[name] = np.zeros(len(self.valid), dtype=np.bool_)
            for row, node in enumerate(self._nodes):
                if node is not None:
                    column[row] = name in node.images
        return column

    def image_size(self, name: str) -> int:
        """The size of an image in bytes, as the Node said that had it first; 0 if none has it.

        Source: pkg/scheduler/backend/cache/cache.go, addNodeImageStates, v1.36
        """
        return self._image_states.get(name, (0, 0))[0]

    def nodes_with_image(self, name: str) -> int:
        """How many Nodes have an image."""
        return self._image_states.get(name, (0, 0))[1]

    def node(self, row: int) -> Node:
        """The Node of a row that is there."""
        node = self._nodes[row]
        assert node is not None, "a row without a Node was asked for"
        return node

    def changed_since(self, clock: int) -> Ints:
        """The rows whose Node, or what the Pods on it take, changed after this clock, ascending."""
        return (self._changed > clock).nonzero()[0]

    def replaced_since(self, clock: int) -> Ints:
        """The rows where any object of a Pod or the Node was another before this clock, ascending: also where only a status changed."""
        return np.flatnonzero(np.maximum(self._changed, self._replaced) > clock)

    # ---- writing

    def add_row(self, node: Node) -> int:
        """Give a new Node the next row."""
        row = self.rows
        self.rows += 1
        if row >= len(self.valid):
            self._grow(row + max(16, row // 8))
        self._nodes.append(None)
        self.names.append(node.name)
        self.valid[row] = True
        self.lowest_priority[row] = NO_PRIORITY
        self.set_node(row, node)
        return row

    def set_node(self, row: int, node: Node) -> None:
        """Write what the Node itself says: allocatable, labels, taints, images."""
        self._count_images(self._nodes[row], -1)
        self._count_images(node, 1)
        self._nodes[row] = node
        self.version += 1
        self._touch(row)
        self.unschedulable[row] = node.unschedulable
        self.allowed_pods[row] = node.allocatable.get("pods", 0)
        self.taint_sets[row] = self._taint_id(node.taints)
        for resource, column in self._allocatable.items():
            column[row] = node.allocatable.get(resource, 0)
        for key, labels in self._labels.items():
            labels.set(row, node.labels.get(key))
        for name, present in self._images.items():
            present[row] = name in node.images

    def remove_row(self, row: int) -> None:
        """Mark the row's Node as gone."""
        self.valid[row] = False
        self._count_images(self._nodes[row], -1)
        self._nodes[row] = None
        self.version += 1
        self._touch(row)

    def set_usage(self, info: NodeInfo) -> None:
        """Write what the Pods on a Node take together."""
        row = info.row
        self.pods[row] = len(info.pods)
        self.lowest_priority[row] = info.lowest_priority
        self.nonzero_cpu[row] = info.nonzero_cpu
        self.nonzero_memory[row] = info.nonzero_memory
        for resource, amount in info.requested.items():
            self.requested(resource)[row] = amount
        self._touch(row)

    def note_replaced(self, row: int) -> None:
        """A newer object of a Pod stands in for an older one, and takes the same."""
        self.clock += 1
        self._replaced[row] = self.clock

    def with_more(self, pods: Ints, nonzero_cpu: Ints, nonzero_memory: Ints, requested: Mapping[str, Ints]) -> "Columns":
        """A view in which so many more Pods are on each row, and ask for so much more; the rest is shared."""
        view = copy.copy(self)
        view.pods = self.pods + pods
        view.nonzero_cpu = self.nonzero_cpu + nonzero_cpu
        view.nonzero_memory = self.nonzero_memory + nonzero_memory
        more = {resource: self.requested(resource) + amounts for resource, amounts in requested.items()}
        view._requested = {**self._requested, **more}
        return view

    def _count_images(self, node: Node | None, change: int) -> None:
        for name, size in node.images.items() if node is not None else ():
            known, nodes = self._image_states.get(name, (size, 0))
            if nodes + change:
                self._image_states[name] = (known, nodes + change)
            else:
                del self._image_states[name]

    def _touch(self, row: int) -> None:
        self.clock += 1
        self._changed[row] = self.clock

    def _taint_id(self, taints: tuple[Taint, ...]) -> int:
        taint_id = self._taint_ids.get(taints)
        if taint_id is None:
            taint_id = self._taint_ids[taints] = len(self.taints)
            self.taints.append(taints)
        return taint_id

    def _grow(self, size: int) -> None:
        for name in (
            "valid",
            "unschedulable",
            "pods",
            "allowed_pods",
            "nonzero_cpu",
            "nonzero_memory",
            "lowest_priority",
            "taint_sets",
            "_changed",
            "_replaced",
        ):
            setattr(self, name, _resized(getattr(self, name), size))
        self._allocatable = {k: _resized(v, size) for k, v in self._allocatable.items()}
        self._requested = {k: _resized(v, size) for k, v in self._requested.items()}
        self._images = {k: _resized(v, size) for k, v in self._images.items()}
        for column in self._labels.values():
            column.ids = _resized(column.ids, size)


def _resized(array: NDArray[Any], size: int) -> NDArray[Any]:
    grown = np.zeros(size, dtype=array.dtype)
    grown[: len(array)] = array
    return grown
