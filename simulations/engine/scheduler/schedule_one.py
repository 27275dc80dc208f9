"""The scheduling loop: one Pod at a time, from the queue to a Node or back.

It reads in the order in which a Pod lives through it. The decision is made on what the cache holds at the start of the cycle; the cycle
then takes its time, and what it decided happens at its end.

Source: pkg/scheduler/schedule_one.go, v1.36
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from simulations.engine.api.pod import Condition, Pod
from simulations.engine.cluster.answers import Answer
from simulations.engine.cluster.client import UNSET, Client
from simulations.engine.cluster.costs import CycleCost
from simulations.engine.cluster.event_recorder import EventRecorder
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.loop import EventLoop, Future, Steps
from simulations.engine.kernel.trace import Trace
from simulations.engine.scheduler.algorithm import ScheduleResult, schedule_pod
from simulations.engine.scheduler.attempt_data import USUAL, attempt_data
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.framework.events import Action, ClusterEvent, Resource
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.preemption.evaluator import PreemptionOutcome, evaluate
from simulations.engine.scheduler.preemption.executor import PreemptionExecutor
from simulations.engine.scheduler.preemption.outcome_data import outcome_data
from simulations.engine.scheduler.queue.in_flight import Happened
from simulations.engine.scheduler.queue.queued_pod import QueuedPod
from simulations.engine.scheduler.queue.scheduling_queue import SchedulingQueue

ASSIGNED_POD_DELETE = ClusterEvent(Resource.POD, Action.DELETE, "AssignedPodDelete")


@dataclass(frozen=True, slots=True)
class Cycle:
    """A scheduling cycle that is about to decide: all that the decision depends on.

    `start` is where the search for Nodes begins, `rng` draws where the dry run of a preemption does.
    """

    framework: Framework
    pod: Pod
    start: int
    now: SimTime
    rng: Random


@dataclass(slots=True)
class Parts:
    """What the loop works with."""

    loop: EventLoop
    trace: Trace
    actor: str
    cache: SchedulerCache
    queue: SchedulingQueue
    frameworks: dict[str, Framework]
    client: Client
    recorder: EventRecorder
    executor: PreemptionExecutor
    cost: CycleCost
    rng: Random
    gates: dict[str, bool]
    on_cycle: Callable[[Cycle], object] | None = None
    """Hears of every cycle before it decides."""
    explanations: str = USUAL
    """How much of each decision is recorded (see `attempt_data`)."""


@dataclass(slots=True)
class Failure:
    """Why a Pod goes back: the reason of its condition, the message, what becomes of its nomination (see PreemptionOutcome)."""

    reason: str
    message: str
    nomination: str = "unchanged"
    node: str = ""
    cause: int = 0


class SchedulingLoop:
    """Runs as one process over simulated time."""

    def __init__(self, parts: Parts) -> None:
        self.p = parts
        self._start_index = 0
        self.bound = 0
        """How many Pods were bound so far."""
        self.writing: Future[Answer] | None = None
        """The status that is being written, while the loop waits for it."""

    def run(self) -> Steps[None]:
        """Take the next Pod, for ever."""
        queue = self.p.queue
        while True:
            queued = queue.pop()
            if queued is None:
                queue.arrival = Future()
                yield queue.arrival
                continue
            yield from self._schedule_one(queued)

    def _schedule_one(self, queued: QueuedPod) -> Steps[None]:
        pod = queued.pod
        if pod.terminating:
            note = f"skip schedule deleting pod: {pod.namespace}/{pod.name}"
            self.p.recorder.event("Warning", "FailedScheduling", "Scheduling", note, pod, cause=queued.record)
            self.p.queue.done(pod.uid)
            return
        if self.p.cache.is_assumed(pod.uid) or self.p.cache.pod(pod.uid) is not None:
            self.p.queue.done(pod.uid)
            return
        yield from self._cycle(queued, self.p.frameworks[pod.spec.scheduler_name])

    def _cycle(self, queued: QueuedPod, framework: Framework) -> Steps[None]:
        pod, started = queued.pod, self.p.loop.now
        if self.p.on_cycle is not None:
            self.p.on_cycle(Cycle(framework, pod, self._start_index, started, self.p.rng))
        result = schedule_pod(framework, pod, self._start_index)
        self._start_index = result.next_start
        outcome = None
        if not result.node and not result.diagnosis.error:
            outcome = evaluate(framework, pod, result, started, self.p.rng)
        yield self.p.cost.of(result.evaluated) + self._post_filter_cost(outcome)
        if result.node:
            failure = self._place(queued, framework, result, started)
            if failure is not None:
                yield from self._handle_failure(queued, failure)
            return
        yield from self._fail(queued, result, outcome, started)

    def _post_filter_cost(self, outcome: PreemptionOutcome | None) -> SimTime:
        return self.p.cost.of_post_filter(outcome.dry_runs) if outcome is not None else 0

    # ---- it fits

    def _place(self, queued: QueuedPod, framework: Framework, result: ScheduleResult, started: SimTime) -> Failure | None:
        pod = queued.pod
        attempt = self._record_attempt(queued, result, started, "Scheduled")
        self.p.cache.assume(pod, result.node)
        self._record(pod, "assume", attempt, data={"node": result.node})
        previous = self.p.cache.nominator.delete(pod.uid)
        if previous:
            self._record(pod, "nominate", attempt, reason="Bound", data={"node": result.node, "previous": previous})
        status = framework.run_reserve(result.state, pod, result.node)
        if status is not None:
            self.p.cache.forget(pod.uid)
            seq = self._record(pod, "forget", attempt, data={"node": result.node})
            queued.rejecting = []
            text = f'running Reserve plugin "{status.plugin}": {status.message}'
            return Failure("SchedulerError", text, "cleared", cause=seq)
        self.p.loop.spawn(self._bind(queued, framework, result, attempt), f"bind {pod.name}")
        return None

    def _bind(self, queued: QueuedPod, framework: Framework, result: ScheduleResult, cause: int) -> Steps[None]:
        """The binding cycle, beside the loop: PreBind where there is something to do, then POST pods/binding."""
        node, state = result.node, result.state
        works = framework.has_pre_bind_work(state, queued.pod, node)
        if works and self.p.gates.get("NominatedNodeNameForExpectation", True) and queued.pod.nominated_node_name != node:
            told: Answer = yield self.p.client.patch_pod_status(queued.pod, nominated=node, cause=cause)
            queued.pod = told.object if told.ok else queued.pod
        pod = queued.pod
        self.p.queue.done(pod.uid)
        status = (yield from framework.run_pre_bind(state, pod, node, cause)) if works else None
        if status is not None:
            text = f'running PreBind plugin "{status.plugin}": {status.message}'
            yield from self._not_bound(queued, framework, result, text, cause)
            return
        answer: Answer = yield self.p.client.bind(pod, node, cause=cause)
        if answer.ok:
            self.bound += 1
            note = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
            self.p.recorder.event("Normal", "Scheduled", "Binding", note, pod, cause=answer.seq)
            return
        yield from self._not_bound(queued, framework, result, f'running Bind plugin "DefaultBinder": {answer.message}', answer.seq)

    def _not_bound(self, queued: QueuedPod, framework: Framework, result: ScheduleResult, message: str, cause: int) -> Steps[None]:
        """What was reserved is given back, the Node's room too, and others may have it."""
        pod = queued.pod
        framework.run_unreserve(result.state, pod, result.node)
        forgotten = self.p.cache.forget(pod.uid)
        seq = self._record(pod, "forget", cause, data={"node": result.node})
        if forgotten is not None:
            self.p.queue.on_event(Happened(ASSIGNED_POD_DELETE, forgotten, None, seq))
        queued.rejecting = []
        yield from self._handle_failure(queued, Failure("SchedulerError", message, "cleared", cause=seq))

    # ---- it does not fit

    def _fail(self, queued: QueuedPod, result: ScheduleResult, outcome: PreemptionOutcome | None, started: SimTime) -> Steps[None]:
        pod, diagnosis = queued.pod, result.diagnosis
        queued.rejecting = [] if diagnosis.error else list(diagnosis.rejecting)
        if outcome is not None:
            diagnosis.post_filter_message = outcome.message
        reason = "Error" if diagnosis.error and not result.no_nodes else "Unschedulable"
        attempt = self._record_attempt(queued, result, started, reason, outcome)
        failure = Failure(
            "Unschedulable" if reason == "Unschedulable" else "SchedulerError", diagnosis.message(), "cleared", cause=attempt
        )
        if outcome is not None:
            failure.nomination = outcome.nomination
            if outcome.winner is not None:
                yield from self._preempt(pod, outcome, failure)
            elif outcome.called:
                data = outcome_data(outcome, started)
                failure.cause = self._record(pod, "nopreempt", attempt, message=outcome.message, data=data)
        yield from self._handle_failure(queued, failure)

    def _preempt(self, pod: Pod, outcome: PreemptionOutcome, failure: Failure) -> Steps[None]:
        winner = outcome.winner
        assert winner is not None, "only called with a winner"
        in_background = self.p.gates.get("SchedulerAsyncPreemption", True)
        data = {**outcome_data(outcome, self.p.loop.now), "executor": "async" if in_background else "sync"}
        failure.node = winner.node
        failure.cause = seq = self._record(pod, "preempt", failure.cause, data=data)
        if in_background:
            self.p.executor.start(pod, winner, seq)
            return
        error = yield from self.p.executor.wait(pod, winner, seq)
        if error:
            failure.nomination, failure.node = "unchanged", ""
            failure.message = f"{failure.message} {error}"

    def _handle_failure(self, queued: QueuedPod, failure: Failure) -> Steps[None]:
        """Back to the queue, the nomination in memory, the event, the status; the loop waits for the status."""
        pod = queued.pod
        known = self.p.cache.waiting.get(pod.key)
        if known is not None and known.uid != pod.uid:
            self.p.queue.done(pod.uid)
            return
        if known is None:
            self.p.queue.done(pod.uid)
        else:
            queued.pod = known
            self.p.queue.add_unschedulable(queued, failure.cause)
            self._nominate(pod, failure)
        self.p.recorder.event("Warning", "FailedScheduling", "Scheduling", failure.message, pod, cause=failure.cause)
        call = self._status_call(pod, failure)
        if call is not None and not self.p.gates.get("SchedulerAsyncAPICalls"):
            self.writing = call
            yield call
            self.writing = None

    def _nominate(self, pod: Pod, failure: Failure) -> None:
        nominator = self.p.cache.nominator
        previous = nominator.node_of(pod.uid)
        if failure.nomination == "set":
            nominator.add(pod, failure.node)
            if previous != failure.node:
                reason = "Replaced" if previous else "Set"
                data = {"node": failure.node, "previous": previous, "kind": "victims"}
                self._record(pod, "nominate", failure.cause, reason=reason, data=data)
        elif failure.nomination == "cleared" and previous:
            nominator.delete(pod.uid)
            self._record(pod, "nominate", failure.cause, reason="Cleared", data={"node": "", "previous": previous})

    def _status_call(self, pod: Pod, failure: Failure) -> Future[Answer] | None:
        nominated: Any = UNSET
        if failure.nomination == "set":
            nominated = failure.node
        elif failure.nomination == "cleared":
            nominated = ""
        condition = Condition("PodScheduled", "False", failure.reason, failure.message, pod.generation)
        present = pod.condition("PodScheduled")
        same = present is not None and (present.status, present.reason, present.message) == (
            "False",
            failure.reason,
            failure.message,
        )
        if same and (nominated is UNSET or nominated == pod.nominated_node_name):
            return None
        return self.p.client.patch_pod_status(pod, conditions=(condition,), nominated=nominated, cause=failure.cause)

    # ---- records

    def _record_attempt(
        self, queued: QueuedPod, result: ScheduleResult, started: SimTime, reason: str, outcome: PreemptionOutcome | None = None
    ) -> int:
        pod = queued.pod
        data = attempt_data(result, self.p.cache.columns, pod.spec.scheduler_name, self.p.explanations)
        data = {"attempt": queued.attempts, "started": started, **data}
        if not result.node and queued.rejecting:
            data["rejecting"] = list(queued.rejecting)
        if outcome is not None:
            data["postFilter"] = {"status": outcome.status, "took": self._post_filter_cost(outcome)}
        message = "" if result.node else result.diagnosis.message()
        return self._record(pod, "attempt", queued.record, reason=reason, message=message, data=data)

    def _record(
        self, pod: Pod, verb: str, cause: int, *, reason: str = "", message: str = "", data: dict[str, Any] | None = None
    ) -> int:
        return self.p.trace.add(
            self.p.loop.now, self.p.actor, verb, resource="pods", namespace=pod.namespace, name=pod.name, uid=pod.uid,
            reason=reason, message=message, cause=cause, data=data,
        )  # fmt: skip
