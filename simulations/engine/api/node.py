"""Nodes."""

import copy
from typing import Any, Final

from simulations.engine.api.labels import EMPTY_LABELS, Labels
from simulations.engine.api.pod import Condition
from simulations.engine.api.scheduling import Taint
from simulations.engine.kernel.clock import SimTime


class Node:
    """A Node. Treat it as immutable: `replace` makes the changed copy.

    `allocatable` is by resource in the scheduler's integers (milliCPU, bytes, counts); `images` maps each name of an image to its
    size in bytes.
    """

    __slots__ = (
        "allocatable", "annotations", "conditions", "created", "images", "labels", "name", "raw_status", "resource_version",
        "taints", "uid", "unschedulable",
    )  # fmt: skip
    kind: Final = "Node"
    namespace: Final = ""

    def __init__(self, name: str, allocatable: dict[str, int], *, uid: str = "", labels: Labels = EMPTY_LABELS) -> None:
        self.name = name
        self.uid = uid
        self.labels = labels
        self.annotations: dict[str, str] = {}
        self.allocatable = allocatable
        self.taints: tuple[Taint, ...] = ()
        self.unschedulable = False
        self.conditions: tuple[Condition, ...] = ()
        self.images: dict[str, int] = {}
        self.raw_status: dict[str, Any] = {}
        self.created: SimTime = 0
        self.resource_version = 0

    @property
    def key(self) -> tuple[str, str]:
        """Namespace (empty) and name."""
        return "", self.name

    @property
    def ready(self) -> bool:
        """Whether the Ready condition is True; a Node without that condition counts as ready."""
        return next((c.status == "True" for c in self.conditions if c.type == "Ready"), True)

    def replace(self, **changes: Any) -> "Node":
        """Return a copy with these attributes changed."""
        changed = copy.copy(self)
        for name, value in changes.items():
            setattr(changed, name, value)
        return changed

    def __repr__(self) -> str:
        return f"Node({self.name})"
