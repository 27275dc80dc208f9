"""Jobs: claimed once, kept while their worker lives, taken up when it is gone."""

import time
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from simulations import leases, queries, results, services
from simulations.leases import Lease, LeaseLostError, StorageFullError
from simulations.models import JobState, Run, Span, TraceRecord
from simulations.tasks import execute_run, reap

pytestmark = pytest.mark.django_db
RECORD = (1, 0, "runs//x", "begin", 0, b"{}")
SPAN = (1, 1, 0, None, b"[1]")


@pytest.fixture
def sent(monkeypatch):
    """What is handed to the workers."""
    found = []
    monkeypatch.setattr(execute_run, "apply_async", lambda args, **_kwargs: found.append(args[0]))
    monkeypatch.setattr(execute_run, "delay", found.append)
    return found


@pytest.fixture
def run(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        return services.create_run(services.base_of_sample("race-higher-takes"), services.RunRequest())


def expire(run, **changes):
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1), **changes)


def claim(run):
    return leases.claim(Run, run.pk, seq=0, sim_time=0)


def test_only_one_claims_a_run_and_a_lease_that_ran_out_may_be_taken(run):
    mine = claim(run)
    assert claim(run) is None
    expire(run)
    theirs = claim(run)
    assert (mine.attempt, theirs.attempt) == (1, 2)
    with pytest.raises(LeaseLostError):
        leases.renew(mine)
    with pytest.raises(LeaseLostError):
        leases.finish(mine, JobState.SUCCEEDED)
    with pytest.raises(LeaseLostError):
        results.store_batch(mine, [RECORD], [], 0, 0.0)
    assert not TraceRecord.objects.exists()


def test_a_new_attempt_starts_from_nothing(run):
    results.store_batch(claim(run), [RECORD], [SPAN], 5, 0.5)
    expire(run)
    theirs = claim(run)
    results.forget_older_attempts(theirs)
    assert (theirs.seq, theirs.sim_time, theirs.progress) == (0, 0, 0.0)
    assert not TraceRecord.objects.exists()
    assert not Span.objects.exists()


def test_a_batch_whose_commit_was_not_heard_of_is_not_stored_twice(run):
    mine = claim(run)
    for _ in range(2):
        results.store_batch(mine, [RECORD], [SPAN], 0, 0.0)
    assert TraceRecord.objects.count() == 1


def test_a_job_without_a_worker_is_queued_again_and_announced_once(run, sent):
    claim(run)
    expire(run)
    reap()
    reap()
    assert queries.run(run.pk).state == "queued"
    assert sent == [run.pk, run.pk], "once at its creation and once by the reaper"


def test_a_job_whose_worker_lives_is_left_alone(run, sent):
    claim(run)
    reap()
    assert (queries.run(run.pk).state, sent) == ("running", [run.pk])


@pytest.mark.parametrize(
    "changes, state", [({"cancel_requested": True}, "cancelled"), ({"attempt": leases.MAX_ATTEMPTS}, "failed")]
)
def test_an_orphan_that_nobody_wants_or_that_kills_its_workers_ends(run, sent, changes, state):
    claim(run)
    expire(run, **changes)
    reap()
    found = queries.run(run.pk)
    assert (found.state, found.error_code) == (state, "E0603" if state == "failed" else "")
    assert sent == [run.pk]


@pytest.mark.parametrize("announced, again", [(None, True), (90, True), (10, False)], ids=["never", "lost", "waiting"])
def test_a_queued_job_whose_message_is_lost_is_announced_again(run, sent, announced, again):
    moment = None if announced is None else timezone.now() - timedelta(seconds=announced)
    Run.objects.filter(pk=run.pk).update(announced=moment)
    sent.clear()
    reap()
    assert sent == ([run.pk] if again else [])


def test_cancelling_a_run_whose_worker_is_gone_ends_it_at_once(run):
    claim(run)
    expire(run)
    assert services.cancel_run(run.pk).state == JobState.CANCELLED


class Database:
    """Answers after so many failures."""

    def __init__(self, failures):
        self.failures = list(failures)

    def write(self):
        if self.failures:
            raise self.failures.pop(0)
        return "written"


def test_a_write_waits_for_a_database_that_is_away(monkeypatch):
    monkeypatch.setattr(leases.connection, "close", lambda: None)
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    gone = OperationalError("server closed the connection")
    assert leases.patiently(Database([gone, gone]).write) == "written"
    with pytest.raises(OperationalError):
        leases.patiently(Database([gone]).write, seconds=-1)
    with pytest.raises(StorageFullError):
        leases.patiently(Database([OperationalError("database or disk is full")]).write)


@pytest.mark.django_db(transaction=True)
def test_a_lease_is_renewed_while_the_work_goes_on_and_hears_of_a_cancel(sent, monkeypatch):
    monkeypatch.setattr(leases, "HEARTBEAT", 0.0)
    monkeypatch.setattr(leases, "LOOK_FOR_CANCEL", 0.01)
    run = services.create_run(services.base_of_sample("race-higher-takes"), services.RunRequest())
    mine = claim(run)
    with Lease(mine) as lease:
        services.cancel_run(run.pk)
        assert until(lambda: lease.cancelled)
        assert until(lambda: Run.objects.get(pk=run.pk).heartbeat > mine.heartbeat)
        Run.objects.filter(pk=run.pk).update(lease_owner="another")
        assert until(lambda: lease.lost)


def until(holds, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()
