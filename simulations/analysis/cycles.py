"""Scheduling cycles as the scheduling loop lives through them: deciding, PostFilter, and waiting for the status to be written."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from simulations.analysis.words import object_name, of
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.trace import Record


@dataclass(slots=True)
class PostFilter:
    """One run of PostFilter: the word of its status, and how long it took the loop, calls that it waited for included."""

    status: str
    took: SimTime


@dataclass(slots=True)
class Cycle:
    """One scheduling cycle of one scheduler.

    `started` and `decided` are the beginning and the end of the decision, `over` is when the loop began to deal with its outcome:
    later than `decided` where PostFilter waited for calls. `result` is Scheduled, Unschedulable or Error.
    """

    scheduler: str
    profile: str
    namespace: str
    name: str
    uid: str
    attempt: int
    started: SimTime
    decided: SimTime
    over: SimTime
    result: str
    post_filter: PostFilter | None = None
    cause: int = 0
    """The record that the calls of its failure are caused by."""
    victims: dict[str, int] = field(default_factory=dict)
    """The code of the last answer about each victim, by `namespace/name`, while PostFilter waits; 0 without one."""


Cycles: TypeAlias = tuple[Cycle, ...]


class CycleFold:
    """Feed it the records of a run in order; it hands on each cycle when it is over, and knows how long loops decided and waited."""

    def __init__(self) -> None:
        self.busy: SimTime = 0
        """How long loops decided."""
        self.waited: SimTime = 0
        """How long loops waited for answers of the API server."""
        self._failing: dict[str, Cycle] = {}
        self._status_due: dict[str, Cycle] = {}
        self._goes_on = False
        self._handlers: dict[str, Callable[[Record], Cycles]] = {
            "begin": self._begin,
            "attempt": self._attempt,
            "preempt": self._decided,
            "nopreempt": self._decided,
            "enqueue": self._enqueue,
            "patch": self._answer,
            "delete": self._answer,
        }

    def feed(self, record: Record) -> Cycles:
        """The cycles that this record ends."""
        handler = self._handlers.get(record.verb)
        return () if handler is None else handler(record)

    def finish(self) -> Cycles:
        """Cycles of which the trace shows no end."""
        cycles = tuple(self._failing.values())
        self._failing.clear()
        return cycles

    def _begin(self, record: Record) -> Cycles:
        self._goes_on = bool((of(record.data, "featureGates") or {}).get("SchedulerAsyncAPICalls"))
        return ()

    def _attempt(self, record: Record) -> Cycles:
        data = record.data or {}
        cycle = Cycle(
            record.actor, data.get("profile", ""), record.namespace, record.name, record.uid, data.get("attempt", 0),
            data.get("started", record.t), record.t, record.t, record.reason, cause=record.seq,
        )  # fmt: skip
        self.busy += cycle.decided - cycle.started
        self._status_due.pop(record.actor, None)
        left = self._failing.pop(record.actor, None)
        before = () if left is None else (left,)  # its Pod was gone by then, and came back to no queue
        if record.reason == "Scheduled":
            return (*before, cycle)
        post_filter = data.get("postFilter")
        if post_filter is not None:
            cycle.post_filter = PostFilter(post_filter["status"], post_filter["took"])
        self._failing[record.actor] = self._status_due[record.actor] = cycle
        return before

    def _decided(self, record: Record) -> Cycles:
        cycle = self._failing.get(record.actor)
        if cycle is not None and record.cause == cycle.cause:
            cycle.cause = record.seq
            victims = of(record.data, "victims") or ()
            cycle.victims = {object_name(victim.get("namespace", ""), victim.get("name", "")): 0 for victim in victims}
        return ()

    def _enqueue(self, record: Record) -> Cycles:
        cycle = self._failing.get(record.actor)
        if cycle is None or cycle.uid != record.uid or of(record.data, "event") != "ScheduleAttemptFailure":
            return ()
        del self._failing[record.actor]
        cycle.over = record.t
        self.waited += cycle.over - cycle.decided
        if cycle.post_filter is not None:
            cycle.post_filter.took += cycle.over - cycle.decided
            if any(code >= 400 and code != 404 for code in cycle.victims.values()):
                cycle.post_filter.status = "Error"
        return (cycle,)

    def _answer(self, record: Record) -> Cycles:
        cycle = self._status_due.get(record.actor)
        if cycle is None or record.cause != cycle.cause:
            return ()
        name = object_name(record.namespace, record.name)
        if name in cycle.victims:
            cycle.victims[name] = record.code
        elif record.resource == "pods/status" and name == object_name(cycle.namespace, cycle.name):
            del self._status_due[record.actor]
            if not self._goes_on:
                self.waited += record.t - cycle.over
        return ()
