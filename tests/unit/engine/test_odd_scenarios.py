"""Odd, and still right: what a run has to take without a word, or answer as the API server does."""

from tests.unit.engine.controllers.clusters import Story, create, delete, node, patch, pod


def named(kind, name):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}


def test_ten_thousand_namespaces_are_no_trouble():
    story = Story([node("n1"), *(named("Namespace", f"team-{i}") for i in range(10_000))], [create("1s", pod("p"))], "5s")
    assert story.pods()["p"].phase == "Running"


def test_operations_come_in_the_order_of_their_times_however_they_are_written():
    story = Story([node("n1")], [create("3s", pod("late")), create("1s", pod("early"))], "10s")
    assert [r.name for r in story.records if (r.verb, r.resource) == ("create", "pods")] == ["early", "late"]


def test_operations_on_what_is_gone_are_answered_with_404_and_the_run_goes_on():
    operations = [
        delete("1s", "Pod", "p", gracePeriodSeconds=0),
        delete("2s", "Pod", "p"),
        patch("3s", "Pod", "p", {"metadata": {"labels": {"a": "b"}}}),
    ]
    story = Story([node("n1"), pod("p")], [*operations, create("4s", pod("q"))], "10s")
    assert [(r.verb, r.code) for r in story.records if r.actor == "user" and r.name == "p"] == [
        ("delete", 200),
        ("delete", 404),
        ("patch", 404),
    ]
    assert story.pods()["q"].phase == "Running"


def test_years_before_and_after_the_run_are_written_as_they_are():
    old = {**pod("old"), "status": {"phase": "Running", "startTime": "0001-01-01T00:00:00Z"}}
    old["spec"]["nodeName"] = "n1"
    story = Story(
        [node("n1"), old], [patch("1s", "Pod", "old", {"metadata": {"labels": {"a": "b"}}})], "5s", startTime="9000-01-01T00:00:00Z"
    )
    [record] = [r for r in story.records if r.verb == "patch" and r.actor == "user"]
    assert record.data["object"]["status"]["startTime"] == "0001-01-01T00:00:00Z"


def test_a_wrong_shape_in_an_operation_gets_the_api_servers_answer():
    wrong = pod("p")
    wrong["spec"]["priority"] = [1]
    story = Story([node("n1")], [create("1s", wrong)], "5s")
    [record] = [r for r in story.records if r.actor == "user"]
    assert (record.code, "spec.priority: expected a whole number" in record.message) == (422, True)
