"""Every metric of a scheduler that a trace can tell: name, labels and buckets as upstream has them.

Source: pkg/scheduler/metrics/metrics.go, v1.36
"""

from collections.abc import Mapping
from typing import Final

from simulations.analysis.metric_types import Histogram, Labels, Metric, Numbers, doubling
from simulations.engine.kernel.clock import MICROSECOND, MILLISECOND, SECOND

UPSTREAM: Final = "scheduler_"
OWN: Final = "schedscope_"
_CYCLE: Final = doubling(MILLISECOND, 15)
_LONG: Final = doubling(10 * MILLISECOND, 20)
_POINT: Final = doubling(100 * MICROSECOND, 12)


class SchedulerMetrics:
    """The metrics of a run, empty at first. With several scheduler processes each series begins with the label `instance`."""

    def __init__(self, *, several: bool = False) -> None:
        self._first: Labels = ("instance",) if several else ()
        self.attempts = self._counter("schedule_attempts_total", "Scheduling cycles by how they ended.", "result", "profile")
        self.attempt_duration = self._histogram(
            "scheduling_attempt_duration_seconds", "From the start of a cycle to the binding or the failure.", _CYCLE, "result", "profile"
        )  # fmt: skip
        self.algorithm_duration = self._histogram(
            "scheduling_algorithm_duration_seconds", "From the start of a cycle to its decision, PostFilter included.", _CYCLE
        )
        self.preemption_victims = self._histogram(
            "preemption_victims", "Victims of a preemption that was carried out.", doubling(1, 7), unit=1
        )
        self.preemption_attempts = self._counter("preemption_attempts_total", "Calls of DefaultPreemption, whatever came of them.")
        self.pending = self._gauge("pending_pods", "Pods that wait at the end of the run, by queue.", "queue")
        self.pending_max = Numbers(
            f"{OWN}pending_pods_max", "gauge", "The most pods that waited in a queue at once.", (*self._first, "queue")
        )
        self.sli_duration = self._histogram(
            "pod_scheduling_sli_duration_seconds", "From a pod's first entry into activeQ to its binding.", _LONG, "attempts"
        )
        self.pod_attempts = self._histogram(
            "pod_scheduling_attempts", "Cycles that a pod took until it was bound.", doubling(1, 5), unit=1
        )
        self.after_flush = self._counter(
            "pod_scheduled_after_flush_total", "Pods bound after the sweep of those that had waited five minutes."
        )
        self.point_duration = self._histogram(
            "framework_extension_point_duration_seconds", "How long an extension point held the scheduling loop; PostFilter alone.",
            _POINT, "extension_point", "status", "profile",
        )  # fmt: skip
        self.incoming = self._counter("queue_incoming_pods_total", "Moves of pods into queues.", "queue", "event")
        self.cache_size = self._gauge("cache_size", "What the scheduler's cache holds at the end of the run.", "type")
        self.unschedulable = self._gauge(
            "unschedulable_pods", "Pods that a plugin rejected and that were not tried since.", "plugin", "profile"
        )
        self.goroutines = self._counter("preemption_goroutines_execution_total", "Preemptions begun in the background.", "result")
        self.goroutines_duration = self._histogram(
            "preemption_goroutines_duration_seconds", "Evaluated when a preemption begins, so 0, as in v1.36.", _LONG, "result"
        )

    def all(self, gates: Mapping[str, bool]) -> list[Metric]:
        """Those that a scheduler with these gates registers."""
        metrics: list[Metric] = [
            self.attempts, self.attempt_duration, self.algorithm_duration, self.preemption_victims, self.preemption_attempts,
            self.pending, self.pending_max, self.sli_duration, self.pod_attempts, self.after_flush, self.point_duration, self.incoming,
            self.cache_size, self.unschedulable,
        ]  # fmt: skip
        if gates.get("SchedulerAsyncPreemption", True):
            metrics += [self.goroutines_duration, self.goroutines]
        return metrics

    def open(self, key: Labels) -> None:
        """Show what has no label of its own from the start, for a process with this key."""
        for counter in (self.preemption_attempts, self.after_flush):
            counter.add(key, 0)
        for histogram in (self.algorithm_duration, self.preemption_victims, self.pod_attempts):
            histogram.open(key)

    def _counter(self, name: str, text: str, *labels: str) -> Numbers:
        return Numbers(UPSTREAM + name, "counter", text, (*self._first, *labels))

    def _gauge(self, name: str, text: str, *labels: str) -> Numbers:
        return Numbers(UPSTREAM + name, "gauge", text, (*self._first, *labels))

    def _histogram(self, name: str, text: str, bounds: tuple[int, ...], *labels: str, unit: int = SECOND) -> Histogram:
        return Histogram(UPSTREAM + name, text, (*self._first, *labels), bounds, unit)
