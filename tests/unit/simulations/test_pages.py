"""Pages without a browser: what is shown is escaped, what is not there is said, wrong calls have codes."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from simulations import results, services
from simulations.models import Cluster, Snapshot
from simulations.tasks import execute_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster():
    """A cluster whose annotations and node names are hostile."""
    found = Cluster.objects.create(name="<script>alert(1)</script>", kind="imported", counts={"Pod": 1})
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "<img src=x>", "namespace": "a"}, "spec": {"nodeName": "<b>"}}
    Snapshot.objects.create(cluster=found, objects_blob=results.compress([pod]), taken_at="2026-01-01T00:00:00Z", pods=1)
    return found


@pytest.mark.parametrize("path", ["/", "/runs/", "/clusters/import/", "/runs/new/", "/runs/new/?sample=busy-shop", "/healthz"])
def test_a_page_answers(client, path):
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/runs/9/",
        "/clusters/9/",
        "/clusters/import/9/",
        "/runs/9/why/?pod=a/b",
        "/runs/9/export/pods.csv",
        "/runs/9/export/metrics.prom",
        "/runs/new/?cluster=9",
        "/runs/new/?run=x",
    ],
)
def test_what_is_not_there_is_a_404_with_a_way_on(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert b"Not here" in answer.content


def test_hostile_names_are_escaped(client, cluster):
    for path in ("/runs/", f"/clusters/{cluster.pk}/", f"/runs/new/?cluster={cluster.pk}"):
        text = client.get(path).content.decode()
        assert "<script>alert" not in text
        assert "<img src=x>" not in text


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(services, "_announce", lambda job, task: None)
    made = services.create_run(services.base_of_sample("race-higher-takes"), services.RunRequest())
    execute_run(made.pk)
    return made


@pytest.mark.parametrize("after, status", [("0", 200), ("99999", 200), ("-1", 400), ("x", 400), ("9" * 30, 400)])
def test_a_cursor_is_a_record_number(client, run, after, status):
    assert client.get(f"/runs/{run.pk}/spans.json?after={after}").status_code == status


def test_csv_comes_as_a_download_named_after_run_table_and_time(client, run):
    answer = client.get(f"/runs/{run.pk}/export/preemptions.csv")
    assert "attachment" in answer["Content-Disposition"]
    assert b"".join(answer.streaming_content).startswith(b"time_utc,sim_seconds,seq,preemptor_namespace")
    assert client.get(f"/runs/{run.pk}/export/nonsense.csv").status_code == 404


def test_metrics_come_as_a_download_that_prometheus_can_read(client, run):
    answer = client.get(f"/runs/{run.pk}/export/metrics.prom")
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    assert answer["Content-Disposition"].endswith('.prom"')
    found = {family.name: family.type for family in text_string_to_metric_families(answer.content.decode())}
    assert found["scheduler_schedule_attempts"] == "counter"
    assert found["scheduler_pod_scheduling_sli_duration_seconds"] == "histogram"


def test_the_why_panel_and_its_page_tell_the_same(client, run):
    panel = client.get(f"/runs/{run.pk}/why/?pod=default/slow-1", headers={"HX-Request": "true"})
    page = client.get(f"/runs/{run.pk}/why/?pod=default/slow-1")
    assert b"Preempted by default/normal-1" in panel.content
    assert b"<html" not in panel.content
    assert panel.content.strip() in page.content


def test_pages_carry_a_strict_policy(client):
    policy = client.get("/")["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


def test_a_form_without_its_token_is_refused(run):
    from django.test import Client

    assert Client(enforce_csrf_checks=True).post(f"/runs/{run.pk}/cancel").status_code == 403


SCENARIO = "apiVersion: schedscope/v1alpha1\nkind: Scenario\nmetadata: {name: mine}\nspec:\n  duration: DURATION\n"


def test_a_pasted_scenario_runs(client, monkeypatch):
    monkeypatch.setattr(services, "_announce", lambda job, task: execute_run(job.pk))
    answer = client.post("/runs/from-file/", {"paste": SCENARIO.replace("DURATION", "5s")}, follow=True)
    assert answer.redirect_chain
    assert b"mine" in answer.content


@pytest.mark.parametrize(
    "text, words", [(SCENARIO, [b"pasted:5", b"E0303", b"spec.duration"]), ("a: [", [b"E0104"]), ("", [b"E0304"])]
)
def test_a_wrong_scenario_is_refused_by_file_line_and_field(client, text, words):
    answer = client.post("/runs/from-file/", {"paste": text})
    assert answer.status_code == 400
    assert all(word in answer.content for word in words)
