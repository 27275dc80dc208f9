"""Which kubelets are heard of: a Node's lease is renewed every 10 s until its kubelet falls silent.

Source: pkg/kubelet/kubelet.go (nodeLeaseDurationSeconds 40, renewed at a quarter of it), v1.36
"""

from collections.abc import Callable
from typing import Any, Final

from simulations.engine.kernel.clock import SECOND, SimTime

RENEWED: Final = 10 * SECOND
Told = Callable[[str, int], object]


class Heartbeats:
    """Silent Nodes, with when they were last heard of and what their kubelet reported then."""

    def __init__(self) -> None:
        self._silent: dict[str, tuple[SimTime, list[dict[str, Any]]]] = {}
        self._before: dict[str, list[dict[str, Any]]] = {}
        self._watchers: list[tuple[Told, Told]] = []

    def watch(self, on_silence: Told, on_return: Told) -> None:
        """Tell of Nodes that fall silent and that are heard of again, each with the record that caused it."""
        self._watchers.append((on_silence, on_return))

    def silent(self, name: str) -> bool:
        """Whether the Node's kubelet does nothing."""
        return name in self._silent

    def last(self, name: str) -> SimTime:
        """When the silent Node was last heard of."""
        return self._silent[name][0]

    def conditions(self, name: str) -> list[dict[str, Any]]:
        """The conditions that the kubelet reported before it fell silent, and reports again."""
        return self._before.get(name, [])

    def fail(self, name: str, now: SimTime, conditions: list[dict[str, Any]], cause: int) -> None:
        """The kubelet stops; its last renewal was at a multiple of 10 s."""
        if name not in self._silent:
            self._silent[name] = (now // RENEWED * RENEWED, conditions)
            self._before[name] = conditions
            for on_silence, _on_return in self._watchers:
                on_silence(name, cause)

    def recover(self, name: str, cause: int) -> None:
        """The kubelet is back."""
        if self._silent.pop(name, None) is not None:
            for _on_silence, on_return in self._watchers:
                on_return(name, cause)
