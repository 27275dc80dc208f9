"""Services, results and queries over a real database; no broker answers here, so jobs stay queued."""

import pytest
from django.core.files.base import ContentFile

from simulations import queries, services
from simulations.access import EVERYBODY
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.whatif import AddPods, WhatIf
from simulations.models import ImportJob, JobState, Run, Span, TraceRecord
from simulations.tasks import execute_run, run_import

pytestmark = pytest.mark.django_db

DUMP = b"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '10'}}\n"


@pytest.fixture
def base():
    return services.base_of_sample("race-higher-takes")


@pytest.fixture
def quiet(monkeypatch):
    """Jobs are started by hand here."""
    monkeypatch.setattr(services, "_announce", lambda job, task: None)


@pytest.fixture
def finished(base, quiet):
    """A run that was simulated in this process."""
    run = services.create_run(base, services.RunRequest())
    execute_run(run.pk)
    return queries.run(run.pk)


def test_without_a_broker_a_run_waits_and_says_so(base, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        run = services.create_run(base, services.RunRequest())
    row = queries.run(run.pk)
    assert (row.state, row.queued_without_worker) == ("queued", True)


def test_the_same_form_sent_twice_makes_one_run(base, quiet):
    runs = [services.create_run(base, services.RunRequest(token="t")) for _ in range(2)]
    assert runs[0].pk == runs[1].pk
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    "what_if, code",
    [
        (WhatIf(add_pods=AddPods(count=0)), "E0713"),
        (WhatIf(add_pods=AddPods(cpu="lots")), "E0716"),
        (WhatIf(add_pods=AddPods(priority=1, priority_class="low")), "E0717"),
        (WhatIf(add_pods=AddPods(priority_class="nobody")), "E0720"),
        (WhatIf(seed=-1), "E0710"),
        (WhatIf(api_latency="soon"), "E0711"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_change_out_of_its_limits_is_refused_and_nothing_is_kept(base, what_if, code):
    with pytest.raises(ScenarioErrors) as found:
        services.create_run(base, services.RunRequest(what_if))
    assert [error.code for error in found.value.errors] == [code]
    assert not Run.objects.exists()


def test_a_run_is_stored_with_its_summary_and_spans(finished):
    assert (finished.state, finished.summary["victims"], finished.progress) == ("succeeded", 1, 1.0)
    assert TraceRecord.objects.filter(run_id=finished.id).count() == finished.seq
    batch = queries.spans_after(finished.id, 0)
    assert (batch.from_seq, batch.to_seq, batch.more) == (0, finished.seq, False)
    assert len(batch.spans) == Span.objects.filter(run_id=finished.id).count()


@pytest.mark.parametrize("limit", [1, 3, 7, 1000])
def test_pages_of_spans_add_up_to_all_of_them(finished, limit):
    cursor, spans = 0, {}
    for _page in range(1000):
        batch = queries.spans_after(finished.id, cursor, limit)
        assert batch.from_seq == cursor
        for body in batch.spans:
            spans[body.split(b",", 1)[0]] = body
        cursor = batch.to_seq
        if not batch.more:
            break
    assert cursor == finished.seq
    assert len(spans) == Span.objects.filter(run_id=finished.id).count()


def test_a_finished_run_is_left_alone_by_a_second_delivery(finished):
    execute_run(finished.id)
    assert queries.run(finished.id).attempt == finished.attempt


def test_why_reads_the_stored_trace(finished):
    answer = queries.why(finished.id, "default/slow-1")
    assert answer.victim.preemptor == "default/normal-1"
    assert queries.why(finished.id, "default/nobody") is None


def test_a_table_is_streamed_and_an_unknown_one_refused(finished):
    text = "".join(queries.table_lines(finished.id, "preemptions"))
    assert "slow-1" in text
    assert text.endswith("\r\n")
    with pytest.raises(queries.UnknownTableError, match="E0504"):
        queries.table_lines(finished.id, "nonsense")


def test_cancelling_a_queued_run_cancels_it_at_once(base, quiet):
    run = services.create_run(base, services.RunRequest())
    assert services.cancel_run(run.pk).state == JobState.CANCELLED
    execute_run(run.pk)
    assert queries.run(run.pk).state == "cancelled"


def test_an_import_becomes_a_cluster_with_a_receipt(quiet):
    job = services.create_import([("n.yaml", [DUMP])], "mine")
    run_import(job.pk)
    row = queries.import_job(job.pk)
    assert (row.state, row.receipt["counts"]) == ("succeeded", {"Node": 1})
    assert queries.cluster(row.cluster_id).nodes == 1
    assert not job.files.exists()


@pytest.mark.parametrize("content", [b"a: [", b"\x00\x01", "é".encode("utf-16"), DUMP + b"---\n" + DUMP])
def test_a_bad_import_keeps_nothing(quiet, content):
    job = services.create_import([("bad.yaml", ContentFile(content).chunks())])
    run_import(job.pk)
    row = queries.import_job(job.pk)
    assert (row.state, row.cluster_id) == ("failed", None)
    assert row.error_code.startswith("E0")
    assert not queries.clusters(EVERYBODY)


def test_an_upload_over_the_limit_is_refused_while_it_comes(settings):
    settings.MAX_UPLOAD_BYTES = 1000
    sent = []

    def chunks():
        for _ in range(100):
            sent.append(1)
            yield b"x" * 300

    with pytest.raises(ScenarioErrors, match="E0101"):
        services.create_import([("big.yaml", chunks())])
    assert len(sent) == 4
    assert not ImportJob.objects.exists()
