"""The metrics that kube-scheduler would have shown, under its names, with its labels and buckets, as far as a trace can tell.

Source: pkg/scheduler/metrics/metrics.go, v1.36; docs/metrics.md says what each one is taken from and which are left out.
"""

from collections.abc import Callable, Sequence
from typing import Final

from simulations.analysis.cycles import Cycle, CycleFold
from simulations.analysis.descheduler_metrics import DeschedulerMetrics
from simulations.analysis.ledger import PodLedger
from simulations.analysis.metric_catalogue import SchedulerMetrics
from simulations.analysis.metric_types import Labels, Metric
from simulations.analysis.queue_gauges import QueueGauges
from simulations.analysis.words import of
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.trace import Record

MANY_ATTEMPTS: Final = 15
_EVENTS: Final = {"PodAdd": "UnschedulablePodAdd"}
_CHANGES: Final = {
    "NodeAllocatableChange": "NodeUpdateNodeAllocatable",
    "NodeLabelChange": "NodeUpdateNodeLabel",
    "NodeTaintChange": "NodeUpdateNodeTaint",
    "NodeConditionChange": "NodeUpdateNodeCondition",
    "NodeAnnotationChange": "NodeUpdateNodeAnnotation",
    **{f"{pod}LabelChange": f"{pod}UpdatePodLabel" for pod in ("AssignedPod", "UnschedulablePod")},
    **{f"{pod}ScaleDown": f"{pod}UpdatePodScaleDown" for pod in ("AssignedPod", "UnschedulablePod")},
    **{f"{pod}TolerationChange": f"{pod}UpdatePodToleration" for pod in ("AssignedPod", "UnschedulablePod")},
    "UnschedulablePodSchedulingGatesEliminated": "UnschedulablePodUpdatePodSchedulingGatesEliminated",
}


def event_label(event: str) -> str:
    """An event of the trace as the real label has it: the resource and the action.

    Source: staging/src/k8s.io/kube-scheduler/framework/types.go, ClusterEvent.Label, v1.36
    """
    return _EVENTS.get(event) or _CHANGES.get(event, event)


