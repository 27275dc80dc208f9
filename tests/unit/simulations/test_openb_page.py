"""The openb page: what is chosen is what runs, own files are read or refused, and a big run can be stopped."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from simulations import queries, results, services
from simulations.models import Run
from simulations.openb import OpenbRequest, base_of_openb, bundled_figures
from simulations.tasks import execute_run

pytestmark = pytest.mark.django_db

NODES = b"sn,cpu_milli,memory_mib,gpu,model\nn-1,4000,8192,0,\nn-2,8000,16384,2,T4\n"
PODS = (
    b"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    b"p-1,1000,1024,1,500,,LS,Running,0,10,1\n"
    b"p-2,9000,1024,0,0,,BE,Pending,1,10,\n"
)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setattr(services, "_announce", lambda job, task: None)


def csv(name, content):
    return SimpleUploadedFile(name, content, content_type="text/csv")


def own(nodes=NODES, pods=PODS):
    return {"nodes_file": csv("n.csv", nodes), "pods_file": csv("p.csv", pods)}


def kinds(run):
    initial = results.decompress(run.scenario.document)["spec"]["initial"]
    return [sum(1 for o in initial if o["kind"] == kind) for kind in ("Node", "Pod")]


def test_the_page_says_how_large_the_published_trace_is(client):
    text = client.get("/openb/").content.decode()
    assert all(figure in text for figure in ("1,523", "125,514", "6,212", "8,152"))
    assert bundled_figures().gpu_nodes == 1213


@pytest.mark.parametrize(
    "fields, expected",
    [({"pods": "20"}, [1523, 20]), ({"pods": "20", "gpu_nodes_only": "on"}, [1213, 20]), (own(), [2, 2])],
    ids=["all nodes", "nodes with cards", "own files"],
)
def test_what_is_chosen_is_what_runs(client, fields, expected):
    answer = client.post("/openb/", {"mode": "fill", **fields})
    run = Run.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/")
    assert kinds(run) == expected


def test_the_same_form_sent_twice_makes_one_run(client):
    for _time in range(2):
        client.post("/openb/", {"mode": "fill", "pods": "5", "token": "once"})
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"mode": "nonsense"}, ["nonsense is not one of the available choices"]),
        ({"pods": "0"}, ["greater than or equal to 1"]),
        ({"nodes_file": csv("n.csv", NODES)}, ["E0640", "give both files, or neither"]),
        (own(nodes=NODES.replace(b"4000", b"-4")), ["E0641", "n.csv:2", "cpu_milli"]),
        (own(pods=b"name\n"), ["E0640", "p.csv:1"]),
        ({**own(nodes=NODES.replace(b"2,T4", b"0,")), "gpu_nodes_only": "on"}, ["E0641", "no node of the list has cards"]),
    ],
    ids=["mode", "pods", "one file", "negative", "columns", "no cards"],
)
def test_what_is_wrong_is_said_and_nothing_runs(client, fields, words):
    answer = client.post("/openb/", {"mode": "fill", **fields})
    assert answer.status_code == 400
    assert all(word in answer.content.decode() for word in words)
    assert not Run.objects.exists()


def test_a_file_over_the_limit_is_refused(client, settings):
    settings.MAX_UPLOAD_BYTES = 50
    answer = client.post("/openb/", {"mode": "fill", **own()})
    assert answer.status_code == 400
    assert b"E0101" in answer.content


@pytest.mark.parametrize("mode, pending", [("fill", 1), ("recorded", 0)])
def test_a_run_of_own_files_goes_through_the_pipeline_to_its_end(client, mode, pending):
    client.post("/openb/", {"mode": mode, **own()})
    run = Run.objects.get()
    execute_run(run.pk)
    row = queries.run(run.pk)
    assert (row.state, row.summary["pending"]) == ("succeeded", pending)


def test_a_run_of_the_trace_that_is_cancelled_while_it_waits_does_not_start(client):
    run = services.create_run(base_of_openb(OpenbRequest(pods=50)), services.RunRequest())
    services.cancel_run(run.pk)
    execute_run(run.pk)
    assert (queries.run(run.pk).state, queries.run(run.pk).seq) == ("cancelled", 0)
