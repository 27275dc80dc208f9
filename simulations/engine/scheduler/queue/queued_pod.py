"""A Pod on its way through the queue.

Source: pkg/scheduler/framework/types.go, QueuedPodInfo, v1.36
"""

from dataclasses import dataclass, field

from simulations.engine.api.pod import Pod
from simulations.engine.kernel.clock import SECOND, SimTime


@dataclass(slots=True, eq=False)
class QueuedPod:
    """The Pod with its counters. `timestamp` is when it came, or last failed; `rejecting` are the plugins that rejected it.

    `record` is the trace record of its last move, the cause of what happens next.
    """

    pod: Pod
    timestamp: SimTime
    order: int
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors: int = 0
    rejecting: list[str] = field(default_factory=list)
    gating_plugin: str = ""
    record: int = 0

    @property
    def active_key(self) -> tuple[int, SimTime, int]:
        """PrioritySort: higher priority first, then the longer wait."""
        return -self.pod.priority, self.timestamp, self.order


@dataclass(frozen=True, slots=True)
class Backoff:
    """Backoff durations in ns; `whole_seconds` is the gate SchedulerPopFromBackoffQ.

    Source: pkg/scheduler/backend/queue/backoff_queue.go, v1.36
    """

    initial: int = SECOND
    maximum: int = 10 * SECOND
    whole_seconds: bool = True
    offset: int = 0
    """What lies between T+0 and the whole second before it."""

    def duration(self, queued: QueuedPod) -> int:
        """How long the Pod backs off, doubling with each failure."""
        failures = queued.consecutive_errors or queued.unschedulable_count
        if not failures or not self.maximum:
            return 0
        return min(self.initial << min(failures - 1, 40), self.maximum)

    def expiry(self, queued: QueuedPod) -> SimTime:
        """When its backoff expires: on a whole second, rounded down, with the gate."""
        return self.floor(queued.timestamp + self.duration(queued))

    def floor(self, time: SimTime) -> SimTime:
        """The whole second at or before an instant, with the gate; else the instant."""
        return (time + self.offset) // SECOND * SECOND - self.offset if self.whole_seconds else time

    def backing_off(self, queued: QueuedPod, now: SimTime) -> bool:
        """Whether it may not run yet."""
        return self.duration(queued) > 0 and self.expiry(queued) >= self.floor(now)
