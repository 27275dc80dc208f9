"""The metrics that the descheduler would have shown, under its names, with its labels and buckets.

Source: metrics/metrics.go, descheduler v0.36
"""

from typing import Final

from simulations.analysis.metric_types import Histogram, Metric, Numbers
from simulations.engine.kernel.clock import MILLISECOND, SECOND
from simulations.engine.kernel.trace import Record

UPSTREAM: Final = "descheduler_"
_STRATEGY: Final = tuple(ms * MILLISECOND for ms in (10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000))
_LOOP: Final = (*_STRATEGY, 250 * SECOND, 500 * SECOND)
_RESULTS: Final = {
    "Evicted": "success",
    "Failed": "error",
    "TotalLimit": "maximum number of evicted pods per a descheduling cycle reached",
    "NodeLimit": "maximum number of evicted pods per node reached",
    "NamespaceLimit": "maximum number of evicted pods per namespace reached",
}
_EVICTED: Final = "Pods that were to be evicted, by what became of it."
_CYCLE: Final = "How long a cycle took."
_PLUGIN: Final = "How long a strategy took."
_LABELS: Final = ("result", "strategy", "profile", "namespace", "node")


class DeschedulerMetrics:
    """Feed it the records of a run in order; without a descheduler there are no metrics. Each has its deprecated name besides."""

    def __init__(self) -> None:
        self._evicted = [
            Numbers(f"{UPSTREAM}{name}", "counter", _EVICTED, _LABELS) for name in ("pods_evicted_total", "pods_evicted")
        ]
        self._loop = self._histograms("loop_duration_seconds", _CYCLE, (), _LOOP)
        self._strategy = self._histograms("strategy_duration_seconds", _PLUGIN, ("strategy", "profile"), _STRATEGY)
        self._runs = False

    @staticmethod
    def _histograms(name: str, text: str, labels: tuple[str, ...], bounds: tuple[int, ...]) -> list[Histogram]:
        return [Histogram(f"{UPSTREAM}{part}{name}", text, labels, bounds, SECOND) for part in ("", "descheduler_")]

    def feed(self, record: Record) -> None:
        """Take in a record."""
        data = record.data or {}
        if record.verb == "cycled":
            self._runs = True
            for loop in self._loop:
                loop.observe((), record.t - data["started"])
        elif record.verb == "strategy":
            for strategy in self._strategy:
                strategy.observe((record.reason, data["profile"]), record.t - data["started"])
        elif record.verb == "deschedule":
            labels = (_RESULTS[record.reason], data["strategy"], data["profile"], record.namespace, data["node"])
            for counter in self._evicted:
                counter.add(labels)

    def all(self) -> list[Metric]:
        """Those that a descheduler registers, as far as a trace can tell."""
        return [*self._evicted, *self._loop, *self._strategy] if self._runs else []
