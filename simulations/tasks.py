"""Celery tasks. They take ids, are safe to run twice, and leave no job without an end."""

import logging
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from celery import shared_task
from celery.signals import worker_ready
from django.db import InterfaceError, OperationalError, transaction

from simulations import events, leases, results
from simulations.analysis.reading import subject_of
from simulations.analysis.span_types import encode_span
from simulations.engine.documents import Limits
from simulations.engine.kernel.clock import SECOND, SimTime
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.trace_format import encode
from simulations.engine.whatif import compose
from simulations.importers.kubectl import Import, import_objects
from simulations.leases import Lease, LeaseLostError, StorageFullError, patiently
from simulations.models import Cluster, FitSearch, ImportJob, JobState, LeasedJob, Run, Snapshot
from simulations.pipelines import counterfactual
from simulations.pipelines.prepare import scenario_of_document
from simulations.pipelines.simulate import Batch, Hooks, simulate

logger = logging.getLogger(__name__)
INTERNAL: Final = "E0602"
STORAGE_FULL: Final = "E0604"
TELL_EVERY: Final = 0.05
FULL_BATCH: Final = 500
SAY_STEP_EVERY: Final = 0.25
WORTH_A_PAUSE: Final = 0.02


def _work(job: LeasedJob, what: str, work: Callable[[Lease], None]) -> None:
    """Do the work under the job's lease; whatever happens, the job ends with a reason or is taken up by someone else."""
    try:
        with Lease(job) as lease:
            work(lease)
    except LeaseLostError:
        logger.warning("%s %s was taken over; this worker stops", what, job.pk)
    except ScenarioErrors as found:
        _fail(job, found.errors[0].code, str(found))
    except StorageFullError as error:
        logger.exception("%s %s: the database is full", what, job.pk)
        _fail(job, STORAGE_FULL, f"The database has no room left ({error}). Make room, then start it again.")
    except (OperationalError, InterfaceError):
        logger.exception("%s %s: the database went away; it is taken up again when that is back", what, job.pk)
    except Exception:
        logger.exception("%s %s failed", what, job.pk)
        _fail(job, INTERNAL, f"It stopped on an internal error; the worker's log has it under {what} {job.pk}.")


def _fail(job: LeasedJob, code: str, message: str) -> None:
    """End the job as failed; where even that cannot be written, its lease runs out and it is done again."""
    try:
        patiently(lambda: leases.finish(job, JobState.FAILED, error_code=code, error_message=message))
    except (LeaseLostError, StorageFullError, OperationalError, InterfaceError):
        logger.exception("job %s: its end could not be written; it will be done again", job.pk)


# -- runs ----------------------------------------------------------------------------------------------------------


@shared_task(name="simulations.execute_run")
def execute_run(run_id: int) -> None:
    """Simulate a run and store its trace; a run that someone else has, or that is finished, is left alone."""
    run = patiently(lambda: leases.claim(Run, run_id, seq=0, sim_time=0))
    if run is not None:
        _work(run, "run", lambda lease: _execute(run, lease))
        events.run_advanced(run_id, -1)


def _execute(run: Run, lease: Lease) -> None:
    document = patiently(lambda: _document_of(run))
    outcome = simulate(scenario_of_document(document), run.seed, _Writer(run, lease).hooks(), batch=FULL_BATCH)
    if lease.lost:
        raise LeaseLostError
    state = JobState.CANCELLED if outcome.reason == "Cancelled" else JobState.SUCCEEDED
    patiently(lambda: leases.finish(
        run, state, summary=outcome.summary, findings=outcome.findings, findings_count=len(outcome.findings),
        sim_time=outcome.sim_time, seq=outcome.seq, progress=1.0,
    ))  # fmt: skip


def _document_of(run: Run) -> dict[str, Any]:
    results.forget_older_attempts(run)
    document: dict[str, Any] = results.decompress(run.scenario.document)
    if run.scenario.snapshot is not None:
        return compose(document, results.decompress(run.scenario.snapshot.objects_blob))
    return document


class _Writer:
    """Stores batches, announces them, and holds back a paced run to its pace."""

    def __init__(self, run: Run, lease: Lease) -> None:
        self.run = run
        self.lease = lease
        self._told = 0.0
        self._origin: tuple[SimTime, float] | None = None

    def hooks(self) -> Hooks:
        """What the simulation calls."""
        return Hooks(self.store, self.on_time if self.run.pace > 0 else None, lambda: self.lease.should_stop)

    def store(self, batch: Batch) -> None:
        """Store one batch and announce it."""
        records = [(r.seq, r.t, subject_of(r)[:600], r.verb, r.cause, encode(r).rstrip(b"\n")) for r in batch.records]
        spans = [(s.id, s.seq, s.start, s.end, encode_span(s)) for s in batch.spans]
        patiently(lambda: results.store_batch(self.run, records, spans, batch.sim_time, batch.progress))
        if len(records) < FULL_BATCH or time.monotonic() - self._told >= TELL_EVERY:
            self._told = time.monotonic()
            events.run_advanced(self.run.pk, batch.records[-1].seq)

    def on_time(self, now: SimTime, flush: Callable[[], None]) -> None:
        """Simulated time is about to move on in a paced run."""
        if now < 0:
            return
        if self._origin is None:
            self._origin = (now, time.monotonic())
        due = self._origin[1] + (now - self._origin[0]) / SECOND / self.run.pace
        if due - time.monotonic() > WORTH_A_PAUSE:
            flush()
        while not self.lease.should_stop and (left := due - time.monotonic()) > 0:
            time.sleep(min(left, leases.LOOK_FOR_CANCEL))


