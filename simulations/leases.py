"""Who does a job: claimed by compare-and-set, kept by a lease, taken up again when its worker is gone.

A job (a run or an import) belongs to one attempt of one worker while that worker renews the lease. Whoever finds the lease run
out may start the next attempt; the worker that lost it finds out at its next write, and stops.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, Self, TypeVar

from django.db import InterfaceError, OperationalError, connection
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from simulations.models import JobState, LeasedJob

logger = logging.getLogger(__name__)
LEASE: Final = timedelta(seconds=15)
HEARTBEAT: Final = 5.0
LOOK_FOR_CANCEL: Final = 0.25
WAIT_FOR_DATABASE: Final = 60.0
ANNOUNCE_AGAIN: Final = timedelta(seconds=60)
MAX_ATTEMPTS: Final = 12
DIED_TOO_OFTEN: Final = "E0603"
T = TypeVar("T")


class LeaseLostError(Exception):
    """Someone else took the job over: whoever had it must stop writing."""


class StorageFullError(Exception):
    """The database has no room left."""


def patiently(write: Callable[[], T], seconds: float = WAIT_FOR_DATABASE) -> T:
    """Do a write again while the database is away, at most so long. The write must be one transaction that is safe to repeat.

    Raises:
        StorageFullError: its disk is full.
        django.db.OperationalError: it stayed away.
    """
    deadline, pause = time.monotonic() + seconds, 0.1
    while True:
        try:
            return write()
        except (OperationalError, InterfaceError) as error:
            connection.close()
            if _is_full(error):
                raise StorageFullError(str(error)) from error
            if time.monotonic() > deadline:
                raise
            logger.warning("the database does not answer (%s); trying again", error)
            time.sleep(pause)
            pause = min(2.0, pause * 2)


def _is_full(error: BaseException) -> bool:
    """PostgreSQL says it by its code, SQLite by its words."""
    return getattr(error.__cause__, "sqlstate", None) == "53100" or "is full" in str(error)


# -- claiming, renewing, ending ------------------------------------------------------------------------------------


def owner_of_this_process() -> str:
    """A name for one attempt of this process that no other attempt has."""
    return f"{socket.gethostname()}/{os.getpid()}/{time.monotonic_ns()}"


def claim(model: type[LeasedJob], pk: int, **reset: Any) -> Any:
    """Take a job that is queued, or whose lease ran out, and set fields back; None if someone else has it or it is finished."""
    now = timezone.now()
    free = Q(state=JobState.QUEUED) | Q(state=JobState.RUNNING, lease_until__lt=now)
    taken = model._default_manager.filter(free, pk=pk).update(
        state=JobState.RUNNING, attempt=F("attempt") + 1, lease_owner=owner_of_this_process(), lease_until=now + LEASE, heartbeat=now,
        started=now, progress=0.0, error_code="", error_message="", **reset,
    )  # fmt: skip
    return model._default_manager.get(pk=pk) if taken else None


def _mine(job: LeasedJob) -> QuerySet[Any]:
    return type(job)._default_manager.filter(
        pk=job.pk, attempt=job.attempt, lease_owner=job.lease_owner, state=JobState.RUNNING
    )  # fmt: skip


def renew(job: LeasedJob, **changes: Any) -> None:
    """Renew the lease, and store changes with it.

    Raises:
        LeaseLostError: the job is someone else's by now.
    """
    now = timezone.now()
    if not _mine(job).update(lease_until=now + LEASE, heartbeat=now, **changes):
        raise LeaseLostError


def advance(job: LeasedJob, seq: int, **changes: Any) -> bool:
    """Renew the lease of a run that reaches record `seq`; False: it had reached it before (a repeated write).

    Raises:
        LeaseLostError: the run is someone else's by now.
    """
    now = timezone.now()
    mine = _mine(job)
    if mine.filter(seq__lt=seq).update(seq=seq, lease_until=now + LEASE, heartbeat=now, **changes):
        return True
    if mine.exists():
        return False
    raise LeaseLostError


def finish(job: LeasedJob, state: JobState, **changes: Any) -> None:
    """Write how the job ended.

    Raises:
        LeaseLostError: the job is someone else's by now.
    """
    if not _mine(job).update(state=state, finished=timezone.now(), lease_until=None, **changes):
        raise LeaseLostError


class Lease:
    """Keeps a job's lease while a `with` block works on it, and looks whether the user asked to cancel.

    A thread does it, so that neither a long step of the work nor a slow start loses the job.

    Attributes:
        cancelled: the user asked to cancel.
        lost: someone else has the job.
    """

    def __init__(self, job: LeasedJob) -> None:
        self.job = job
        self.cancelled = job.cancel_requested
        self.lost = False
        self._done = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name=f"lease of {type(job).__name__} {job.pk}", daemon=True)

    def __enter__(self) -> Self:
        self._keeper.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._done.set()
        self._keeper.join()

    @property
    def should_stop(self) -> bool:
        """Whether the work is no longer wanted."""
        return self.cancelled or self.lost

    def _keep(self) -> None:
        renewed = time.monotonic()
        while not self.lost and not self._done.wait(LOOK_FOR_CANCEL):
            try:
                self.cancelled = self.cancelled or self._asked_to_cancel()
                if time.monotonic() - renewed >= HEARTBEAT:
                    renew(self.job)
                    renewed = time.monotonic()
            except LeaseLostError:
                self.lost = not self._done.is_set()
            except (OperationalError, InterfaceError):
                connection.close()
        connection.close()

    def _asked_to_cancel(self) -> bool:
        return bool(type(self.job)._default_manager.filter(pk=self.job.pk).values_list("cancel_requested", flat=True).first())


def announce(job: LeasedJob, task: Any) -> None:
    """Hand a job to the workers; without a broker it stays queued, and a worker that comes up takes it."""
    try:
        task.apply_async((job.pk,), retry=False)
    except Exception:  # whatever the broker's client raises
        logger.warning("%s %s waits: no broker answers", type(job).__name__, job.pk)
        return
    type(job)._default_manager.filter(pk=job.pk).update(announced=timezone.now())


# -- the reaper ----------------------------------------------------------------------------------------------------


def free_the_orphaned(model: type[LeasedJob]) -> None:
    """Jobs whose worker is gone: queued again; or ended, if their user gave up on them or they killed too many workers."""
    now = timezone.now()
    orphaned = model._default_manager.filter(state=JobState.RUNNING, lease_until__lt=now)
    orphaned.filter(cancel_requested=True).update(state=JobState.CANCELLED, finished=now, lease_until=None)
    text = f"The worker died {MAX_ATTEMPTS} times while it did this; the scenario may need more memory than a worker has."
    orphaned.filter(attempt__gte=MAX_ATTEMPTS).update(
        state=JobState.FAILED, finished=now, lease_until=None, error_code=DIED_TOO_OFTEN, error_message=text
    )
    orphaned.update(state=JobState.QUEUED, lease_owner="", lease_until=None, announced=None)


def to_announce(model: type[LeasedJob]) -> list[int]:
    """Queued jobs that no message speaks of, or none that we heard of for a minute; each is handed out once a minute."""
    now = timezone.now()
    waiting = model._default_manager.filter(Q(announced=None) | Q(announced__lt=now - ANNOUNCE_AGAIN), state=JobState.QUEUED)
    found = list(waiting.order_by("pk").values_list("pk", "announced"))
    return [pk for pk, before in found if waiting.filter(pk=pk, announced=before).update(announced=now)]
