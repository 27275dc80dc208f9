"""PodLifeTime: pods that are older than they may be, or in a state in which they may not be.

Source: pkg/framework/plugins/podlifetime/{pod_lifetime.go,types.go,validation.go}, descheduler v0.36
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Condition, ContainerStatus, Pod
from simulations.engine.descheduler.framework.args import ALL, ArgReader, Chosen
from simulations.engine.descheduler.framework.listing import EVERYTHING, PodFilter, Scope, both_filters
from simulations.engine.descheduler.framework.plugin import Check, Handle, Outcome
from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.loop import Steps

ALLOWED_STATES: Final = tuple(sorted((
    "Running", "Pending", "Succeeded", "Failed", "Unknown",
    "NodeAffinity", "NodeLost", "Shutdown", "UnexpectedAdmissionError",
    "PodInitializing", "ContainerCreating", "ImagePullBackOff", "CrashLoopBackOff", "CreateContainerConfigError", "ErrImagePull",
    "CreateContainerError", "InvalidImageName",
    "OOMKilled", "Error", "Completed", "DeadlineExceeded", "Evicted", "ContainerCannotRun", "StartError",
)))  # fmt: skip
"""Phases, status reasons, waiting and terminated reasons of containers."""
_NO_CRITERION: Final = (
    "at least one filtering criterion must be specified (maxPodLifeTimeSeconds, states, conditions, or exitCodes)"
)
_EMPTY_CONDITION: Final = "at least one of type, status, reason, or minTimeSinceLastTransitionSeconds must be set"


@dataclass(frozen=True, slots=True)
class ConditionFilter:
    """What a condition has to be: fields that are given are equal, and its status is at least so many seconds old."""

    type: str = ""
    status: str = ""
    reason: str = ""
    least_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class PodLifeTimeArgs:
    """Kinds of criteria are combined by and, entries of one kind by or."""

    scope: Scope = EVERYTHING
    owner_kinds: Chosen = ALL
    max_seconds: int | None = None
    states: tuple[str, ...] = ()
    conditions: tuple[ConditionFilter, ...] = ()
    exit_codes: tuple[int, ...] = ()
    init_containers: bool = False
    ephemeral_containers: bool = False

    @classmethod
    def read(cls, args: ArgReader) -> "PodLifeTimeArgs":
        """Read the arguments; what is wrong is noted."""
        args.only(
            "namespaces", "labelSelector", "ownerKinds", "maxPodLifeTimeSeconds", "states", "conditions", "exitCodes",
            "includingInitContainers", "includingEphemeralContainers",
        )  # fmt: skip
        states = args.texts("states")
        if any(state not in ALLOWED_STATES for state in states):
            args.wrong("states", f"states must be one of [{' '.join(ALLOWED_STATES)}]")
        found = cls(
            Scope(args.chosen("namespaces"), args.selector("labelSelector")),
            args.chosen("ownerKinds", "only one of Include/Exclude ownerKinds can be set"),
            args.unsigned("maxPodLifeTimeSeconds"),
            states,
            tuple(_condition(args, i, item) for i, item in enumerate(args.items("conditions"))),
            args.numbers("exitCodes"),
            args.flag("includingInitContainers"),
            args.flag("includingEphemeralContainers"),
        )
        if not (args.has("maxPodLifeTimeSeconds") or found.states or found.conditions or found.exit_codes):
            args.wrong("", _NO_CRITERION)
        return found


def _condition(args: ArgReader, number: int, item: object) -> ConditionFilter:
    entry = ArgReader(item, args.at(f"conditions[{number}]"), args.findings, args.said, args.unknown)
    entry.only("type", "status", "reason", "minTimeSinceLastTransitionSeconds")
    found = ConditionFilter(
        entry.text("type"), entry.text("status"), entry.text("reason"), entry.unsigned("minTimeSinceLastTransitionSeconds")
    )
    if found == ConditionFilter():
        entry.wrong("", f"conditions[{number}]: {_EMPTY_CONDITION}")
    return found


class PodLifeTime:
    """Looks at pods of every phase; evicts the oldest of the cluster first."""

    NAME: ClassVar[str] = "PodLifeTime"

    def __init__(self, args: PodLifeTimeArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        own = [(self.NAME, check) for check in self._checks()]
        self._filter = PodFilter(handle, args.scope, [*both_filters(handle), *own])

    def deschedule(self, nodes: Sequence[Node]) -> Steps[None]:
        """Evict all that the criteria name, by age."""
        found = [pod for node in nodes for pod in self._filter.all_on(node.name)]
        for pod in sorted(found, key=lambda pod: (self._handle.stamp(pod.created), pod.key)):
            outcome = yield from self._handle.evictor.evict(pod, self.NAME, self._why(pod))
            if outcome is Outcome.TOTAL_LIMIT:
                break

    def _why(self, pod: Pod) -> str:
        if self._args.max_seconds is None:
            return "its state is one of those that the policy names"
        return f"it is {self._age(pod) // SECOND} s old, maxPodLifeTimeSeconds is {self._args.max_seconds}"

    def _age(self, pod: Pod) -> int:
        return self._handle.now() - self._handle.stamp(pod.created)

    def _checks(self) -> Iterator[Check]:
        args = self._args
        if args.max_seconds is not None:
            yield self._too_young
        if args.states:
            yield self._in_no_state
        if args.owner_kinds != ALL:
            yield self._of_other_kind
        if args.conditions:
            yield self._without_condition
        if args.exit_codes:
            yield self._without_exit_code

    def _too_young(self, pod: Pod) -> str:
        age = self._age(pod)
        limit = self._args.max_seconds or 0
        return f"it is not older than maxPodLifeTimeSeconds {limit}" if age < 0 or age // SECOND <= limit else ""

    def _in_no_state(self, pod: Pod) -> str:
        states = self._args.states
        if pod.phase in states or (pod.details.reason and pod.details.reason in states):
            return ""
        said = (reason for status in self._statuses(pod) for reason in (status.waiting, status.terminated) if reason)
        return "" if any(reason in states for reason in said) else "it is in none of the states"

    def _statuses(self, pod: Pod) -> Iterator[ContainerStatus]:
        yield from pod.details.containers
        if self._args.init_containers:
            yield from pod.details.init_containers
        if self._args.ephemeral_containers:
            yield from pod.details.ephemeral_containers

    def _of_other_kind(self, pod: Pod) -> str:
        kinds = self._args.owner_kinds
        if kinds.include:
            return "" if any(owner.kind in kinds.include for owner in pod.owners) else "its owner is of none of the kinds"
        return "its owner's kind is excluded" if any(owner.kind in kinds.exclude for owner in pod.owners) else ""

    def _without_condition(self, pod: Pod) -> str:
        held = any(self._holds(condition, wanted) for wanted in self._args.conditions for condition in pod.conditions)
        return "" if held else "it has none of the conditions"

    def _holds(self, condition: Condition, wanted: ConditionFilter) -> bool:
        for own, asked in ((condition.type, wanted.type), (condition.status, wanted.status), (condition.reason, wanted.reason)):
            if asked and own != asked:
                return False
        if wanted.least_seconds is None:
            return True
        if condition.since is None:
            return False
        idle = self._handle.now() - self._handle.stamp(condition.since)
        return idle >= 0 and idle // SECOND >= wanted.least_seconds

    def _without_exit_code(self, pod: Pod) -> str:
        statuses = [*pod.details.containers, *(pod.details.init_containers if self._args.init_containers else ())]
        ended = any(status.exit_code in self._args.exit_codes for status in statuses if status.exit_code is not None)
        return "" if ended else "no container ended with one of the exit codes"
