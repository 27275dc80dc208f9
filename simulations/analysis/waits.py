"""How long pods waited."""

from dataclasses import dataclass

from simulations.analysis.columns import seconds
from simulations.engine.kernel.clock import SimTime


@dataclass(slots=True)
class Waits:
    """Seconds that pods waited until they were bound in the run; None when none was.

    Percentiles are nearest-rank: an actual pod's wait.
    """

    pods: int = 0
    p50_seconds: float | None = None
    p95_seconds: float | None = None
    max_seconds: float | None = None


def waits_of(waits: list[SimTime]) -> Waits:
    """Percentiles of waiting times."""
    if not waits:
        return Waits()
    ordered = sorted(waits)

    def rank(percent: int) -> float:
        return float(seconds(ordered[max(0, -(-len(ordered) * percent // 100) - 1)]) or 0)

    return Waits(len(ordered), rank(50), rank(95), rank(100))
