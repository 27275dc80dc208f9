"""Pods that do not tolerate the NoExecute taints of their Node: when they go, when they stay, and what changes that."""

import pytest

from simulations.engine.api.scheduling import Taint, Toleration
from simulations.engine.controllers.taint_eviction import wait_of
from simulations.engine.kernel.clock import SECOND
from tests.unit.engine.controllers.clusters import Story, create, delete, node, patch, pod, workload

TAINT = {"key": "maint", "value": "x", "effect": "NoExecute"}
ONLY = {"controllers": ["taint-eviction-controller"]}


def tolerating(seconds=None):
    return {
        "key": "maint",
        "operator": "Exists",
        "effect": "NoExecute",
        **({} if seconds is None else {"tolerationSeconds": seconds}),
    }


def running(name, *tolerations):
    made = pod(name, nodeName="n1", tolerations=list(tolerations))
    return {**made, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


def tainted(at, *taints):
    return patch(at, "Node", "n1", {"spec": {"taints": list(taints)}})


@pytest.mark.parametrize(
    "tolerations, wait",
    [
        ([], 0),
        ([Toleration("maint", "Exists", effect="NoExecute")], None),
        ([Toleration("maint", "Exists", effect="NoExecute", seconds=60)], 60 * SECOND),
        ([Toleration("maint", "Exists", effect="NoExecute", seconds=0)], 0),
        ([Toleration("maint", "Exists", effect="NoExecute", seconds=-5)], 0),
        ([Toleration("maint", "Exists", effect="NoSchedule")], 0),
        ([Toleration("", "Exists", seconds=60), Toleration("maint", "Exists", seconds=5)], 60 * SECOND),
        ([Toleration("maint", "Equal", "y")], 0),
    ],
    ids=["none", "for ever", "a while", "zero", "negative", "other effect", "the first one counts", "other value"],
)
def test_how_long_a_pod_may_stay_under_one_taint(tolerations, wait):
    assert wait_of(tolerations, [Taint("maint", "x", "NoExecute")]) == wait


def test_of_several_taints_the_shortest_wait_counts_and_one_untolerated_ends_it():
    taints = [Taint("a", "", "NoExecute"), Taint("b", "", "NoExecute")]
    long, short = Toleration("a", "Exists", seconds=60), Toleration("b", "Exists", seconds=10)
    assert wait_of([long, short], taints) == 10 * SECOND
    assert wait_of([Toleration("a", "Exists"), short], taints) == 10 * SECOND
    assert wait_of([long], taints) == 0


def test_the_story_of_three_pods():
    initial = [node("n1"), running("p0"), running("p60", tolerating(60)), running("pinf", tolerating())]
    shorter = patch(
        "30s",
        "Pod",
        "p60",
        {"spec": {"tolerations": [*Story(initial, **ONLY).pods()["p60"].spec.raw["tolerations"], tolerating(10)]}},
    )
    story = Story(initial, [tainted(0, TAINT), shorter, tainted("45s")], "200s", **ONLY)
    assert sorted(story.pods()) == ["p60", "pinf"]
    assert story.times("delete", name="p0", actor="controller-manager")[0] < 0.1
    assert story.events("TaintManagerEviction") == ["Marking for deletion Pod default/p0", "Cancelling deletion of Pod default/p60"]


def test_the_condition_is_written_before_the_deletion_and_budgets_are_not_asked():
    budget = {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {}, "minAvailable": 9},
    }  # fmt: skip
    story = Story([node("n1"), running("p0"), budget], [tainted(1, TAINT)], "10s")
    marked, deleted = (
        story.times("patch", "pods/status", actor="controller-manager"),
        story.times("delete", actor="controller-manager"),
    )
    assert 1 < marked[0] < deleted[0] < 1.1
    record = next(r for r in story.records if r.resource == "pods/status" and r.actor == "controller-manager")
    assert record.data["status"]["conditions"] == [
        {
            "message": "Taint manager: deleting due to NoExecute taint", "observedGeneration": 1, "reason": "DeletionByTaintManager",
            "status": "True", "type": "DisruptionTarget",
        }
    ]  # fmt: skip
    assert story.pods() == {}


def test_an_event_names_the_pod_without_its_uid():
    story = Story([node("n1"), running("p0")], [tainted(1, TAINT)], "10s", **ONLY)
    [event] = [r for r in story.records if r.resource == "events"]
    assert event.data["regarding"] == {"kind": "Pod", "namespace": "default", "name": "p0"}


def test_a_pod_that_comes_to_a_tainted_node_goes_at_once():
    story = Story([node("n1")], [tainted(1, TAINT), create(2, pod("late", nodeName="n1"))], "10s", **ONLY)
    assert "late" not in story.pods()
    assert story.events("TaintManagerEviction") == ["Marking for deletion Pod default/late"]


def test_a_second_finite_wait_leaves_the_timer_as_it_is_and_an_untolerated_taint_ends_it():
    other = {"key": "other", "effect": "NoExecute"}
    patient = running("p", tolerating(30), {"key": "other", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5})
    story = Story([node("n1"), patient], [tainted(0, TAINT), tainted(10, TAINT, other)], "60s", **ONLY)
    assert 29.9 < story.times("delete", name="p", actor="controller-manager")[0] < 30.2
    story = Story([node("n1"), running("p", tolerating(30))], [tainted(0, TAINT), tainted(10, TAINT, other)], "60s", **ONLY)
    assert 10 < story.times("delete", name="p", actor="controller-manager")[0] < 10.2
    assert sorted(story.events("TaintManagerEviction")) == [
        "Cancelling deletion of Pod default/p",
        "Marking for deletion Pod default/p",
    ]


def test_a_pod_that_somebody_else_deletes_has_its_deletion_cancelled():
    story = Story(
        [node("n1"), running("p", tolerating(30))], [tainted(0, TAINT), delete(5, "Pod", "p", gracePeriodSeconds=0)], "60s", **ONLY
    )
    assert story.events("TaintManagerEviction") == ["Cancelling deletion of Pod default/p"]


def test_the_timer_runs_on_when_the_node_object_goes():
    story = Story([node("n1"), running("p", tolerating(30))], [tainted(0, TAINT), delete(5, "Node", "n1")], "60s", **ONLY)
    assert story.events("TaintManagerEviction") == ["Marking for deletion Pod default/p"]


def test_a_refused_deletion_is_tried_five_times():
    fault = {"match": "delete pods", "actor": "controller-manager", "code": 500}
    story = Story([node("n1"), running("p0")], [tainted(1, TAINT)], "10s", faults=[fault], **ONLY)
    assert len([r for r in story.records if r.verb == "delete" and r.code == 500]) == 5
    assert "p0" in story.pods()


def test_pods_of_a_silent_node_are_replaced_after_five_minutes():
    silent = {"at": "3s", "failNodeOperation": {"node": "n1"}}
    deployment = workload("ReplicaSet", replicas=1)
    story = Story([node("n1"), node("n2", cpu="1m"), deployment], [silent], "400s")
    left = story.times("delete", actor="controller-manager")
    assert 350 < left[0] < 365
    assert sum(1 for p in story.pods().values() if not p.terminating) == 1
