"""Metrics in the text format that Prometheus reads."""

from collections.abc import Iterable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from simulations.analysis.metric_types import Histogram, Metric, Numbers

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def write_metrics(metrics: Iterable[Metric]) -> bytes:
    """HELP, TYPE and the series of each metric, in order; series by their labels."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Fixed([_family(metric) for metric in metrics]))
    return generate_latest(registry)


class _Fixed(Collector):
    """Hands on what there is."""

    def __init__(self, families: list[Family]) -> None:
        self._families = families

    def collect(self) -> Iterator[Family]:
        """The families."""
        yield from self._families


def _family(metric: Metric) -> Family:
    return _numbers(metric) if isinstance(metric, Numbers) else _histogram(metric)


def _numbers(metric: Numbers) -> Family:
    if metric.kind == "counter" and not metric.name.endswith("_total"):
        return _old_counter(metric)
    made = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family = made(metric.name, metric.help, labels=metric.labels)
    for labels, value in sorted(metric.values.items()):
        family.add_metric(labels, value)
    return family


def _old_counter(metric: Numbers) -> Family:
    """A counter without the ending that the format wants, as upstream has a few: its name stays, so its type cannot be told."""
    family = Family(metric.name, metric.help, "unknown")
    for labels, value in sorted(metric.values.items()):
        family.add_sample(metric.name, dict(zip(metric.labels, labels, strict=True)), value)
    return family


def _histogram(metric: Histogram) -> Family:
    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    bounds = [*(str(bound / metric.unit) for bound in metric.bounds), "+Inf"]
    for labels, found in sorted(metric.values.items()):
        family.add_metric(labels, list(zip(bounds, accumulate(found.counts), strict=True)), found.total / metric.unit)
    return family
