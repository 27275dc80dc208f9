"""The scheduling queue.

Source: pkg/scheduler/backend/queue/scheduling_queue.go, v1.36
"""

from collections.abc import Callable, Mapping
from typing import Final

from simulations.engine.api.pod import Pod
from simulations.engine.kernel.clock import MINUTE, SECOND
from simulations.engine.kernel.loop import EventLoop, Future
from simulations.engine.scheduler.framework.events import Action, ClusterEvent, Resource
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.queue.heap import PodHeap
from simulations.engine.scheduler.queue.hints import Hints
from simulations.engine.scheduler.queue.in_flight import Happened, InFlightEvents
from simulations.engine.scheduler.queue.queued_pod import Backoff, QueuedPod

SWEEP: Final = 30 * SECOND
STAY_AT_MOST: Final = 5 * MINUTE
FORCE_ACTIVATE: Final = ClusterEvent(Resource.WILDCARD, Action.ALL, "ForceActivate")
UNSCHEDULABLE_TIMEOUT: Final = ClusterEvent(Resource.WILDCARD, Action.ALL, "UnschedulableTimeout")

OnMove = Callable[[QueuedPod, str, str, int], int]
"""`on_move(queued, queue, event, cause)` records a move and returns the record's number."""


class SchedulingQueue:
    """Holds every Pod that waits for a place. `pop` gives the next one; `arrival` is resolved when one may have come."""

    def __init__(self, loop: EventLoop, frameworks: Mapping[str, Framework], backoff: Backoff, on_move: OnMove) -> None:
        self._loop = loop
        self._frameworks = frameworks
        self._hints = {name: Hints(framework.registrations()) for name, framework in frameworks.items()}
        self.backoff = backoff
        self._on_move = on_move
        self._active = PodHeap(lambda q: q.active_key)
        self._backoff = PodHeap(lambda q: (backoff.expiry(q), *q.active_key))
        self._errors = PodHeap(lambda q: backoff.expiry(q))
        self.unschedulable: dict[str, QueuedPod] = {}
        self.in_flight = InFlightEvents()
        self.arrival: Future[None] | None = None
        self._orders = 0
        self._flush_due: int | None = None
        self._sweep_due = False

    # ---- coming and going

    def add(self, pod: Pod, cause: int) -> None:
        """A Pod that waits for a place was created."""
        self._orders += 1
        queued = QueuedPod(pod, self._loop.now, self._orders)
        self._to_active(queued, "PodAdd", cause)

    def pop(self) -> QueuedPod | None:
        """The next Pod: of activeQ, else the first of backoffQ even if its backoff has not expired."""
        queued = self._active.pop()
        if queued is None and self.backoff.whole_seconds:
            queued = self._backoff.pop()
            if queued is not None:
                queued.record = self._on_move(queued, "active", "PopFromBackoffQ", queued.record)
        if queued is not None:
            queued.attempts += 1
            queued.gating_plugin = ""
            self.in_flight.start(queued.pod.uid)
        return queued

    def done(self, uid: str) -> None:
        """The Pod's cycle is over and it will not come back by itself."""
        self.in_flight.finish(uid)

    def find(self, uid: str) -> QueuedPod | None:
        """The Pod, wherever it waits."""
        return self._active.get(uid) or self._backoff.get(uid) or self._errors.get(uid) or self.unschedulable.get(uid)

    def delete(self, uid: str) -> None:
        """The Pod is gone, or bound by someone."""
        for heap in (self._active, self._backoff, self._errors):
            heap.remove(uid)
        self.unschedulable.pop(uid, None)

    def sizes(self) -> dict[str, int]:
        """Pods by queue: active, backoff, unschedulable, gated."""
        gated = sum(1 for q in self.unschedulable.values() if q.gating_plugin)
        return {
            "active": len(self._active),
            "backoff": len(self._backoff) + len(self._errors),
            "unschedulable": len(self.unschedulable) - gated,
            "gated": gated,
        }

    # ---- a cycle failed

    def add_unschedulable(self, queued: QueuedPod, cause: int) -> None:
        """The Pod found no place: it waits for an event, or backs off if one came while it was in flight or an error was at fault."""
        if queued.rejecting:
            queued.unschedulable_count += 1
            queued.consecutive_errors = 0
        else:
            queued.consecutive_errors += 1
        queued.timestamp = self._loop.now
        events = self.in_flight.finish(queued.pod.uid)
        hints = self._hints_of(queued)
        woken = next((h for h in events if hints.worth_requeuing(queued, h)), None)
        if not queued.rejecting or woken is not None:
            self._requeue(queued, "ScheduleAttemptFailure", woken.cause if woken is not None and woken.cause else cause)
            return
        self._to_unschedulable(queued, "ScheduleAttemptFailure", cause)

    # ---- events

    def on_event(self, happened: Happened) -> None:
        """Something happened in the cluster: requeue the Pods that it may help."""
        if not any(h.of_interest(happened.event) for h in self._hints.values()):
            return
        self.in_flight.add(happened)
        for_all = happened.event.resource is Resource.WILDCARD
        asked = {name: frozenset(hints.plugins(happened.event)) for name, hints in self._hints.items()}
        for queued in list(self.unschedulable.values()):
            if for_all or not queued.rejecting or not asked[queued.pod.spec.scheduler_name].isdisjoint(queued.rejecting):
                self._consider(queued, happened)

    def _consider(self, queued: QueuedPod, happened: Happened) -> None:
        hints = self._hints_of(queued)
        wildcard = happened.event.resource is Resource.WILDCARD
        if queued.gating_plugin and (wildcard or not hints.registered(queued.gating_plugin, happened.event)):
            return
        if hints.worth_requeuing(queued, happened):
            del self.unschedulable[queued.pod.uid]
            self._requeue(queued, happened.event.label, happened.cause)

    def update(self, old: Pod, new: Pod, events: list[ClusterEvent], cause: int) -> None:
        """A Pod that waits was changed."""
        uid = new.uid
        if uid in self.in_flight:
            for event in events:
                self.in_flight.add(Happened(event, old, new, cause, only_uid=uid))
            return
        queued = self.find(uid)
        if queued is None:
            return
        if uid in self.unschedulable:
            queued.pod = new
            for event in events:
                if uid in self.unschedulable:
                    self._consider(queued, Happened(event, old, new, cause, only_uid=uid))
            return
        for heap in (self._active, self._backoff, self._errors):
            if heap.remove(uid) is not None:
                queued.pod = new
                heap.push(queued)

    def activate(self, uid: str, cause: int) -> None:
        """Bring a Pod to activeQ at once, whatever its backoff; in flight, it comes back as soon as its cycle is over."""
        happened = Happened(FORCE_ACTIVATE, None, None, cause, only_uid=uid)
        if uid in self.in_flight:
            self.in_flight.add(happened)
            return
        queued = self.unschedulable.pop(uid, None) or self._backoff.remove(uid)
        if queued is not None:
            self._to_active(queued, "ForceActivate", cause)

    def back_off(self, uid: str, cause: int) -> None:
        """A call for the Pod failed after its cycle: it tries again after its backoff, and an idle scheduler does not take it early."""
        queued = self.unschedulable.pop(uid, None)
        if queued is not None:
            queued.rejecting = []
            queued.timestamp = self._loop.now
            self._to_backoff(queued, "PreemptionFailed", cause)

    # ---- moves

    def _hints_of(self, queued: QueuedPod) -> Hints:
        return self._hints[queued.pod.spec.scheduler_name]

    def _requeue(self, queued: QueuedPod, event: str, cause: int) -> None:
        if self.backoff.backing_off(queued, self._loop.now):
            self._to_backoff(queued, event, cause)
        else:
            self._to_active(queued, event, cause)

    def _gated(self, queued: QueuedPod, event: str, cause: int) -> bool:
        status = self._frameworks[queued.pod.spec.scheduler_name].run_pre_enqueue(queued.pod)
        if status is None:
            queued.gating_plugin = ""
            return False
        queued.gating_plugin = status.plugin
        if status.plugin not in queued.rejecting:
            queued.rejecting.append(status.plugin)
        self.unschedulable[queued.pod.uid] = queued
        queued.record = self._on_move(queued, "gated", event, cause)
        return True

    def _to_active(self, queued: QueuedPod, event: str, cause: int) -> None:
        if self._gated(queued, event, cause):
            return
        self._active.push(queued)
        queued.record = self._on_move(queued, "active", event, cause)
        self._wake()

    def _to_backoff(self, queued: QueuedPod, event: str, cause: int) -> None:
        if self.backoff.whole_seconds and self._gated(queued, event, cause):
            return
        (self._backoff if queued.rejecting else self._errors).push(queued)
        queued.record = self._on_move(queued, "backoff", event, cause)
        self._plan_flush()
        self._wake()

    def _to_unschedulable(self, queued: QueuedPod, event: str, cause: int) -> None:
        self.unschedulable[queued.pod.uid] = queued
        queued.record = self._on_move(queued, "unschedulable", event, cause)
        if not self._sweep_due:
            self._sweep_due = True
            self._loop.at((self._loop.now // SWEEP + 1) * SWEEP, self._sweep, periodic=True)

    def _wake(self) -> None:
        waiting, self.arrival = self.arrival, None
        if waiting is not None:
            waiting.resolve(None)

    # ---- timers

    def _plan_flush(self) -> None:
        """At every whole second, as long as Pods back off."""
        due = (self._loop.now + self.backoff.offset) // SECOND * SECOND + SECOND - self.backoff.offset
        if self._flush_due is None:
            self._flush_due = due
            self._loop.at(due, self._flush)

    def _flush(self) -> None:
        self._flush_due = None
        for heap in (self._backoff, self._errors):
            first = heap.peek()
            while first is not None and not self.backoff.backing_off(first, self._loop.now):
                heap.pop()
                self._active.push(first)
                first.record = self._on_move(first, "active", "BackoffComplete", first.record)
                first = heap.peek()
                self._wake()
        if len(self._backoff) or len(self._errors):
            self._plan_flush()

    def _sweep(self) -> None:
        """Move Pods that waited for more than five minutes; gated ones stay."""
        self._sweep_due = False
        for queued in list(self.unschedulable.values()):
            if not queued.gating_plugin and self._loop.now - queued.timestamp > STAY_AT_MOST:
                del self.unschedulable[queued.pod.uid]
                self._requeue(queued, UNSCHEDULABLE_TIMEOUT.label, queued.record)
        if self.unschedulable:
            self._sweep_due = True
            self._loop.at(self._loop.now + SWEEP, self._sweep, periodic=True)
