"""The tables that can be exported, each a fold over the records of a run.

Rows of happenings come as they happen; rows of things (pods, nodes) come at the end. Columns are only ever appended to.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from simulations.analysis.columns import TIME_COLUMNS, Calendar, Column, Row, number, seconds
from simulations.analysis.ledger import PodLedger
from simulations.analysis.span_types import Span
from simulations.analysis.spans import SpanFold
from simulations.analysis.words import of
from simulations.engine.kernel.trace import Record


class Table:
    """A table: feed it the records in order, then finish it."""

    NAME: ClassVar[str]
    COLUMNS: ClassVar[tuple[Column, ...]]

    def __init__(self) -> None:
        self.calendar = Calendar()

    def feed(self, record: Record) -> Iterable[Row]:
        """The rows that this record completes."""
        if record.verb == "begin":
            self.calendar = Calendar(of(record.data, "startTime") or "")
        return self.rows(record)

    def rows(self, record: Record) -> Iterable[Row]:
        """The rows that this record completes; the calendar is set."""
        return ()

    def finish(self) -> Iterable[Row]:
        """The rows that were complete only now."""
        return ()

    def when(self, record: Record) -> Row:
        """The cells of `TIME_COLUMNS`."""
        return self.calendar.utc(record.t), seconds(record.t), record.seq


class ManifestTable(Table):
    """What was run: a key and a value a row; lists have a row per entry."""

    NAME = "manifest"
    COLUMNS = (Column("key", "what is stated, such as `scenario` or `modelled`"), Column("value", "its value"))

    def rows(self, record: Record) -> Iterator[Row]:
        """The first record holds all but how the run ended."""
        if record.verb == "begin":
            for key, value in (record.data or {}).items():
                yield from _flat(key, value)
        elif record.verb == "end":
            yield "ended", record.reason
            yield "ended_sim_seconds", seconds(record.t)
            yield "records", str(record.seq)
            yield from _flat("counts", of(record.data, "counts") or {})


def _flat(key: str, value: Any) -> Iterator[Row]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _flat(f"{key}.{name}", part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _flat(key, part)
    elif isinstance(value, bool):
        yield key, str(value).lower()
    else:
        yield key, None if value is None else str(value)


class EventsTable(Table):
    """The Kubernetes events that components wrote."""

    NAME = "events"
    COLUMNS = (
        *TIME_COLUMNS,
        Column("actor", "who wrote it"),
        Column("type", "Normal or Warning"),
        Column("reason", "one word, such as FailedScheduling"),
        Column("action", "what was being done"),
        Column("regarding_kind", "kind of the object that it is about"),
        Column("regarding_namespace", "its namespace"),
        Column("regarding_name", "its name"),
        Column("related_kind", "kind of the other object, such as the preemptor"),
        Column("related_namespace", "its namespace"),
        Column("related_name", "its name"),
        Column("note", "the text"),
        number("code", "the API server's answer; 4xx and 5xx: the event was not stored"),
    )

    def rows(self, record: Record) -> Iterator[Row]:
        """One row per write."""
        if record.resource != "events":
            return
        data = record.data or {}
        about, related = data.get("regarding") or {}, data.get("related") or {}
        yield (
            *self.when(record),
            record.actor,
            data.get("type"),
            data.get("reason"),
            data.get("action"),
            *(about.get(part) for part in ("kind", "namespace", "name")),
            *(related.get(part) for part in ("kind", "namespace", "name")),
            data.get("note"),
            record.code,
        )


class AttemptsTable(Table):
    """Every scheduling cycle."""

    NAME = "attempts"
    COLUMNS = (
        *TIME_COLUMNS,
        Column("namespace", "of the pod"),
        Column("name", "of the pod"),
        number("priority", "of the pod"),
        number("attempt", "which attempt of this pod, from 1"),
        number("started_sim_seconds", "when the cycle began, in seconds since T+0"),
        number("cycle_seconds", "how long the cycle took"),
        Column("result", "Scheduled, Unschedulable or Error"),
        Column("node", "the chosen node"),
        number("nodes", "nodes in the cluster"),
        number("evaluated", "nodes that were looked at"),
        number("feasible", "nodes that passed Filter"),
        number("top_score", "total score of the chosen node; empty where nothing was scored"),
        number("tied", "nodes that shared the top score"),
        Column("profile", "the scheduler name"),
        Column("message", "why it failed"),
    )

    def __init__(self) -> None:
        super().__init__()
        self._ledger = PodLedger()

    def rows(self, record: Record) -> Iterator[Row]:
        """One row per `attempt` record."""
        self._ledger.feed(record)
        if record.verb != "attempt":
            return
        line = self._ledger.find(record.namespace, record.name, record.uid)
        data = record.data or {}
        started = data.get("started", record.t)
        totals = of(data.get("scores"), "total") or ()
        yield (
            *self.when(record),
            record.namespace,
            record.name,
            line.priority if line is not None else None,
            data.get("attempt", line.attempts if line is not None else None),
            seconds(started),
            seconds(record.t - started),
            record.reason,
            data.get("node"),
            data.get("nodes"),
            data.get("evaluated"),
            data.get("feasible"),
            max(totals) if totals else None,
            data.get("tie"),
            data.get("profile"),
            record.message or None,
        )


class PreemptionsTable(Table):
    """A row per victim of each preemption."""

    NAME = "preemptions"
    COLUMNS = (
        *TIME_COLUMNS,
        Column("preemptor_namespace", "of the pod that needs room"),
        Column("preemptor_name", "of the pod that needs room"),
        number("preemptor_priority", "of the pod that needs room"),
        Column("victim_namespace", "of the pod that must go"),
        Column("victim_name", "of the pod that must go"),
        number("victim_priority", "of the pod that must go"),
        Column("node", "where the room is made"),
        number("pdb_violated", "whether a disruption budget did not allow it"),
        Column("rule", "which rule decided among the candidate nodes"),
        Column("executor", "async or sync"),
    )

    def __init__(self) -> None:
        super().__init__()
        self._ledger = PodLedger()

    def rows(self, record: Record) -> Iterator[Row]:
        """The victims of a `preempt` record, in the order in which they are deleted."""
        self._ledger.feed(record)
        if record.verb != "preempt":
            return
        data = record.data or {}
        preemptor = self._ledger.find(record.namespace, record.name, record.uid)
        for victim in data.get("victims") or ():
            yield (
                *self.when(record),
                record.namespace,
                record.name,
                preemptor.priority if preemptor is not None else None,
                victim.get("namespace"),
                victim.get("name"),
                victim.get("priority"),
                data.get("node"),
                bool(victim.get("pdb_violated")),
                data.get("rule"),
                data.get("executor"),
            )


class PodsTable(Table):
    """A row per pod that the run knew, in the order in which they appeared."""

    NAME = "pods"
    COLUMNS = (
        *TIME_COLUMNS,
        Column("namespace", "of the pod"),
        Column("name", "of the pod"),
        Column("uid", "of the pod"),
        number("priority", "of the pod"),
        Column("owner", "kind and name of its controller"),
        number("initial", "whether it was there before the run began; its time is then that of loading"),
        Column("phase", "at the end of the run, or when it left"),
        Column("node", "its node at the end"),
        Column("nominated_node", "the node that it is nominated to at the end"),
        number("bound_sim_seconds", "when it was bound, in seconds since T+0"),
        number("running_sim_seconds", "when it ran first, in seconds since T+0"),
        number("deleted_sim_seconds", "when its deletion was accepted, in seconds since T+0"),
        number("gone_sim_seconds", "when it had left, in seconds since T+0"),
        number("wait_seconds", "from creation to binding"),
        number("attempts", "scheduling cycles"),
        number("preemptions", "how often it preempted others"),
        Column("preempted_by", "the pod that it made room for"),
        number("refused_calls", "calls about it that the API server refused"),
        Column("last_message", "what its last attempt said"),
    )

    def __init__(self) -> None:
        super().__init__()
        self._ledger = PodLedger()

    def rows(self, record: Record) -> Iterable[Row]:
        """Nothing yet: a pod's row is complete at the end."""
        self._ledger.feed(record)
        return ()

    def finish(self) -> Iterator[Row]:
        """A row per pod."""
        for line in self._ledger.lines:
            yield (
                self.calendar.utc(line.created),
                seconds(line.created),
                line.seq,
                line.namespace,
                line.name,
                line.uid,
                line.priority,
                line.owner or None,
                line.initial,
                line.phase,
                line.node or None,
                line.nominated or None,
                *(seconds(time) for time in (line.bound, line.running, line.deletion, line.gone, line.waited)),
                line.attempts,
                line.preemptions,
                line.preempted_by or None,
                line.refused,
                line.last_message or None,
            )


