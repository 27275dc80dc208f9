"""Writes what a run produced: records, spans, and how far it is. One transaction a batch."""

import json
import zlib
from typing import Any

from django.db import connection, transaction

from simulations.leases import advance, renew
from simulations.models import ImportJob, Run, Span, TraceRecord

RecordRow = tuple[int, int, str, str, int, bytes]
"""seq, t, subject, verb, cause, body."""
SpanRow = tuple[int, int, int, int | None, bytes]
"""span id, changed seq, start, end, body."""
_RECORD_COLUMNS = "run_id, attempt, seq, t, subject, verb, cause, body"
_RECORD_TYPES = ("int8", "int4", "int8", "int8", "varchar", "varchar", "int8", "bytea")


def compress(value: Any) -> bytes:
    """JSON, compressed."""
    return zlib.compress(json.dumps(value, separators=(",", ":"), default=str).encode(), 6)


def decompress(blob: bytes | memoryview) -> Any:
    """The value of `compress`."""
    return json.loads(zlib.decompress(bytes(blob)))


def forget_older_attempts(run: Run) -> None:
    """Remove what earlier attempts of a run left."""
    for model in (TraceRecord, Span):
        model._default_manager.filter(run_id=run.pk, attempt__lt=run.attempt).delete()


def store_batch(run: Run, records: list[RecordRow], spans: list[SpanRow], sim_time: int, progress: float) -> None:
    """Store a batch whole or not at all; a batch that is there already is left as it is.

    Raises:
        LeaseLostError: the run is someone else's by now.
    """
    with transaction.atomic():
        if advance(run, records[-1][0], sim_time=sim_time, progress=progress):
            _insert_records(run, records)
            _upsert_spans(run, spans)


def _insert_records(run: Run, rows: list[RecordRow]) -> None:
    """COPY on PostgreSQL, `executemany` elsewhere."""
    table = connection.ops.quote_name(TraceRecord._meta.db_table)
    full = [(run.pk, run.attempt, *row) for row in rows]
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            sql = f"INSERT INTO {table} ({_RECORD_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"  # noqa: S608  # our own table's name
            cursor.executemany(sql, full)
            return
        with (
            connection.wrap_database_errors,
            cursor.cursor.copy(f"COPY {table} ({_RECORD_COLUMNS}) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(_RECORD_TYPES)
            for row in full:
                copy.write_row(row)


def _upsert_spans(run: Run, rows: list[SpanRow]) -> None:
    """One statement with arrays on PostgreSQL, `executemany` elsewhere."""
    if not rows:
        return
    table = connection.ops.quote_name(Span._meta.db_table)
    end = connection.ops.quote_name("end")
    head = f"INSERT INTO {table} (run_id, attempt, span_id, changed_seq, start, {end}, body) "
    tail = (
        f" ON CONFLICT (run_id, attempt, span_id) DO UPDATE SET changed_seq = excluded.changed_seq, {end} = excluded.{end}, "
        "body = excluded.body"
    )
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            cursor.executemany(head + "VALUES (%s, %s, %s, %s, %s, %s, %s)" + tail, [(run.pk, run.attempt, *row) for row in rows])
            return
        arrays = "unnest(%s::int8[], %s::int8[], %s::int8[], %s::int8[], %s::bytea[])"
        columns = [list(column) for column in zip(*rows, strict=True)]
        cursor.execute(f"{head}SELECT %s, %s, * FROM {arrays}{tail}", [run.pk, run.attempt, *columns])  # noqa: S608


def note_step(job: ImportJob, step: str, progress: float) -> None:
    """Say what an import is doing.

    Raises:
        LeaseLostError: the import is someone else's by now.
    """
    renew(job, step=step, progress=min(1.0, progress))