# -- what would let a pod fit ----------------------------------------------------------------------------------------


@shared_task(name="simulations.find_fit")
def find_fit(job_id: int) -> None:
    """Search for the smallest changes that one attempt's pod would have fitted with, and try them out."""
    job = patiently(lambda: leases.claim(FitSearch, job_id))
    if job is not None:
        _work(job, "search", lambda lease: _find_fit(job, lease))


def _find_fit(job: FitSearch, lease: Lease) -> None:
    question = patiently(lambda: question_of(job))
    found = counterfactual.answer(question, should_stop=lambda: lease.should_stop)
    if lease.lost:
        raise LeaseLostError
    state = JobState.CANCELLED if lease.cancelled else JobState.SUCCEEDED
    answer = found.as_dict() if found is not None else None
    patiently(lambda: leases.finish(job, state, answer=answer, progress=1.0))


def question_of(job: FitSearch) -> counterfactual.Question:
    """What is asked: the run's scenario and seed, and the attempt."""
    scenario = job.run.scenario
    objects = results.decompress(scenario.snapshot.objects_blob) if scenario.snapshot is not None else []
    document: dict[str, Any] = results.decompress(scenario.document)
    return counterfactual.Question(document, objects, job.run.seed, job.uid, job.started_at)


# -- imports -------------------------------------------------------------------------------------------------------


@shared_task(name="simulations.run_import")
def run_import(job_id: int) -> None:
    """Read the files of an import; all of them become a cluster, or nothing does."""
    job = patiently(lambda: leases.claim(ImportJob, job_id))
    if job is not None:
        _work(job, "import", lambda lease: _import(job, lease))


def _import(job: ImportJob, lease: Lease) -> None:
    results.note_step(job, "reading files", 0.02)
    sources = [(f.name, zlib.decompress(bytes(f.content))) for f in job.files.all()]
    looked = time.monotonic()

    def on_progress(done: int, whole: int) -> None:
        nonlocal looked
        if lease.lost:
            raise LeaseLostError
        if time.monotonic() - looked >= SAY_STEP_EVERY:
            looked = time.monotonic()
            results.note_step(job, f"{done:,} of {whole:,} objects checked", 0.1 + 0.8 * done / max(whole, 1))

    limit = max((len(content) for _name, content in sources), default=0) + 1
    found = import_objects(sources, Limits(file_bytes=limit), on_progress)
    patiently(lambda: _finish_import(job, found))


@transaction.atomic
def _finish_import(job: ImportJob, found: Import) -> None:
    receipt = found.receipt.as_dict()
    if found.receipt.refused:
        first = found.receipt.errors[0]
        end: dict[str, Any] = {"state": JobState.FAILED, "error_code": first.code, "error_message": first.message}
    else:
        end = {"state": JobState.SUCCEEDED, "cluster": keep_import(job.name, found, job.owner_id), "step": "done"}
    leases.finish(job, receipt=receipt, progress=1.0, **end)
    job.files.all().delete()


def keep_import(name: str, found: Import, owner: int | None = None) -> Cluster:
    """Store an import that has no errors as a cluster with its first snapshot."""
    receipt = found.receipt.as_dict()
    counts = receipt["counts"]
    cluster = Cluster.objects.create(
        name=name or "imported", kind=Cluster.Kind.IMPORTED, counts=counts, receipt=receipt, owner_id=owner
    )  # fmt: skip
    Snapshot.objects.create(
        cluster=cluster, objects_blob=results.compress(found.objects), taken_at=found.newest or datetime.now(UTC),
        nodes=counts.get("Node", 0), pods=counts.get("Pod", 0), pending=found.receipt.pending,
    )  # fmt: skip
    return cluster


# -- housekeeping --------------------------------------------------------------------------------------------------

JOBS: Final[tuple[tuple[type[LeasedJob], Any], ...]] = ((Run, execute_run), (ImportJob, run_import), (FitSearch, find_fit))


@shared_task(name="simulations.reap", ignore_result=True)
def reap() -> None:
    """Take up what nobody does: jobs whose worker is gone, and queued ones whose message was lost or never sent."""
    for model, task in JOBS:
        leases.free_the_orphaned(model)
        for pk in leases.to_announce(model):
            task.delay(pk)


@worker_ready.connect
def take_up_what_waits(**_kwargs: Any) -> None:
    """A worker came up: look at once."""
    try:
        reap()
    except Exception:  # without database or broker the next look does it
        logger.warning("nothing could be taken up yet", exc_info=True)
