"""The search for a smallest change: asked once an attempt, done by a worker, shown in the panel, told by API and command."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.management import CommandError, call_command

from simulations import fit, queries, services
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.models import FitSearch
from simulations.tasks import execute_run, find_fit
from tests.builders import make_node, make_pod

pytestmark = pytest.mark.django_db
TAINT = ("dedicated", "db", "NoSchedule")
WANTED = "default/wanted"


def scenario():
    wanted = make_pod("wanted").request(cpu="1").manifest()
    del wanted["metadata"]["uid"]
    return {
        "apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "tainted"},
        "spec": {
            "duration": "20s", "initial": [make_node("n1").taint(*TAINT).manifest(), make_node("n2").cordoned().manifest()],
            "operations": [{"at": "1s", "createOperation": {"object": wanted}}],
        },
    }  # fmt: skip


@pytest.fixture
def sent(monkeypatch):
    """What is handed to the workers."""
    found = []
    monkeypatch.setattr(services, "_announce", lambda job, task: None)
    monkeypatch.setattr(find_fit, "apply_async", lambda args, **_kwargs: found.append(args[0]))
    return found


@pytest.fixture
def run(sent):
    made = services.create_run(services.base_of_text(json.dumps(scenario()).encode(), "x"), services.RunRequest())
    execute_run(made.pk)
    return made


@pytest.fixture
def asked(run, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        return fit.ask(run.pk, WANTED)


def test_an_attempt_is_searched_once(run, asked, sent):
    assert asked.state == "queued"
    assert fit.ask(run.pk, WANTED).seq == asked.seq
    assert (sent, FitSearch.objects.count()) == ([FitSearch.objects.get().pk], 1)


def test_a_worker_finds_the_changes_and_tries_them_out(run, asked, sent):
    find_fit(sent[0])
    found = fit.of_attempt(run.pk, asked.seq)
    texts = [(each.text, each.node, each.tried.placed) for each in found.suggestions]
    assert texts[:2] == [("Uncordon n2", "n2", True), ("Tolerate the taint dedicated=db:NoSchedule", "n1", True)]
    assert (found.state, found.active) == ("succeeded", False)


def test_one_that_failed_can_be_asked_again(run, asked, sent, monkeypatch, django_capture_on_commit_callbacks):
    def broken(*_args, **_kwargs):
        raise RuntimeError("no")

    with monkeypatch.context() as patched:
        patched.setattr("simulations.pipelines.counterfactual.answer", broken)
        find_fit(sent[0])
    assert fit.of_attempt(run.pk, asked.seq).error_code == "E0602"
    with django_capture_on_commit_callbacks(execute=True):
        assert fit.ask(run.pk, WANTED).state == "queued"
    find_fit(sent[1])
    assert fit.of_attempt(run.pk, asked.seq).suggestions


@pytest.mark.parametrize("pod, seq, code", [("default/nobody", None, "E0625"), ("default/\0", None, "E0625"), (WANTED, 1, "E0626")])
def test_what_cannot_be_asked_is_refused(run, pod, seq, code):
    with pytest.raises(ScenarioErrors) as found:
        fit.ask(run.pk, pod, seq)
    assert found.value.errors[0].code == code


class TestPanel:
    def test_the_panel_of_a_refused_pod_offers_the_search(self, client, run):
        seq = queries.why(run.pk, WANTED).attempt.seq
        panel = client.get(f"/runs/{run.pk}/why/?pod={WANTED}", headers={"HX-Request": "true"}).content.decode()
        assert f"/runs/{run.pk}/fit/?pod=default/wanted&amp;seq={seq}" in panel
        assert "Find it" in client.get(f"/runs/{run.pk}/fit/?pod={WANTED}&seq={seq}").content.decode()

    def test_it_is_asked_waits_and_shows_what_was_found_with_links_that_fill_the_form(self, client, run, sent):
        seq = queries.why(run.pk, WANTED).attempt.seq
        waiting = client.post(f"/runs/{run.pk}/fit/", {"pod": WANTED, "seq": seq}).content.decode()
        assert "Asking the scheduler" in waiting
        find_fit(FitSearch.objects.get().pk)
        shown = client.get(f"/runs/{run.pk}/fit/?pod={WANTED}&seq={seq}").content.decode()
        assert "✓ Tried: bound to n2" in shown
        links = [part.split('"')[0].replace("&amp;", "&") for part in shown.split('href="')[1:] if part.startswith("/runs/new/")]
        assert parse_qs(urlsplit(links[0]).query)["node_action"] == ["uncordon"]
        for link in links[:2]:
            form = client.get(link)
            assert form.status_code == 200
            values = {field.name: field.value() for field in form.context["form"]}
            values = {name: value for name, value in values.items() if value not in (None, "", False)}
            made = client.post(f"/runs/new/?run={run.pk}", values)
            assert made.status_code == 302
            number = int(made["Location"].split("/")[2])
            execute_run(number)
            assert queries.why(number, WANTED).node in ("n1", "n2")

    def test_where_nothing_helps_it_says_what_was_asked_about(self, client, sent):
        document = scenario()
        document["spec"]["initial"] = []
        made = services.create_run(services.base_of_text(json.dumps(document).encode(), "x"), services.RunRequest())
        execute_run(made.pk)
        seq = queries.why(made.pk, WANTED).attempt.seq
        client.post(f"/runs/{made.pk}/fit/", {"pod": WANTED, "seq": seq})
        find_fit(FitSearch.objects.get().pk)
        assert "Nothing that was asked about helps" in client.get(f"/runs/{made.pk}/fit/?pod={WANTED}&seq={seq}").content.decode()

    def test_a_pod_that_is_not_there_is_said(self, client, run):
        answer = client.post(f"/runs/{run.pk}/fit/", {"pod": "a/<b>", "seq": "3"})
        assert answer.status_code == 400
        assert "E0625" in answer.content.decode()
        assert "<b>" not in answer.content.decode()

    def test_a_run_that_is_not_there_is_a_404(self, client):
        assert client.get("/runs/99/fit/?pod=a/b&seq=1").status_code == 404


class TestApi:
    def test_a_search_is_asked_for_and_its_changes_make_a_run(self, client, run, sent):
        body = json.dumps({"pod": WANTED})
        asked = client.post(f"/api/runs/{run.pk}/fit", body, content_type="application/json")
        assert (asked.status_code, asked.json()["state"]) == (202, "queued")
        find_fit(FitSearch.objects.get().pk)
        found = client.get(f"/api/runs/{run.pk}/fit/{asked.json()['seq']}").json()
        assert found["suggestions"][0]["parts"][0]["kind"] == "uncordon"
        assert client.get(f"/api/runs/{run.pk}/fit/1").status_code == 404

    def test_everything_that_the_panel_says_is_told(self, client, run):
        why = client.get(f"/api/runs/{run.pk}/why", {"pod": WANTED}).json()
        assert why["preemption"]["without"][0]["answer"] == "not helpful"
        assert why["filters"]["notEvaluated"] == 0
        assert client.get(f"/api/runs/{run.pk}/why", {"pod": "a/b"}).status_code == 404

    def test_a_pod_that_was_not_refused_has_its_code(self, client, run):
        refused = client.post(f"/api/runs/{run.pk}/fit", json.dumps({"pod": WANTED, "seq": 1}), content_type="application/json")
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "E0626")


class TestCommand:
    def test_it_says_why_and_what_would_have_helped(self, run, capsys):
        call_command("why", str(run.pk), WANTED, "--fit")
        said = capsys.readouterr().out
        assert "1. Uncordon n2: lands on n2; tried: bound to n2" in said
        assert "1 x not helpful: TaintToleration" in said

    def test_json_has_all_of_it(self, run, capsys):
        call_command("why", str(run.pk), WANTED, "--fit", "--json")
        found = json.loads(capsys.readouterr().out)
        assert (found["state"], found["fit"]["suggestions"][0]["node"]) == ("Pending", "n2")

    @pytest.mark.parametrize("words", [("99", WANTED), ("RUN", "a/b"), ("RUN", WANTED, "--seq", "1", "--fit")])
    def test_a_wrong_call_is_refused(self, run, words):
        with pytest.raises(CommandError) as found:
            call_command("why", *(str(run.pk) if word == "RUN" else word for word in words))
        assert found.value.returncode == 2
