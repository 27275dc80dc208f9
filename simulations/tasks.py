"""Celery tasks. They take ids, are safe to run twice, and leave no job without an end."""

import logging
import os
import socket
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from django.db import transaction
from django.utils import timezone

from simulations import events, results
from simulations.analysis.reading import subject_of
from simulations.analysis.span_types import encode_span
from simulations.engine.documents import Limits
from simulations.engine.kernel.clock import SECOND, SimTime
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.trace_format import encode
from simulations.engine.whatif import compose
from simulations.importers.kubectl import Import, import_objects
from simulations.models import Cluster, ImportJob, JobState, LeasedJob, Run, Snapshot
from simulations.pipelines.prepare import scenario_of_document
from simulations.pipelines.simulate import Batch, Hooks, simulate

logger = logging.getLogger(__name__)
HEARTBEAT = 5.0
LOOK_FOR_CANCEL = 0.25
WORTH_A_PAUSE = 0.02


def _owner() -> str:
    return f"{socket.gethostname()}/{os.getpid()}/{time.monotonic_ns()}"


def _look_again(task: Any, model: type[LeasedJob], pk: int) -> None:
    """Somebody has the job: look again when their lease ends, for this may be the second delivery after they were killed."""
    left = results.seconds_until_free(model, pk)
    if left is not None:
        task.apply_async((pk,), countdown=left + 1)


@shared_task(name="simulations.execute_run")
def execute_run(run_id: int) -> None:
    """Simulate a run and store its trace; a run that someone else has, or that is finished, is left alone."""
    run = results.claim(Run, run_id, _owner())
    if run is None:
        _look_again(execute_run, Run, run_id)
        return
    try:
        results.forget_older_attempts(run)
        document = results.decompress(run.scenario.document)
        if run.scenario.snapshot is not None:
            document = compose(document, results.decompress(run.scenario.snapshot.objects_blob))
        _simulate(run, document)
    except results.LeaseLostError:
        logger.warning("run %s was taken over; this worker stops", run_id)
    except ScenarioErrors as found:
        first = found.errors[0]
        results.finish(run, JobState.FAILED, error_code=first.code, error_message=str(found))
    except Exception:
        logger.exception("run %s failed", run_id)
        text = f"The simulation stopped on an internal error; the worker's log has it under run {run_id}."
        results.finish(run, JobState.FAILED, error_code="E0602", error_message=text)
    finally:
        events.run_advanced(run_id, -1)


def _simulate(run: Run, document: dict[str, Any]) -> None:
    writer = _Writer(run)
    outcome = simulate(scenario_of_document(document), run.seed, Hooks(writer.store, writer.on_time, lambda: writer.cancelled))
    results.finish(
        run, JobState.CANCELLED if outcome.reason == "Cancelled" else JobState.SUCCEEDED, summary=outcome.summary,
        findings=outcome.findings, findings_count=len(outcome.findings), sim_time=outcome.sim_time, seq=outcome.seq, progress=1.0,
    )  # fmt: skip


class _Writer:
    """Stores batches, keeps the lease, and holds back a paced run to its pace."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.cancelled = False
        self._looked = time.monotonic()
        self._origin: tuple[SimTime, float] | None = None

    def store(self, batch: Batch) -> None:
        """Store one batch and announce it."""
        records = [(r.seq, r.t, subject_of(r)[:600], r.verb, r.cause, encode(r).rstrip(b"\n")) for r in batch.records]
        spans = [(s.id, s.seq, s.start, s.end, encode_span(s)) for s in batch.spans]
        self.cancelled = results.store_batch(self.run, records, spans, batch.sim_time, batch.progress) or self.cancelled
        self._looked = time.monotonic()
        events.run_advanced(self.run.pk, batch.records[-1].seq)

    def on_time(self, now: SimTime, flush: Callable[[], None]) -> None:
        """Simulated time is about to move on."""
        if self.run.pace <= 0 or now < 0:
            self._keep_alive(HEARTBEAT)
            return
        if self._origin is None:
            self._origin = (now, time.monotonic())
        due = self._origin[1] + (now - self._origin[0]) / SECOND / self.run.pace
        if due - time.monotonic() > WORTH_A_PAUSE:
            flush()
        while not self.cancelled and (left := due - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_FOR_CANCEL))
            self._keep_alive(LOOK_FOR_CANCEL)

    def _keep_alive(self, every: float) -> None:
        if time.monotonic() - self._looked >= every:
            self._looked = time.monotonic()
            self.cancelled = results.renew(self.run) or self.cancelled


@shared_task(name="simulations.run_import")
def run_import(job_id: int) -> None:
    """Read the files of an import; all of them become a cluster, or nothing does."""
    job = results.claim(ImportJob, job_id, _owner())
    if job is None:
        _look_again(run_import, ImportJob, job_id)
        return
    try:
        _import(job)
    except results.LeaseLostError:
        logger.warning("import %s was taken over; this worker stops", job_id)
    except Exception:
        logger.exception("import %s failed", job_id)
        text = f"The import stopped on an internal error; the worker's log has it under import {job_id}."
        results.finish(job, JobState.FAILED, error_code="E0602", error_message=text)


def _import(job: ImportJob) -> None:
    results.note_step(job, "reading files", 0.02)
    sources = [(f.name, zlib.decompress(bytes(f.content))) for f in job.files.all()]
    looked = time.monotonic()

    def on_progress(done: int, whole: int) -> None:
        nonlocal looked
        if time.monotonic() - looked >= LOOK_FOR_CANCEL:
            looked = time.monotonic()
            results.note_step(job, f"{done:,} of {whole:,} objects checked", 0.1 + 0.8 * done / max(whole, 1))

    limit = max((len(content) for _name, content in sources), default=0) + 1
    found = import_objects(sources, Limits(file_bytes=limit), on_progress)
    receipt = found.receipt.as_dict()
    if found.receipt.refused:
        first = found.receipt.errors[0]
        results.finish(job, JobState.FAILED, receipt=receipt, error_code=first.code, error_message=first.message, progress=1.0)
    else:
        with transaction.atomic():
            cluster = keep_import(job.name, found)
            results.finish(job, JobState.SUCCEEDED, receipt=receipt, cluster=cluster, step="done", progress=1.0)
    job.files.all().delete()


def keep_import(name: str, found: Import) -> Cluster:
    """Store an import that has no errors as a cluster with its first snapshot."""
    receipt = found.receipt.as_dict()
    counts = receipt["counts"]
    cluster = Cluster.objects.create(name=name or "imported", kind=Cluster.Kind.IMPORTED, counts=counts, receipt=receipt)
    Snapshot.objects.create(
        cluster=cluster, objects_blob=results.compress(found.objects), taken_at=found.newest or datetime.now(UTC),
        nodes=counts.get("Node", 0), pods=counts.get("Pod", 0), pending=found.receipt.pending,
    )  # fmt: skip
    return cluster


@worker_ready.connect
def take_up_what_waits(**_kwargs: Any) -> None:
    """A worker came up: jobs that were never announced, or whose worker died, start now."""
    now = timezone.now()
    for model, task in ((Run, execute_run), (ImportJob, run_import)):
        waiting = model._default_manager.filter(state=JobState.QUEUED, announced=None)
        orphaned = model._default_manager.filter(state=JobState.RUNNING, lease_until__lt=now)
        for pk in [*waiting.values_list("pk", flat=True), *orphaned.values_list("pk", flat=True)]:
            task.delay(pk)
