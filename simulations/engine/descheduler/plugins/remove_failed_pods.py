"""RemoveFailedPods: pods that failed some time ago, for the reasons and exit codes that are named.

Source: pkg/framework/plugins/removefailedpods/{failedpods.go,defaults.go}, descheduler v0.36
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import FAILED, ContainerStatus, Pod
from simulations.engine.descheduler.framework.args import ArgReader
from simulations.engine.descheduler.framework.listing import EVERYTHING, PodFilter, Scope, both_filters
from simulations.engine.descheduler.framework.plugin import Handle, Outcome
from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.loop import Steps

DEFAULT_LEAST_SECONDS: Final = 3600


@dataclass(frozen=True, slots=True)
class RemoveFailedPodsArgs:
    """A pod has to be at least so many seconds old and match one of the reasons and one of the exit codes, where some are given."""

    scope: Scope = EVERYTHING
    least_seconds: int = DEFAULT_LEAST_SECONDS
    reasons: tuple[str, ...] = ()
    exit_codes: tuple[int, ...] = ()
    exclude_owner_kinds: tuple[str, ...] = ()
    init_containers: bool = False

    @classmethod
    def read(cls, args: ArgReader) -> "RemoveFailedPodsArgs":
        """Read the arguments; what is wrong is noted."""
        args.only(
            "namespaces", "labelSelector", "excludeOwnerKinds", "minPodLifetimeSeconds", "reasons", "exitCodes",
            "includingInitContainers",
        )  # fmt: skip
        least = args.unsigned("minPodLifetimeSeconds")
        return cls(
            Scope(args.chosen("namespaces"), args.selector("labelSelector")),
            DEFAULT_LEAST_SECONDS if least is None else least,
            args.texts("reasons"),
            args.numbers("exitCodes"),
            args.texts("excludeOwnerKinds"),
            args.flag("includingInitContainers"),
        )


class RemoveFailedPods:
    """Node by node, in the order of names."""

    NAME: ClassVar[str] = "RemoveFailedPods"

    def __init__(self, args: RemoveFailedPodsArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._filter = PodFilter(handle, args.scope, [*both_filters(handle), (self.NAME, self._keeps)])

    def deschedule(self, nodes: Sequence[Node]) -> Steps[None]:
        """Evict the failed pods of each node."""
        for node in nodes:
            for pod in self._failed_on(node):
                why = f"it failed{f' ({pod.details.reason})' if pod.details.reason else ''}"
                outcome = yield from self._handle.evictor.evict(pod, self.NAME, why)
                if outcome is Outcome.TOTAL_LIMIT:
                    return
                if outcome is Outcome.NODE_LIMIT:
                    break

    def _failed_on(self, node: Node) -> list[Pod]:
        """A pod's phase is looked at before anything else."""
        found = []
        for pod in self._handle.view.pods_on(node.name):
            if pod.phase != FAILED:
                self._handle.notes.leave(pod, self.NAME, "it has not failed")
            elif self._filter(pod):
                found.append(pod)
        return found

    def _keeps(self, pod: Pod) -> str:
        """Why a failed pod is kept."""
        args = self._args
        age = self._handle.now() - self._handle.stamp(pod.created)
        if 0 <= age // SECOND < args.least_seconds:
            return f"pod does not exceed the min age seconds of {args.least_seconds}"
        excluded = next((owner.kind for owner in pod.owners if owner.kind in args.exclude_owner_kinds), "")
        if excluded:
            return f"pod's owner kind of {excluded} is excluded"
        statuses = [*pod.details.containers, *(pod.details.init_containers if args.init_containers else ())]
        if args.reasons and not any(reason in args.reasons for reason in _reasons(pod, statuses)):
            return "pod does not match any of the reasons"
        if args.exit_codes and not any(status.exit_code in args.exit_codes for status in statuses if status.exit_code is not None):
            return "pod does not match any of the exitCodes"
        return ""


def _reasons(pod: Pod, statuses: Sequence[ContainerStatus]) -> list[str]:
    found = [pod.details.reason, *(reason for status in statuses for reason in (status.waiting, status.terminated))]
    return [reason for reason in found if reason]
