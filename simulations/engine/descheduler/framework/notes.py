"""What a strategy notes while it runs: pods that it left alone and why, and how it sorted the nodes."""

from typing import Any

from simulations.engine.api.pod import Pod

Left = list[list[Any]]


class Notes:
    """The notes of one run of one plugin. Of a pod the first thing that said no counts; a pod that was chosen is not left alone."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[Pod, str, str]] = {}
        self.nodes: dict[str, Any] = {}
        """How the nodes were sorted, in the form of the record."""

    def leave(self, pod: Pod, by: str, why: str) -> None:
        """A pod was left alone by a filter, or by the strategy's own rule."""
        self._left.setdefault(pod.uid, (pod, by, why))

    def chosen(self, pod: Pod) -> None:
        """A pod was chosen: an eviction was asked for."""
        self._left.pop(pod.uid, None)

    def left(self) -> Left:
        """[filter, why, [namespace/name, ...]], groups and names in order."""
        groups: dict[tuple[str, str], list[str]] = {}
        for pod, by, why in self._left.values():
            groups.setdefault((by, why), []).append(f"{pod.namespace}/{pod.name}")
        return [[by, why, sorted(names)] for (by, why), names in sorted(groups.items())]
