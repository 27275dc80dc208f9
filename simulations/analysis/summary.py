"""The few numbers that a run is known by, and its findings."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from simulations.analysis.findings import Finding, FindingsFold
from simulations.analysis.ledger import PodLedger
from simulations.analysis.loop import LoopFold, LoopTime
from simulations.analysis.waits import Waits, waits_of
from simulations.analysis.words import of
from simulations.engine.kernel.trace import Record


@dataclass(slots=True)
class Summary:
    """Counts at the last record that was fed.

    `placed` pods were bound in the run; `pending` ones wait for a node. `calls` counts API calls by actor, then by code;
    `attempts` scheduling cycles by result. `preemptions` counts decisions to preempt, `victims` the pods chosen, each once.
    """

    records: int = 0
    sim_seconds: float = 0.0
    ended: str = ""
    nodes: int = 0
    pods: int = 0
    placed: int = 0
    pending: int = 0
    running: int = 0
    gone: int = 0
    preemptions: int = 0
    victims: int = 0
    budget_violations: int = 0
    waits: Waits = field(default_factory=Waits)
    attempts: dict[str, int] = field(default_factory=dict)
    calls: dict[str, dict[str, int]] = field(default_factory=dict)
    refused_calls: int = 0
    loop: LoopTime = field(default_factory=LoopTime)

    def as_dict(self) -> dict[str, Any]:
        """The summary as JSON values."""
        return asdict(self)


class SummaryFold:
    """Feed it the records of a run in order; ask at any time."""

    def __init__(self) -> None:
        self._ledger = PodLedger()
        self._findings = FindingsFold(self._ledger)
        self._loop = LoopFold()
        self._summary = Summary()
        self._attempts: Counter[str] = Counter()
        self._calls: Counter[tuple[str, int]] = Counter()
        self._nodes: dict[str, bool] = {}
        self._victims: dict[str, bool] = {}

    def feed(self, record: Record) -> None:
        """Take in a record."""
        self._ledger.feed(record)
        self._findings.feed(record)
        self._loop.feed(record)
        summary = self._summary
        summary.records = record.seq
        summary.sim_seconds = record.t / 1e9
        verb = record.verb
        if record.code:
            if record.actor != "setup":
                self._calls[record.actor, record.code] += 1
            if verb == "create" and record.resource == "nodes" and record.code < 400:
                self._nodes[record.name] = True
        elif verb == "attempt":
            self._attempts[record.reason] += 1
        elif verb == "preempt":
            victims = of(record.data, "victims") or ()
            summary.preemptions += 1
            for victim in victims:
                violated = self._victims.get(victim.get("uid", ""), False)
                self._victims[victim.get("uid", "")] = violated or bool(victim.get("pdb_violated"))
        elif verb == "gone" and record.resource == "nodes":
            self._nodes.pop(record.name, None)
        elif verb == "end":
            summary.ended = record.reason

    def summary(self) -> Summary:
        """The counts so far."""
        summary, lines = self._summary, self._ledger.lines
        summary.nodes = len(self._nodes)
        summary.pods = len(lines)
        summary.victims = len(self._victims)
        summary.budget_violations = sum(self._victims.values())
        summary.placed = sum(line.bound is not None for line in lines)
        summary.pending = sum(line.pending for line in lines)
        summary.running = sum(line.gone is None and line.phase == "Running" for line in lines)
        summary.gone = sum(line.gone is not None for line in lines)
        summary.waits = waits_of([line.waited for line in lines if line.waited is not None])
        summary.attempts = dict(sorted(self._attempts.items()))
        summary.calls = {}
        for (actor, code), count in sorted(self._calls.items()):
            summary.calls.setdefault(actor, {})[str(code)] = count
        summary.refused_calls = sum(count for (_, code), count in self._calls.items() if code >= 400)
        summary.loop = self._loop.loop_time()
        return summary

    def findings(self) -> list[Finding]:
        """The findings so far."""
        return self._findings.findings()
