"""Writes what a run produced: records, spans, and how far it is. One transaction a batch."""

import json
import zlib
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from simulations.models import ImportJob, JobState, LeasedJob, Run, Span, TraceRecord

LEASE = timedelta(seconds=15)
RecordRow = tuple[int, int, str, str, int, bytes]
"""seq, t, subject, verb, cause, body."""
SpanRow = tuple[int, int, int, int | None, bytes]
"""span id, changed seq, start, end, body."""


class LeaseLostError(Exception):
    """Someone else took the job over: whoever had it must stop writing."""


def compress(value: Any) -> bytes:
    """JSON, compressed."""
    return zlib.compress(json.dumps(value, separators=(",", ":"), default=str).encode(), 6)


def decompress(blob: bytes | memoryview) -> Any:
    """The value of `compress`."""
    return json.loads(zlib.decompress(bytes(blob)))


def claim(model: type[LeasedJob], pk: int, owner: str) -> Any:
    """Take a job that is queued, or whose lease ran out; None if someone else has it or it is finished."""
    now = timezone.now()
    free = Q(state=JobState.QUEUED) | Q(state=JobState.RUNNING, lease_until__lt=now)
    taken = model._default_manager.filter(free, pk=pk).update(
        state=JobState.RUNNING, attempt=F("attempt") + 1, lease_owner=owner, lease_until=now + LEASE, heartbeat=now, started=now,
        progress=0.0, error_code="", error_message="",
    )  # fmt: skip
    return model._default_manager.get(pk=pk) if taken else None


def seconds_until_free(model: type[LeasedJob], pk: int) -> float | None:
    """How long until a job that somebody has may be taken over if they do not renew; None: nobody has it."""
    until = model._default_manager.filter(pk=pk, state=JobState.RUNNING).values_list("lease_until", flat=True).first()
    return None if until is None else max(0.0, (until - timezone.now()).total_seconds())


def renew(job: LeasedJob, **changes: Any) -> bool:
    """Renew the lease and store changes; return whether the user asked to cancel.

    Raises:
        LeaseLostError: the job is someone else's by now.
    """
    now = timezone.now()
    mine = type(job)._default_manager.filter(
        pk=job.pk, attempt=job.attempt, lease_owner=job.lease_owner, state=JobState.RUNNING
    )  # fmt: skip
    if not mine.update(lease_until=now + LEASE, heartbeat=now, **changes):
        raise LeaseLostError
    return bool(mine.values_list("cancel_requested", flat=True).get())


def finish(job: LeasedJob, state: JobState, **changes: Any) -> None:
    """Write how the job ended, if it is still ours."""
    type(job)._default_manager.filter(pk=job.pk, attempt=job.attempt, lease_owner=job.lease_owner).update(
        state=state, finished=timezone.now(), lease_until=None, **changes
    )


def forget_older_attempts(run: Run) -> None:
    """Remove what earlier attempts of a run left."""
    for model in (TraceRecord, Span):
        model._default_manager.filter(run_id=run.pk, attempt__lt=run.attempt).delete()


def store_batch(run: Run, records: list[RecordRow], spans: list[SpanRow], sim_time: int, progress: float) -> bool:
    """Store a batch whole or not at all; return whether the user asked to cancel.

    Raises:
        LeaseLostError: the run is someone else's by now.
    """
    with transaction.atomic():
        cancelled = renew(run, seq=records[-1][0], sim_time=sim_time, progress=progress)
        _insert_records(run, records)
        _upsert_spans(run, spans)
    return cancelled


def _insert_records(run: Run, rows: Iterable[RecordRow]) -> None:
    table = connection.ops.quote_name(TraceRecord._meta.db_table)
    sql = f"INSERT INTO {table} (run_id, attempt, seq, t, subject, verb, cause, body) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"  # noqa: S608  # our own table's name
    with connection.cursor() as cursor:
        cursor.executemany(sql, [(run.pk, run.attempt, *row) for row in rows])


def _upsert_spans(run: Run, rows: list[SpanRow]) -> None:
    if not rows:
        return
    table = connection.ops.quote_name(Span._meta.db_table)
    end = connection.ops.quote_name("end")
    sql = (
        f"INSERT INTO {table} (run_id, attempt, span_id, changed_seq, start, {end}, body) VALUES (%s, %s, %s, %s, %s, %s, %s) "  # noqa: S608
        f"ON CONFLICT (run_id, attempt, span_id) DO UPDATE SET changed_seq = excluded.changed_seq, {end} = excluded.{end}, "
        "body = excluded.body"
    )
    with connection.cursor() as cursor:
        cursor.executemany(sql, [(run.pk, run.attempt, *row) for row in rows])


def note_step(job: ImportJob, step: str, progress: float) -> bool:
    """Say what an import is doing; return whether the user asked to cancel.

    Raises:
        LeaseLostError: the import is someone else's by now.
    """
    return renew(job, step=step, progress=min(1.0, progress))
