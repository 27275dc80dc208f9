"""What API calls and scheduling cycles cost, in simulated time.

The presets are the figures of docs/cost-model.md: `lab` is one small machine, `production` an API server with fsync, proxies and
admission webhooks.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from simulations.engine.kernel.clock import MICROSECOND, MILLISECOND
from simulations.engine.kernel.streams import Streams

_P95_DEVIATIONS: Final = 1.6448536269514722


@dataclass(frozen=True, slots=True)
class Latency:
    """A duration in ns: constant, or log-normal with this median and 95th percentile."""

    median: int
    p95: int | None = None

    def draw(self, rng: Random) -> int:
        """One duration."""
        if self.p95 is None or self.p95 <= self.median:
            return self.median
        sigma = math.log(self.p95 / self.median) / _P95_DEVIATIONS
        return round(self.median * math.exp(sigma * rng.gauss(0.0, 1.0)))

    def times(self, factor: int) -> "Latency":
        """The same distribution, so many times slower."""
        return Latency(self.median * factor, None if self.p95 is None else self.p95 * factor)


def _ms(median: float, p95: float) -> Latency:
    return Latency(round(median * MILLISECOND), round(p95 * MILLISECOND))


_LAB: Final[dict[str, Latency]] = {
    "default": _ms(2.1, 5.0),
    "create pods": _ms(2.1, 5.9),
    "create pods/binding": _ms(1.6, 2.7),
    "delete pods": _ms(4.7, 12),
    "patch pods/status": _ms(3.0, 5.6),
    "create events": _ms(2.4, 7.1),
    "patch events": _ms(7.7, 12),
    "create nodes": _ms(2.1, 2.4),
    "patch nodes/status": _ms(1.8, 2.4),
}
PRODUCTION_FACTOR: Final = 6
PRESETS: Final[dict[str, dict[str, Latency]]] = {
    "lab": _LAB,
    "production": {call: latency.times(PRODUCTION_FACTOR) for call, latency in _LAB.items()},
}


@dataclass(frozen=True, slots=True)
class CycleCost:
    """What one scheduling cycle takes in ns: `base`, `per_node` for each Node looked at, `per_dry_run` for each Node on which
    preemption was tried.
    """

    base: int = 900 * MICROSECOND
    per_node: int = 4 * MICROSECOND
    per_dry_run: int = 50 * MICROSECOND

    def of(self, nodes: int) -> int:
        """The duration of a cycle that looked at so many Nodes, without PostFilter."""
        return self.base + self.per_node * nodes

    def of_post_filter(self, dry_runs: int) -> int:
        """What PostFilter adds to it, without the calls that it makes."""
        return self.per_dry_run * dry_runs


@dataclass(frozen=True, slots=True)
class Costs:
    """The cost model of a scenario. `api` is by "verb resource", with "default" for all others."""

    api: Mapping[str, Latency] = field(default_factory=lambda: PRESETS["lab"])
    watch_delay: int = 2 * MILLISECOND
    cycle: CycleCost = CycleCost()
    preset: str = "lab"


class CostModel:
    """Draws the durations of a run; every kind of call has its own random stream."""

    def __init__(self, costs: Costs, streams: Streams) -> None:
        self.costs = costs
        self._streams = streams
        self._known: dict[str, tuple[Latency, Random]] = {}

    def call(self, call: str) -> int:
        """How long this call ("delete pods") takes, in ns."""
        known = self._known.get(call)
        if known is None:
            latency = self.costs.api.get(call) or self.costs.api["default"]
            known = self._known[call] = (latency, self._streams.stream(f"latency/{call}"))
        return known[0].draw(known[1])
