"""The webhook that refuses evictions and moves the Pods in the background."""

import pytest

from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.errors import ScenarioErrors
from tests.unit.engine.controllers.clusters import Story, node, pod

GUARD = "descheduler.alpha.kubernetes.io/request-evict-only"
MARK = "descheduler.alpha.kubernetes.io/eviction-in-progress"
DENIED = 'admission webhook "evictions.example.com" denied the request: Eviction triggered evacuation of VMI'


def guarded(name="vm"):
    made = pod(name, nodeName="n1")
    return {**made, "metadata": {**made["metadata"], "annotations": {GUARD: "true"}}, "status": {"phase": "Running"}}


def story(webhook, *times, name="vm", duration="30s", dry_run=False):
    asks = [{"at": at, "evictOperation": {"name": name, "dryRun": dry_run}} for at in times or (1,)]
    bare = {**pod("plain", nodeName="n1"), "status": {"phase": "Running"}}
    return Story([node("n1"), node("n2"), guarded(), bare], asks, duration, controllers=[], evictionWebhook=webhook)


def answers(told):
    return [(r.code, r.message) for r in told.records if r.resource == "pods/eviction"]


def test_a_guarded_pod_is_refused_each_time_and_marked_and_moved_once():
    told = story({"annotate": "200ms", "migrate": "6s", "target": "n2"}, 1, 5)
    assert answers(told) == [(429, DENIED), (429, DENIED)]
    [marked] = [r for r in told.records if (r.verb, r.resource) == ("patch", "pods")]
    assert 1.2 < marked.t / SECOND < 1.25
    [moved] = told.times("create", name="vm-target")
    assert 7.2 < moved < 7.3
    assert sorted(told.pods()) == ["plain", "vm-target"]
    assert (told.pods()["vm-target"].node_name, told.pods()["vm-target"].annotations) == ("n2", {GUARD: "true"})


def test_the_moved_pod_is_guarded_in_its_turn():
    told = story({"annotate": 0, "migrate": 1, "target": "n2"}, 1)
    again = Story(
        [node("n1"), node("n2"), guarded()],
        [{"at": 1, "evictOperation": {"name": "vm"}}, {"at": 9, "evictOperation": {"name": "vm-target"}}], "30s", controllers=[],
        evictionWebhook={"annotate": 0, "migrate": 1, "target": "n2"},
    )  # fmt: skip
    assert "vm-target" in told.pods()
    assert sorted(again.pods()) == ["vm-target-target"]


@pytest.mark.parametrize("webhook", [{}, {"annotate": None}, {"annotate": 1}])
def test_without_a_time_nothing_is_marked_or_moved(webhook):
    told = story(webhook)
    assert answers(told) == [(429, DENIED)]
    assert (MARK in told.pods()["vm"].annotations) is bool(webhook.get("annotate"))
    assert sorted(told.pods()) == ["plain", "vm"]


def test_other_pods_and_other_texts():
    assert answers(story({}, name="plain")) == [(201, "")]
    assert answers(story({"message": "not today"}))[0][1].endswith("denied the request: not today")


def test_a_dry_run_moves_nobody():
    told = story({"annotate": 0, "migrate": 1, "target": "n2"}, dry_run=True)
    assert answers(told) == [(429, DENIED)]
    assert sorted(told.pods()) == ["plain", "vm"]


@pytest.mark.parametrize(
    "webhook, field",
    [
        ({"annotate": 1, "migrate": 1}, "target"),
        ({"migrate": 1, "target": "n2"}, "migrate"),
        ({"annotate": "soon"}, "annotate"),
        ({"annotat": 1}, "annotat"),
    ],
)
def test_wrong_settings_are_refused_with_their_field(webhook, field):
    with pytest.raises(ScenarioErrors) as caught:
        story(webhook)
    assert [e.path for e in caught.value.errors] == [f"spec.evictionWebhook.{field}"]