class SpansTable(Table):
    """The timeline as a table: its bars and marks in the order in which they began."""

    NAME = "spans"
    COLUMNS = (
        *TIME_COLUMNS,
        number("end_sim_seconds", "when it ended; empty: it still lasted when the run ended"),
        number("duration_seconds", "how long it lasted"),
        Column("kind", "queued, backoff, attempt, nominated, running and so on"),
        Column("namespace", "of the pod"),
        Column("name", "of the pod"),
        Column("node", "where it is drawn in the mode by node"),
        Column("reason", "one word: why it began, or how it ended"),
        Column("text", "a sentence about it"),
        number("priority", "of the pod"),
    )

    def __init__(self) -> None:
        super().__init__()
        self._fold = SpanFold()
        self._spans: dict[int, Span] = {}

    def rows(self, record: Record) -> Iterable[Row]:
        """Nothing yet: a span may still change."""
        for span in self._fold.feed(record):
            self._spans[span.id] = span
        return ()

    def finish(self) -> Iterator[Row]:
        """A row per span."""
        for span in sorted(self._spans.values(), key=lambda span: (span.start, span.cause, span.id)):
            namespace, _, name = span.pod.rpartition("/")
            yield (
                self.calendar.utc(span.start),
                seconds(span.start),
                span.cause,
                seconds(span.end),
                None if span.end is None else seconds(span.end - span.start),
                span.kind,
                namespace or None,
                name or None,
                span.node or None,
                span.reason or None,
                span.text or None,
                span.priority,
            )


def table_rows(table: Table, records: Iterable[Record]) -> Iterator[Row]:
    """All rows of a table, as far as the records go."""
    for record in records:
        yield from table.feed(record)
    yield from table.finish()
