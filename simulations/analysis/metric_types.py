"""Counters, gauges and histograms as folds fill them. Values are integers: counts, or nanoseconds."""

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TypeAlias

Labels: TypeAlias = tuple[str, ...]
"""Values of a metric's labels, in the order of their names."""


@dataclass(slots=True)
class Numbers:
    """A counter (it only grows) or a gauge, one number for each combination of labels."""

    name: str
    kind: str
    help: str
    labels: Labels = ()
    values: dict[Labels, int] = field(default_factory=dict)

    def add(self, labels: Labels, by: int = 1) -> None:
        """Count."""
        self.values[labels] = self.values.get(labels, 0) + by


@dataclass(slots=True)
class Observations:
    """How many observations fell into each bucket (the last one has no upper bound), and their sum."""

    counts: list[int]
    total: int = 0


@dataclass(slots=True)
class Histogram:
    """A histogram. `bounds` are the upper bounds of its buckets, inclusive; `unit` is how many of the values make one of the metric."""

    name: str
    help: str
    labels: Labels
    bounds: tuple[int, ...]
    unit: int = 1
    values: dict[Labels, Observations] = field(default_factory=dict)

    def open(self, labels: Labels) -> Observations:
        """The observations under these labels, none at first."""
        found = self.values.get(labels)
        if found is None:
            found = self.values[labels] = Observations([0] * (len(self.bounds) + 1))
        return found

    def observe(self, labels: Labels, value: int) -> None:
        """Take in a value."""
        found = self.open(labels)
        found.counts[bisect_left(self.bounds, value)] += 1
        found.total += value


Metric: TypeAlias = Numbers | Histogram


def doubling(first: int, count: int) -> tuple[int, ...]:
    """Bounds of which each is twice the one before."""
    return tuple(first << i for i in range(count))
