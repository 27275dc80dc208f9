"""RemovePodsViolatingNodeTaints: pods on nodes with NoSchedule taints that they do not tolerate.

Source: pkg/framework/plugins/removepodsviolatingnodetaints/node_taint.go, descheduler v0.36
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from simulations.engine.api.node import Node
from simulations.engine.api.scheduling import NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint
from simulations.engine.descheduler.framework.args import ArgReader
from simulations.engine.descheduler.framework.listing import EVERYTHING, PodFilter, Scope, both_filters
from simulations.engine.descheduler.framework.plugin import Handle, Outcome
from simulations.engine.descheduler.framework.predicates import tolerates
from simulations.engine.kernel.loop import Steps


@dataclass(frozen=True, slots=True)
class RemovePodsViolatingNodeTaintsArgs:
    """Taints by key or key=value: those to leave out, or the only ones to look at (None: all)."""

    scope: Scope = EVERYTHING
    prefer_no_schedule: bool = False
    excluded: tuple[str, ...] = ()
    included: tuple[str, ...] | None = None

    @classmethod
    def read(cls, args: ArgReader) -> "RemovePodsViolatingNodeTaintsArgs":
        """Read the arguments; what is wrong is noted."""
        args.only("namespaces", "labelSelector", "includePreferNoSchedule", "excludedTaints", "includedTaints")
        excluded, included = args.texts("excludedTaints"), args.texts("includedTaints")
        if excluded and included:
            args.wrong("includedTaints", "either includedTaints or excludedTaints can be set, but not both")
        scope = Scope(args.chosen("namespaces"), args.selector("labelSelector"))
        return cls(scope, args.flag("includePreferNoSchedule"), excluded, included if args.has("includedTaints") else None)


class RemovePodsViolatingNodeTaints:
    """NoExecute taints are never looked at; the taint of a cordoned node is one like any other."""

    NAME: ClassVar[str] = "RemovePodsViolatingNodeTaints"

    def __init__(self, args: RemovePodsViolatingNodeTaintsArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._filter = PodFilter(handle, args.scope, both_filters(handle))

    def deschedule(self, nodes: Sequence[Node]) -> Steps[None]:
        """Evict, node by node, the pods that do not tolerate one of the taints that are looked at."""
        for node in nodes:
            taints = [taint for taint in node.taints if self._looks_at(taint)]
            for pod in self._filter.unfinished_on(node.name):
                untolerated = next((taint for taint in taints if not tolerates(pod.spec.tolerations, taint)), None)
                if untolerated is None:
                    self._handle.notes.leave(pod, self.NAME, "it tolerates the taints of its node that are looked at")
                    continue
                outcome = yield from self._handle.evictor.evict(pod, self.NAME, f"it does not tolerate {_written(untolerated)}")
                if outcome is Outcome.TOTAL_LIMIT:
                    return
                if outcome is Outcome.NODE_LIMIT:
                    break

    def _looks_at(self, taint: Taint) -> bool:
        args = self._args
        if taint.effect != NO_SCHEDULE and not (args.prefer_no_schedule and taint.effect == PREFER_NO_SCHEDULE):
            return False
        return not _named(taint, args.excluded) and (args.included is None or _named(taint, args.included))


def _named(taint: Taint, names: Sequence[str]) -> bool:
    return taint.key in names or (taint.value != "" and f"{taint.key}={taint.value}" in names)


def _written(taint: Taint) -> str:
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"
