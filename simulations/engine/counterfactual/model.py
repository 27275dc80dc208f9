"""What the search for a smallest change asks and answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simulations.engine.api.node import Node

Spec = Mapping[str, Any]
"""A Pod's spec as a manifest, after admission."""


@dataclass(frozen=True, slots=True)
class Dial:
    """A change of a number: `loosest` is the furthest that makes sense, `present` is where it stands and does not fit."""

    present: int
    loosest: int


@dataclass(frozen=True, slots=True)
class Edit:
    """One change that may make room.

    Attributes:
        kind: `request`, `toleration`, `nodeSelector`, `nodeAffinity`, `podAffinity`, `podAntiAffinity`, `spread`, `hostPort`,
            `priority`, `uncordon`, `recover`, `label`, `addNode` or `free`.
        target: what is changed: a resource, a taint, a label key, a Node.
        dial: of a change that has a degree; else None.
        spec: the Pod's spec with the change in it (and the degree, 0 without a dial); None: the spec stays.
        node: the Node with the change in it, of the Node `target`; of one that comes, of the Node that it is shaped like.
        like: the Node that a new one is shaped like, or the labels that one gets, as `key=value, ...`.
    """

    kind: str
    target: str
    dial: Dial | None = None
    spec: Callable[[Spec, int], Spec | None] | None = None
    node: Callable[[Node], Node] | None = None
    like: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A change as it was found. `before` and `after` are values as Kubernetes writes them; `size` is in thousandths, for ranking."""

    kind: str
    target: str
    before: str
    after: str
    size: int
    value: int = 0
    """The degree, of a change that has one."""
    like: str = ""


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a Pod would go, and who would have to leave for it (`namespace/name`), most important first."""

    node: str
    victims: tuple[str, ...] = ()
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Fit:
    """Changes that together make the Pod fit, none of which can be left out; `spec` is the Pod's spec with them."""

    parts: tuple[Part, ...]
    landing: Landing
    spec: Spec | None = None

    @property
    def size(self) -> int:
        """What it is ranked by among those with as many parts."""
        return sum(part.size for part in self.parts)
