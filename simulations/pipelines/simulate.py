"""Simulates a scenario and folds its trace, batch by batch."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from simulations.analysis.span_types import Span
from simulations.analysis.spans import SpanFold
from simulations.analysis.summary import SummaryFold
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.trace import Record
from simulations.engine.scenario import Scenario
from simulations.engine.simulation import Simulation
from simulations.pipelines.collector import few_collections


@dataclass(frozen=True, slots=True)
class Batch:
    """A stretch of the trace: its records, the spans that they opened or changed (each once, in its last form), the time reached."""

    records: list[Record]
    spans: list[Span]
    sim_time: SimTime
    progress: float


@dataclass(slots=True)
class Outcome:
    """How a run ended, and what it comes to."""

    reason: str
    sim_time: SimTime
    seq: int
    summary: dict[str, Any] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the caller wants to hear: each batch; the time before it moves on (`flush` hands on what is pending); whether to stop."""

    on_batch: Callable[[Batch], object]
    on_time: Callable[[SimTime, Callable[[], None]], object] | None = None
    should_stop: Callable[[], bool] | None = None


def simulate(scenario: Scenario, seed: int, hooks: Hooks, *, batch: int = 500) -> Outcome:
    """Run to the end; records and spans go to `hooks.on_batch` in order.

    Raises:
        ScenarioErrors: an object of the scenario cannot be read.
    """
    spans, summary = SpanFold(), SummaryFold()

    def on_records(records: list[Record]) -> None:
        changed: dict[int, Span] = {}
        for record in records:
            summary.feed(record)
            for span in spans.feed(record):
                changed[span.id] = span
        last = records[-1]
        progress = _progress(scenario, last.t)
        hooks.on_batch(Batch(records, [changed[i] for i in sorted(changed)], last.t, progress))

    simulation = Simulation(scenario, seed, on_records, batch=batch)
    on_time = hooks.on_time
    told = None if on_time is None else lambda now: on_time(now, simulation.trace.flush)
    with few_collections():
        result = simulation.run(hooks.should_stop, told)
    findings = [finding.as_dict() for finding in summary.findings()]
    return Outcome(result.reason, result.end, result.seq, summary.summary().as_dict(), findings)


def _progress(scenario: Scenario, now: SimTime) -> float:
    whole = scenario.duration + scenario.warmup
    return min(1.0, max(0.0, (now + scenario.warmup) / whole)) if whole else 1.0