class MetricsFold:
    """Feed it the records of a run in order, then ask for the metrics once."""

    def __init__(self) -> None:
        self._cycles = CycleFold()
        self._ledger = PodLedger()
        self._to = SchedulerMetrics()
        self._descheduler = DeschedulerMetrics()
        self._several = False
        self._gates: dict[str, bool] = {}
        self._queues: dict[str, QueueGauges] = {}
        self._entered: dict[str, SimTime] = {}
        self._binding: dict[str, Cycle] = {}
        self._flushed: dict[str, bool] = {}
        self._nodes: dict[str, bool] = {}
        self._handlers: dict[str, Callable[[Record], None]] = {
            "begin": self._begin,
            "enqueue": self._enqueue,
            "attempt": self._attempt,
            "preempt": self._preempt,
            "nopreempt": self._no_preempt,
            "create": self._create,
            "forget": self._forget,
            "gone": self._gone,
        }

    def feed(self, record: Record) -> None:
        """Take in a record."""
        self._ledger.feed(record)
        self._descheduler.feed(record)
        for cycle in self._cycles.feed(record):
            self._over(cycle)
        handler = self._handlers.get(record.verb)
        if handler is not None:
            handler(record)

    def metrics(self) -> Sequence[Metric]:
        """All metrics at the end of the trace; those of a gate that is off are left out."""
        for cycle in self._cycles.finish():
            self._over(cycle)
        for actor in self._queues:
            self._gauges(actor)
        return [*self._to.all(self._gates), *self._descheduler.all()]

    # ---- records

    def _begin(self, record: Record) -> None:
        profiles = (of(record.data, "profiles") or {}).values()
        actors = dict.fromkeys(profile.get("actor", "kube-scheduler") for profile in profiles)
        self._several = len(actors) > 1
        self._gates = of(record.data, "featureGates") or {}
        self._to = SchedulerMetrics(several=self._several)
        for actor in actors:
            self._queue(actor)
            self._to.open(self._key(actor))

    def _enqueue(self, record: Record) -> None:
        data = record.data or {}
        queue, event, uid = data.get("queue", ""), data.get("event", ""), record.uid
        shown = "unschedulable" if queue == "gated" else queue
        self._to.incoming.add(self._key(record.actor, shown, event_label(event)))
        if queue == "active":
            self._entered.setdefault(uid, record.t)
        gauges = self._queue(record.actor)
        if event == "PopFromBackoffQ":
            gauges.left(uid)
        else:
            gauges.moved(uid, queue, record.t)
        if event in ("UnschedulableTimeout", "ScheduleAttemptFailure"):
            self._flushed[uid] = event == "UnschedulableTimeout"
        if data.get("plugin"):
            profile, plugins = gauges.held.get(uid, (self._profile_of(record), ()))
            gauges.held[uid] = (profile, tuple(dict.fromkeys((*plugins, data["plugin"]))))

    def _attempt(self, record: Record) -> None:
        data = record.data or {}
        gauges = self._queue(record.actor)
        gauges.popped(record.uid, data.get("started", record.t))
        if data.get("rejecting"):
            gauges.held[record.uid] = (data.get("profile", ""), tuple(data["rejecting"]))

    def _over(self, cycle: Cycle) -> None:
        took = cycle.over - cycle.started
        self._to.algorithm_duration.observe(self._key(cycle.scheduler), took)
        if cycle.result == "Scheduled":
            self._binding[cycle.uid] = cycle
            return
        self._attempted(cycle, cycle.result.lower(), took)
        if cycle.post_filter is not None:
            key = self._key(cycle.scheduler, "PostFilter", cycle.post_filter.status, cycle.profile)
            self._to.point_duration.observe(key, cycle.post_filter.took)

    def _attempted(self, cycle: Cycle, result: str, took: SimTime) -> None:
        self._to.attempts.add(self._key(cycle.scheduler, result, cycle.profile))
        self._to.attempt_duration.observe(self._key(cycle.scheduler, result, cycle.profile), took)

    def _preempt(self, record: Record) -> None:
        self._no_preempt(record)
        victims = of(record.data, "victims") or ()
        in_background = of(record.data, "executor") == "async"
        if in_background and all(victim.get("terminating") for victim in victims):
            return
        self._to.preemption_victims.observe(self._key(record.actor), len(victims))
        if in_background:  # as upstream evaluates them when the goroutine starts: a success that took no time
            self._to.goroutines.add(self._key(record.actor, "success"))
            self._to.goroutines_duration.observe(self._key(record.actor, "success"), 0)

    def _no_preempt(self, record: Record) -> None:
        self._to.preemption_attempts.add(self._key(record.actor))

    def _create(self, record: Record) -> None:
        if record.code >= 400:
            return
        if record.resource == "nodes":
            self._nodes[record.name] = True
        elif record.resource == "pods/binding":
            cycle = self._binding.pop(record.uid, None)
            if cycle is not None:
                self._bound(cycle, record.t)

    def _bound(self, cycle: Cycle, at: SimTime) -> None:
        self._attempted(cycle, "scheduled", at - cycle.started)
        self._to.pod_attempts.observe(self._key(cycle.scheduler), cycle.attempt)
        entered = self._entered.pop(cycle.uid, None)
        if entered is not None:
            attempts = str(cycle.attempt) if cycle.attempt < MANY_ATTEMPTS else f"{MANY_ATTEMPTS}+"
            self._to.sli_duration.observe(self._key(cycle.scheduler, attempts), at - entered)
        if self._flushed.pop(cycle.uid, False):
            self._to.after_flush.add(self._key(cycle.scheduler))

    def _forget(self, record: Record) -> None:
        cycle = self._binding.pop(record.uid, None)
        if cycle is not None:
            self._attempted(cycle, "error", record.t - cycle.started)

    def _gone(self, record: Record) -> None:
        if record.resource == "nodes":
            self._nodes.pop(record.name, None)
        elif record.resource == "pods":
            self._binding.pop(record.uid, None)
            for gauges in self._queues.values():
                gauges.gone(record.uid)

    # ---- at the end

    def _gauges(self, actor: str) -> None:
        gauges = self._queues[actor]
        gauges.finish()
        for queue, size in gauges.sizes.items():
            self._to.pending.values[self._key(actor, queue)] = size
            self._to.pending_max.values[self._key(actor, queue)] = gauges.peaks[queue]
        for profile, plugins in gauges.held.values():
            for plugin in plugins:
                self._to.unschedulable.add(self._key(actor, plugin, profile))
        assumed = sum(1 for cycle in self._binding.values() if cycle.scheduler == actor)
        placed = sum(
            1 for line in self._ledger.lines if line.node and line.gone is None and line.phase not in ("Succeeded", "Failed")
        )
        for kind, size in (("nodes", len(self._nodes)), ("pods", placed + assumed), ("assumed_pods", assumed)):
            self._to.cache_size.values[self._key(actor, kind)] = size

    def _queue(self, actor: str) -> QueueGauges:
        return self._queues.setdefault(actor, QueueGauges())

    def _profile_of(self, record: Record) -> str:
        line = self._ledger.find(record.namespace, record.name, record.uid)
        return (line.scheduler if line is not None else "") or "default-scheduler"

    def _key(self, actor: str, *labels: str) -> Labels:
        return (actor, *labels) if self._several else labels
