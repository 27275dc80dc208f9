"""DaemonSets: a Pod on each Node that they are meant for."""

from itertools import pairwise

from tests.unit.engine.controllers.clusters import Story, create, node, patch, template, workload


def daemon(**spec):
    return workload("DaemonSet", "agent", template(app="agent", **spec))


def where(story):
    return sorted(p.node_name for p in story.pods().values() if not p.terminating)


def test_each_node_gets_one_and_the_scheduler_binds_it():
    story = Story([node("n1"), node("n2"), daemon()], [create("10s", node("n3"))])
    assert where(story) == ["n1", "n2", "n3"]
    assert len(story.times("create", "pods/binding", actor="kube-scheduler")) == 3


def test_only_nodes_that_its_selector_names():
    story = Story([node("n1"), node("n2", labels={"disk": "ssd"}), daemon(nodeSelector={"disk": "ssd"})])
    assert where(story) == ["n2"]


def test_a_cordoned_node_keeps_its_pod_and_a_new_cordoned_one_gets_its_own():
    cordoned = {**node("n2"), "spec": {"unschedulable": True}}
    story = Story([node("n1"), daemon()], [patch("5s", "Node", "n1", {"spec": {"unschedulable": True}}), create("10s", cordoned)])
    assert where(story) == ["n1", "n2"]


def test_an_untolerated_taint_keeps_new_ones_away_and_only_no_execute_drives_old_ones_off():
    tainted = {"spec": {"taints": [{"key": "own", "effect": "NoSchedule"}]}}
    evil = {"spec": {"taints": [{"key": "own", "effect": "NoExecute"}]}}
    story = Story([node("n1"), node("n2"), daemon()], [patch("10s", "Node", "n1", tainted), patch("10s", "Node", "n2", evil)])
    assert where(story) == ["n1"]


def test_a_failed_pod_is_replaced_after_a_growing_wait():
    ends = {"schedscope/run-seconds": "1", "schedscope/exit-code": "1"}
    story = Story([node("n1"), workload("DaemonSet", "agent", template(app="agent", annotations=ends))], duration="40s")
    times = story.times("create")
    gaps = [round(b - a, 1) for a, b in pairwise(times)]
    assert len(times) > 3
    assert gaps[-1] > gaps[0] * 2


def test_an_update_replaces_one_after_the_other():
    new = {"spec": {"template": template(image="agent:2", app="agent")}}
    story = Story([node("n1"), node("n2"), daemon()], [patch("10s", "DaemonSet", "agent", new)])
    assert {p.spec.raw["containers"][0]["image"] for p in story.pods().values()} == {"agent:2"}
    first, second = story.times("delete", actor="controller-manager")
    assert second - first > 2


def test_the_status_says_on_how_many_nodes_it_should_run_and_runs():
    tainted = {**node("n2"), "spec": {"taints": [{"key": "own", "effect": "NoSchedule"}]}}
    counts = Story([node("n1"), tainted, daemon()]).list("DaemonSet")[0].raw["status"]
    assert counts == {"desiredNumberScheduled": 1, "currentNumberScheduled": 1, "numberMisscheduled": 0, "numberReady": 1}
