"""Lists the pods of a node as strategies do: by namespace, by label, then by filters; who is left out is noted with the filter.

Source: pkg/descheduler/pod/pods.go, Options.BuildFilterFunc, descheduler v0.36
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from simulations.engine.api.pod import Pod
from simulations.engine.api.selectors import LabelSelector
from simulations.engine.descheduler.framework.args import ALL, Chosen
from simulations.engine.descheduler.framework.plugin import Check, Handle

FILTER: Final = "Filter"
PRE_EVICTION_FILTER: Final = "PreEvictionFilter"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which pods a strategy looks at: those of these namespaces that have these labels."""

    namespaces: Chosen = ALL
    selector: LabelSelector | None = None


EVERYTHING: Final = Scope()


class PodFilter:
    """Passes the pods that the scope takes and every check lets pass, in this order."""

    def __init__(self, handle: Handle, scope: Scope, checks: Sequence[tuple[str, Check]]) -> None:
        self._handle = handle
        self._scope = scope
        self._checks = checks

    def __call__(self, pod: Pod) -> bool:
        """Whether the pod passes; the first that says no is noted."""
        by, why = self._rejection(pod)
        if why:
            self._handle.notes.leave(pod, by, why)
        return not why

    def _rejection(self, pod: Pod) -> tuple[str, str]:
        if not self._scope.namespaces.takes(pod.namespace):
            return "namespaces", "its namespace is not one that the strategy looks at"
        if self._scope.selector is not None and not self._scope.selector.matches(pod.labels):
            return "labelSelector", "its labels do not match the strategy's labelSelector"
        for by, check in self._checks:
            why = check(pod)
            if why:
                return by, why
        return "", ""

    def unfinished_on(self, node: str) -> list[Pod]:
        """The passing pods of a node that occupy it."""
        return [pod for pod in self._handle.view.unfinished_on(node) if self(pod)]

    def all_on(self, node: str) -> list[Pod]:
        """The passing pods of a node, whatever their phase."""
        return [pod for pod in self._handle.view.pods_on(node) if self(pod)]


def both_filters(handle: Handle) -> list[tuple[str, Check]]:
    """Filter and PreEvictionFilter of the profile, as most strategies ask them while they list."""
    return [(FILTER, handle.evictor.filter), (PRE_EVICTION_FILTER, handle.evictor.pre_eviction_filter)]
