"""How the scheduling loop spent its time, and what that meant for the pods: waits and throughput."""

from dataclasses import dataclass, field

from simulations.analysis.columns import seconds
from simulations.analysis.cycles import CycleFold
from simulations.analysis.waits import Waits, waits_of
from simulations.engine.kernel.clock import MILLISECOND, SECOND, SimTime
from simulations.engine.kernel.trace import Record


@dataclass(slots=True)
class LoopTime:
    """Where the time of the scheduling loop went; several schedulers are added up.

    `busy_seconds` it decided, `waited_seconds` it waited for answers of the API server. `post_filters` counts runs of PostFilter that
    chose victims; their times include calls that the loop waited for. `waits` are from the queue to the binding, of all pods that
    were bound, and `waits_of_others` of those that preempted nobody. `bound_per_second` is from the first cycle to the last binding.
    """

    cycles: int = 0
    busy_seconds: float = 0.0
    waited_seconds: float = 0.0
    post_filters: int = 0
    post_filter_mean_ms: float | None = None
    post_filter_max_ms: float | None = None
    waits: Waits = field(default_factory=Waits)
    waits_of_others: Waits = field(default_factory=Waits)
    bound_per_second: float | None = None


class LoopFold:
    """Feed it the records of a run in order; ask at any time."""

    def __init__(self) -> None:
        self._cycles = CycleFold()
        self._count = 0
        self._post_filters: list[SimTime] = []
        self._queued: dict[str, SimTime] = {}
        self._waits: list[tuple[str, SimTime]] = []
        self._preemptors: set[str] = set()
        self._first: SimTime | None = None
        self._last_binding: SimTime = 0

    def feed(self, record: Record) -> None:
        """Take in a record."""
        for cycle in self._cycles.feed(record):
            if cycle.post_filter is not None and cycle.victims:
                self._post_filters.append(cycle.post_filter.took)
        verb = record.verb
        if verb == "enqueue":
            self._queued.setdefault(record.uid, record.t)
        elif verb == "attempt":
            self._count += 1
            if self._first is None:
                self._first = (record.data or {}).get("started", record.t)
        elif verb == "preempt":
            self._preemptors.add(record.uid)
        elif record.resource == "pods/binding" and record.code < 400 and record.uid in self._queued:
            self._waits.append((record.uid, record.t - self._queued.pop(record.uid)))
            self._last_binding = record.t

    def loop_time(self) -> LoopTime:
        """The figures so far."""
        took = self._post_filters
        return LoopTime(
            self._count, float(seconds(self._cycles.busy) or 0), float(seconds(self._cycles.waited) or 0), len(took),
            _milliseconds(sum(took) // len(took)) if took else None, _milliseconds(max(took)) if took else None,
            waits_of([wait for _uid, wait in self._waits]),
            waits_of([wait for uid, wait in self._waits if uid not in self._preemptors]), self._throughput(),
        )  # fmt: skip

    def _throughput(self) -> float | None:
        if self._first is None or self._last_binding <= self._first:
            return None
        return round(len(self._waits) * SECOND / (self._last_binding - self._first), 3)


def _milliseconds(time: SimTime) -> float:
    return round(time / MILLISECOND, 3)
