"""RemovePodsHavingTooManyRestarts: pods whose containers started again too often.

Source: pkg/framework/plugins/removepodshavingtoomanyrestarts/toomanyrestarts.go, descheduler v0.36
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.descheduler.framework.args import ArgReader
from simulations.engine.descheduler.framework.listing import EVERYTHING, PodFilter, Scope, both_filters
from simulations.engine.descheduler.framework.plugin import Handle, Outcome
from simulations.engine.kernel.loop import Steps

ALLOWED_STATES: Final = ("CrashLoopBackOff", "Running")


@dataclass(frozen=True, slots=True)
class RemovePodsHavingTooManyRestartsArgs:
    """`threshold` restarts of all containers together are too many; with `states` just pods in one of them go."""

    scope: Scope = EVERYTHING
    threshold: int = 0
    init_containers: bool = False
    states: tuple[str, ...] = ()

    @classmethod
    def read(cls, args: ArgReader) -> "RemovePodsHavingTooManyRestartsArgs":
        """Read the arguments; what is wrong is noted."""
        args.only("namespaces", "labelSelector", "podRestartThreshold", "includingInitContainers", "states")
        threshold = args.integer("podRestartThreshold", -(2**31), 2**31 - 1) or 0
        if threshold < 1:
            args.wrong("podRestartThreshold", "invalid PodsHavingTooManyRestarts threshold")
        states = args.texts("states")
        if any(state not in ALLOWED_STATES for state in states):
            args.wrong("states", f"states must be one of [{' '.join(ALLOWED_STATES)}]")
        scope = Scope(args.chosen("namespaces"), args.selector("labelSelector"))
        return cls(scope, threshold, args.flag("includingInitContainers"), states)


class RemovePodsHavingTooManyRestarts:
    """Node by node, most restarts first; pods of every phase."""

    NAME: ClassVar[str] = "RemovePodsHavingTooManyRestarts"

    def __init__(self, args: RemovePodsHavingTooManyRestartsArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        own = [(self.NAME, self._too_few), *([(self.NAME, self._in_no_state)] if args.states else [])]
        self._filter = PodFilter(handle, args.scope, [*both_filters(handle), *own])

    def deschedule(self, nodes: Sequence[Node]) -> Steps[None]:
        """Evict the pods of each node that started again too often."""
        for node in nodes:
            for pod in sorted(self._filter.all_on(node.name), key=lambda pod: (-self._restarts(pod), pod.key)):
                why = f"{self._restarts(pod)} restarts, podRestartThreshold is {self._args.threshold}"
                outcome = yield from self._handle.evictor.evict(pod, self.NAME, why)
                if outcome is Outcome.TOTAL_LIMIT:
                    return
                if outcome is Outcome.NODE_LIMIT:
                    break

    def _restarts(self, pod: Pod) -> int:
        statuses = [*pod.details.containers, *(pod.details.init_containers if self._args.init_containers else ())]
        return sum(status.restarts for status in statuses)

    def _too_few(self, pod: Pod) -> str:
        restarts = self._restarts(pod)
        return f"number of container restarts ({restarts}) not exceeding the threshold" if restarts < self._args.threshold else ""

    def _in_no_state(self, pod: Pod) -> str:
        if pod.phase in self._args.states:
            return ""
        statuses = [*pod.details.containers, *(pod.details.init_containers if self._args.init_containers else ())]
        waits = any(status.waiting in self._args.states for status in statuses if status.waiting)
        return "" if waits else "it is in none of the states"
