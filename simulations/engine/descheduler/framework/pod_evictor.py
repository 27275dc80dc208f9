"""Evicts one pod after the other for all profiles: limits, the call, counters, records and events.

Source: pkg/descheduler/evictions/{evictions.go,errors.go}, descheduler v0.36
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from simulations.engine.api.pod import Pod
from simulations.engine.cluster.answers import Answer
from simulations.engine.cluster.event_recorder import EventRecorder
from simulations.engine.descheduler.framework.plugin import Outcome
from simulations.engine.evictions import Eviction, Evictor
from simulations.engine.kernel.loop import Future, Steps

REPORTER: Final = "sigs.k8s.io/descheduler"
ACTION: Final = "Descheduled"
LIMIT_TEXTS: Final = {
    Outcome.TOTAL_LIMIT: "maximum number of evicted pods per a descheduling cycle reached",
    Outcome.NODE_LIMIT: "maximum number of evicted pods per node reached",
    Outcome.NAMESPACE_LIMIT: "maximum number of evicted pods per namespace reached",
}
_LIMIT_WORDS: Final = {Outcome.TOTAL_LIMIT: "total", Outcome.NODE_LIMIT: "node", Outcome.NAMESPACE_LIMIT: "namespace"}
TOO_MANY_REQUESTS: Final = 429


@dataclass(frozen=True, slots=True)
class Limits:
    """How many pods a cycle may evict per node, per namespace and in all; None: any number."""

    per_node: int | None = None
    per_namespace: int | None = None
    total: int | None = None


NO_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks for an eviction, and why."""

    profile: str
    strategy: str
    why: str = ""
    reason: str = ""
    """The reason that goes into the call and the event; strategies give none."""


@dataclass(frozen=True, slots=True)
class EvictorSettings:
    """Limits, the grace that goes with each call (None: the pod's own), whether refused evictions become events, whether nothing is
    really evicted.
    """

    limits: Limits = NO_LIMITS
    grace_seconds: int | None = None
    failure_events: bool = False
    dry_run: bool = False


@dataclass(slots=True)
class Counts:
    """Successful evictions since the cycle began."""

    total: int = 0
    nodes: Counter[str] = field(default_factory=Counter)
    namespaces: Counter[str] = field(default_factory=Counter)


class PodEvictor:
    """Evicts serially. A refused eviction moves no counter, so only successes use up a limit.

    `hide` makes a pod disappear from the descheduler's sight in a dry run; `note` writes the record of a decision.
    """

    def __init__(
        self, settings: EvictorSettings, calls: Evictor, events: EventRecorder, hide: Callable[[Pod], object],
        note: Callable[[Pod, Asked, "Decision"], int],
    ) -> None:  # fmt: skip
        self.settings = settings
        self.counts = Counts()
        self.cause = 0
        """The record of the cycle that is running."""
        self._calls = calls
        self._events = events
        self._hide = hide
        self._note = note

    def reset(self) -> None:
        """A cycle begins."""
        self.counts = Counts()

    def evict(self, pod: Pod, asked: Asked) -> Steps[Outcome]:
        """Evict a pod if no limit forbids it: in all, then on its node, then in its namespace."""
        limit = self._limit(pod)
        if limit is not None:
            outcome, number = limit
            seq = self._note(pod, asked, Decision(outcome, message=LIMIT_TEXTS[outcome], cause=self.cause))
            self._tell_failure(pod, f"{_LIMIT_WORDS[outcome]} eviction limit exceeded ({number})", seq)
            return outcome
        if self.settings.dry_run:
            self._hide(pod)
            self._count(pod)
            self._note(pod, asked, Decision(Outcome.EVICTED, cause=self.cause))
            return Outcome.EVICTED
        answer = yield self._call(pod, asked)
        if not answer.ok:
            message = _error(pod, answer)
            seq = self._note(pod, asked, Decision(Outcome.FAILED, answer.code, message, answer.seq))
            self._tell_failure(pod, message, seq)
            return Outcome.FAILED
        self._count(pod)
        seq = self._note(pod, asked, Decision(Outcome.EVICTED, answer.code, cause=answer.seq))
        self._event(pod, "Normal", asked.reason or asked.strategy or "NotSet", "", seq)
        return Outcome.EVICTED

    def _limit(self, pod: Pod) -> tuple[Outcome, int] | None:
        limits, counts = self.settings.limits, self.counts
        for outcome, limit, count in (
            (Outcome.TOTAL_LIMIT, limits.total, counts.total),
            (Outcome.NODE_LIMIT, limits.per_node if pod.node_name else None, counts.nodes[pod.node_name]),
            (Outcome.NAMESPACE_LIMIT, limits.per_namespace, counts.namespaces[pod.namespace]),
        ):
            if limit is not None and count + 1 > limit:
                return outcome, limit
        return None

    def _call(self, pod: Pod, asked: Asked) -> Future[Answer]:
        annotations = {
            "reason": f"triggered by {asked.profile}/{asked.strategy}: {asked.reason}",
            "requested-by": REPORTER,
        }
        return self._calls.evict(pod, Eviction(self.settings.grace_seconds, annotations), cause=self.cause)

    def _count(self, pod: Pod) -> None:
        if pod.node_name:
            self.counts.nodes[pod.node_name] += 1
        self.counts.namespaces[pod.namespace] += 1
        self.counts.total += 1

    def _tell_failure(self, pod: Pod, text: str, cause: int) -> None:
        if self.settings.failure_events and not self.settings.dry_run:
            self._event(pod, "Warning", "EvictionFailed", f" failed: {text}", cause)

    def _event(self, pod: Pod, kind: str, reason: str, tail: str, cause: int) -> None:
        note = f"pod eviction from {pod.node_name} node by {REPORTER}{tail}"
        self._events.event(kind, reason, ACTION, note, pod, cause=cause)


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of an eviction: the answer's code (0: no call was made) and, where it was refused, why."""

    outcome: Outcome
    code: int = 0
    message: str = ""
    cause: int = 0

    def data(self, pod: Pod, asked: Asked, **more: Any) -> dict[str, Any]:
        """What the record says besides."""
        found: dict[str, Any] = {"profile": asked.profile, "strategy": asked.strategy, "node": pod.node_name}
        if asked.why:
            found["why"] = asked.why
        return {**found, **more}


def _error(pod: Pod, answer: Answer) -> str:
    if answer.code == TOO_MANY_REQUESTS:
        return f'error when evicting pod (ignoring) "{pod.name}": {answer.message}'
    if answer.not_found:
        return f'pod not found when evicting "{pod.name}": {answer.message}'
    return answer.message
