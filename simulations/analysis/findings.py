"""Findings: what somebody should look at first. Each names the record where it shows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from simulations.analysis.ledger import PodLedger, PodLine
from simulations.analysis.words import duration, object_name, plural, shortened
from simulations.engine.kernel.clock import SECOND, SimTime
from simulations.engine.kernel.trace import Record

STUCK_AFTER: SimTime = 30 * SECOND
LOOP_FROM = 3
REFUSED_FROM = 3


class FindingKind(StrEnum):
    """What is found."""

    STUCK_NOMINATION = "stuck nomination"
    NEVER_SCHEDULED = "never scheduled"
    PREEMPTION_LOOP = "preemption loop"
    REFUSED_CALLS = "refused calls"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `pod` is where to look, `seq` the record, `count` how many pods, preemptions or calls it is about."""

    kind: str
    title: str
    text: str
    pod: str
    seq: int
    count: int

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON values."""
        return asdict(self)


@dataclass(slots=True)
class _Refused:
    first: Record
    last: SimTime
    count: int = 0


class FindingsFold:
    """Feed it the records of a run, with the ledger that was fed the same; then ask."""

    def __init__(self, ledger: PodLedger) -> None:
        self._ledger = ledger
        self._refused: dict[tuple[str, ...], _Refused] = {}
        self._now: SimTime = 0

    def feed(self, record: Record) -> None:
        """Take in a record."""
        self._now = record.t
        if record.code >= 400 and not _is_stale(record):
            key = (record.actor, record.verb, record.resource, record.namespace, record.name, str(record.code))
            known = self._refused.get(key)
            if known is None:
                known = self._refused[key] = _Refused(record, record.t)
            known.count += 1
            known.last = record.t

    def findings(self) -> list[Finding]:
        """What was found so far, the most urgent kinds first."""
        parts: tuple[Callable[[], Iterator[Finding]], ...] = (self._stuck, self._loops, self._refusals, self._unplaced)
        return [finding for part in parts for finding in part()]

    def _stuck(self) -> Iterator[Finding]:
        for line in self._ledger.lines:
            if line.nominated_at is None or line.node:
                continue
            age = self._now - line.nominated_at
            refused = sum(victim.refused for victim in line.victims)
            if age < STUCK_AFTER and not refused:
                continue
            staying = [victim.key for victim in line.victims if victim.gone is None]
            text = f"{line.key} has been nominated to {line.nominated} for {duration(age)} and is not bound."
            if staying:
                text += f" {shortened(staying)} {'has' if len(staying) == 1 else 'have'} not left."
            if refused:
                text += f" The API server refused {plural(refused, 'deletion')}."
            yield Finding(FindingKind.STUCK_NOMINATION, "Stuck nomination", text, line.key, line.nominated_seq, 1)

    def _loops(self) -> Iterator[Finding]:
        by_owner: dict[str, list[PodLine]] = {}
        for line in self._ledger.lines:
            if line.preempted_by and line.owner and line.replaces is not None and line.replaces.preempted_by:
                by_owner.setdefault(object_name(line.namespace, line.owner), []).append(line)
            if line.preemptions >= LOOP_FROM and line.pending:
                text = f"{line.key} chose victims {line.preemptions:,} times and is still not bound."
                yield Finding(
                    FindingKind.PREEMPTION_LOOP, "Preemption without end", text, line.key, line.last_attempt, line.preemptions
                )
        for owner, lines in by_owner.items():
            if len(lines) >= LOOP_FROM:
                names = shortened([line.key for line in lines])
                text = f"{len(lines)} pods of {owner} that replaced preempted ones were preempted in their turn: {names}."
                last = lines[-1]
                yield Finding(FindingKind.PREEMPTION_LOOP, "Preemption loop", text, last.key, last.preempted_seq, len(lines))

    def _refusals(self) -> Iterator[Finding]:
        for (actor, verb, resource, namespace, name, code), known in self._refused.items():
            if known.count < REFUSED_FROM:
                continue
            what = object_name(namespace, name)
            text = (
                f"{actor}: {verb} {resource} {what} was answered {code} {known.count:,} times"
                f" in {duration(known.last - known.first.t)}"
            )
            text += f": {known.first.message}" if known.first.message else "."
            pod = what if resource.startswith("pods") else ""
            yield Finding(FindingKind.REFUSED_CALLS, "Refused again and again", text, pod, known.first.seq, known.count)

    def _unplaced(self) -> Iterator[Finding]:
        by_message: dict[str, list[PodLine]] = {}
        for line in self._ledger.lines:
            if line.pending and not line.nominated:
                by_message.setdefault(_why(line), []).append(line)
        for message, lines in sorted(by_message.items(), key=lambda item: -len(item[1])):
            yield _unplaced(message, lines)


def _is_stale(record: Record) -> bool:
    """Whether somebody else was quicker to write: the update is made again from what there is now, and nothing is amiss."""
    return record.code == 409 and record.verb == "update"


def _why(line: PodLine) -> str:
    if line.last_message:
        return line.last_message
    if line.queue == "gated":
        return "held back before scheduling"
    return f"never tried; it waits for a scheduler called {line.scheduler}" if line.scheduler else "never tried"


def _unplaced(message: str, lines: Sequence[PodLine]) -> Finding:
    names = shortened([line.key for line in lines])
    text = f"{names} {'has' if len(lines) == 1 else 'have'} no node: {message}"
    first = lines[0]
    title = f"{plural(len(lines), 'pod')} never scheduled"
    return Finding(FindingKind.NEVER_SCHEDULED, title, text, first.key, first.last_attempt or first.seq, len(lines))
