"""The API: what a form does as a call, errors with code and field, no calls from other sites."""

import json

import pytest
from django.test import Client

from simulations.models import Run

pytestmark = pytest.mark.django_db
NODE = b"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
SCENARIO = {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}, "spec": {"duration": "5s"}}


@pytest.fixture
def api(monkeypatch):
    monkeypatch.setattr("simulations.services._announce", lambda job, task: None)
    return Client()


def post(api, path, body, **more):
    return api.post(f"/api{path}", json.dumps(body), content_type="application/json", **more)


def test_a_sample_is_run_with_changes_and_asked_after(api):
    made = post(api, "/runs", {"sample": "race-higher-takes", "changes": {"seed": 7, "kubeletStop": "1s"}, "name": "mine"})
    assert made.status_code == 201
    found = api.get(f"/api/runs/{made.json()['id']}").json()
    assert (found["state"], found["seed"], found["name"]) == ("queued", 7, "mine")
    assert {change["field"] for change in found["changes"]} == {"seed", "kubelet stop"}
    assert found["tables"]["pods"] == f"/runs/{found['id']}/export/pods.csv"
    assert found["metrics"] == f"/runs/{found['id']}/export/metrics.prom"
    assert [run["id"] for run in api.get("/api/runs").json()] == [found["id"]]


def test_the_same_token_gives_the_same_run(api):
    ids = {post(api, "/runs", {"sample": "race-higher-takes", "token": "t"}).json()["id"] for _ in range(2)}
    assert (len(ids), Run.objects.count()) == (1, 1)


def test_a_scenario_is_run_as_json_and_as_yaml(api):
    assert post(api, "/runs", {"scenario": SCENARIO}).status_code == 201
    text = b"apiVersion: schedscope/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec: {duration: 5s}\n"
    assert api.post("/api/runs/scenario", text, content_type="application/yaml").status_code == 201


def test_a_queued_run_is_cancelled(api):
    number = post(api, "/runs", {"scenario": SCENARIO}).json()["id"]
    assert api.post(f"/api/runs/{number}/cancel").json()["state"] == "cancelled"


def test_a_dump_is_uploaded(api):
    from django.core.files.uploadedfile import SimpleUploadedFile

    made = api.post("/api/clusters", {"files": SimpleUploadedFile("a.yaml", NODE)})
    assert (made.status_code, made.json()["state"]) == (202, "queued")
    assert api.get(f"/api/imports/{made.json()['id']}").status_code == 200


@pytest.mark.parametrize(
    "body, status, code",
    [
        ({}, 400, "E0654"),
        ({"sample": "busy-shop", "run": 1}, 400, "E0654"),
        ({"sample": "nothing"}, 400, "E0620"),
        ({"run": 999}, 400, "E0622"),
        ({"cluster": -1}, 422, "E0654"),
        ({"sample": "busy-shop", "colour": "red"}, 422, "E0654"),
        ({"sample": "busy-shop", "changes": {"colour": "red"}}, 400, "E0702"),
        ({"sample": "busy-shop", "changes": {"seed": -1}}, 400, "E0710"),
        ({"sample": "busy-shop", "pace": 1e9}, 422, "E0654"),
        ({"scenario": {"kind": "Pod"}}, 400, "E0304"),
        ([], 422, "E0654"),
    ],
)
def test_a_wrong_call_is_answered_with_code_and_field(api, body, status, code):
    answer = post(api, "/runs", body)
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (status, code)


@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe", b"[" * 50_000])
def test_a_body_that_is_no_json_is_refused(api, body):
    answer = api.post("/api/runs", body, content_type="application/json")
    assert answer.status_code in (400, 422)
    assert answer.json()["errors"]


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}])
def test_a_page_of_another_site_cannot_start_a_run(api, headers):
    answer = post(api, "/runs", {"sample": "busy-shop"}, headers=headers)
    assert (answer.status_code, Run.objects.count()) == (403, 0)


def test_the_own_page_can(api):
    headers = {"origin": "http://127.0.0.1", "host": "127.0.0.1", "sec-fetch-site": "same-origin"}
    assert post(api, "/runs", {"sample": "busy-shop"}, headers=headers).status_code == 201


def test_the_description_names_every_call_and_is_openapi(api):
    found = api.get("/api/openapi.json").json()
    assert found["openapi"].startswith("3.1")
    assert len(found["paths"]) == 10
