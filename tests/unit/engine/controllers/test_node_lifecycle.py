"""Silent kubelets, mirrored taints, and what is collected afterwards."""

from itertools import pairwise
from pathlib import Path

import pytest

from simulations.engine.whatif import compose, import_document
from simulations.importers.kubectl import import_paths
from tests.unit.engine.controllers.clusters import Story, create, delete, node, patch, pod, template, workload

SHOP = Path(__file__).resolve().parents[3] / "data" / "clusters" / "shop-40-nodes.yaml"
FAIL, RECOVER = {"at": "3s", "failNodeOperation": {"node": "n1"}}, {"at": "100s", "recoverNodeOperation": {"node": "n1"}}


def three():
    return [node(f"n{i}") for i in (1, 2, 3)]


def on(name, where):
    return {**pod(name, nodeName=where), "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


def taints(story, name="n1"):
    [found] = [n for n in story.list("Node") if n.name == name]
    return sorted((t.key.rpartition("/")[2], t.effect) for t in found.taints)


def test_after_fifty_silent_seconds_a_node_is_unknown_and_tainted():
    story = Story([*three(), on("p", "n1")], [FAIL], "90s")
    [node_1] = [n for n in story.list("Node") if n.name == "n1"]
    [when] = story.times("patch", "nodes", "n1", actor="controller-manager")[:1]
    assert 50 <= when <= 55.1
    assert {(c.status, c.reason) for c in node_1.conditions} == {("Unknown", "NodeStatusUnknown")}
    assert taints(story) == [("unreachable", "NoExecute"), ("unreachable", "NoSchedule")]
    assert story.pods()["p"].condition("Ready").status == "False"
    assert sorted(story.events("NodeNotReady")) == ["Node is not ready", "Node n1 status is now: NodeNotReady"]


def test_a_node_that_comes_back_loses_its_taints():
    story = Story([*three(), on("p", "n1")], [FAIL, RECOVER], "120s")
    assert taints(story) == []
    assert [n.ready for n in story.list("Node")] == [True, True, True]


def test_when_every_node_is_silent_nothing_is_driven_away():
    story = Story([node("n1")], [FAIL], "120s")
    assert taints(story) == [("unreachable", "NoSchedule")]


def test_when_the_last_node_falls_silent_those_before_it_are_spared_and_the_run_can_settle():
    second = {"at": "100s", "failNodeOperation": {"node": "n2"}}
    story = Story([node("n1"), node("n2")], [FAIL, second], "300h", until="Settled")
    assert taints(Story([node("n1"), node("n2")], [FAIL], "99s")) == [("unreachable", "NoExecute"), ("unreachable", "NoSchedule")]
    assert [taints(story, name) for name in ("n1", "n2")] == [[("unreachable", "NoSchedule")]] * 2
    assert (story.result.reason, story.result.end < 200 * 10**9) == ("Settled", True)


def test_nodes_of_a_zone_are_tainted_one_after_the_other():
    nodes = [node(f"n{i}", labels={"topology.kubernetes.io/zone": "a"}) for i in range(1, 9)]
    silent = [{"at": "3s", "failNodeOperation": {"node": f"n{i}"}} for i in (1, 2, 3)]
    story = Story(nodes, silent, "120s")
    marked = [r.t / 1e9 for r in story.records if r.resource == "nodes" and "NoExecute" in str((r.data or {}).get("patch"))]
    assert len(marked) == 3
    assert all(later - earlier >= 9.9 for earlier, later in pairwise(marked))


def test_a_silent_kubelet_starts_and_stops_nothing_until_it_is_back():
    operations = [FAIL, create("5s", pod("late", nodeName="n1")), delete("6s", "Pod", "p"), RECOVER]
    story = Story([*three(), on("p", "n1")], operations, "120s")
    assert story.times("gone", name="p")[0] > 100
    assert story.pods()["late"].phase == "Running"
    started = [r.t / 1e9 for r in story.records if r.actor == "kubelet" and r.name == "late"]
    assert started[0] > 100


@pytest.mark.parametrize(
    "change", [{"spec": {"unschedulable": True}}, {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}]
)
def test_taints_mirror_the_state_of_a_node_and_go_with_it(change):
    back = {"spec": {"unschedulable": None}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    marked = taints(Story([node("n1")], [patch("5s", "Node", "n1", change)], "10s"))
    assert [effect for _key, effect in marked] == ["NoSchedule"]
    assert taints(Story([node("n1")], [patch("5s", "Node", "n1", change), patch("8s", "Node", "n1", back)], "20s")) == []


def test_pods_of_a_node_that_is_gone_are_collected_after_forty_to_sixty_seconds():
    story = Story([*three(), on("p", "n1")], [delete("7s", "Node", "n1")], "120s")
    [gone] = story.times("gone", name="p")
    assert 47 <= gone <= 67.2
    ended = [r for r in story.records if r.name == "p" and r.resource == "pods/status"][-1]
    assert ended.data["after"]["phase"] == "Failed"
    assert ["DisruptionTarget", "True", "DeletionByPodGC"] in ended.data["after"]["conditions"]


def test_out_of_service_ends_pods_that_hang():
    out = {"spec": {"taints": [{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]}}
    operations = [FAIL, delete("60s", "Pod", "p"), patch("70s", "Node", "n1", out)]
    story = Story([*three(), on("p", "n1")], operations, "120s")
    assert 70 < story.times("gone", name="p")[0] < 95


def test_what_was_owned_goes_with_its_owner_and_a_cycle_ends():
    def owned(name, by, uid):
        found = on(name, "n1")
        found["metadata"] |= {"uid": uid, "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": by}]}
        return found

    story = Story(
        [node("n1"), owned("a", "u-b", "u-a"), owned("b", "u-a", "u-b"), owned("c", "u-nobody", "u-c")], [delete("5s", "Pod", "a")]
    )
    assert list(story.pods()) == ["c"], "an owner that never was here counts as present"


def test_nothing_ticks_in_a_calm_cluster():
    story = Story([*three(), workload("Deployment", replicas=2)], duration="4h", until="Settled")
    assert story.result.reason == "Settled"
    assert story.result.end < 60 * 10**9


def test_operations_on_nodes_that_are_gone_are_answered_and_change_nothing():
    story = Story(three(), [{"at": "1s", "failNodeOperation": {"node": "nowhere"}}], "5s")
    [record] = [r for r in story.records if r.verb == "fail"]
    assert (record.code, record.message) == (404, 'nodes "nowhere" not found')


def test_two_pods_bound_to_the_same_room_by_hand_the_second_is_refused_by_the_kubelet():
    story = Story([node("n1", cpu="1"), template() and pod("a", cpu="700m", nodeName="n1"), pod("b", cpu="700m", nodeName="n1")])
    phases = {name: p.phase for name, p in story.pods().items()}
    assert phases == {"a": "Running", "b": "Failed"}
    assert story.events("OutOfcpu") == ["Node didn't have enough resource: cpu, requested: 700, used: 700, capacity: 1000"]


def test_an_imported_cluster_is_left_as_it_is_when_nothing_happens():
    dump = import_paths([SHOP])
    document = compose(import_document("shop", f"{dump.newest:%Y-%m-%dT%H:%M:%SZ}"), dump.objects)
    story = Story(document["spec"]["initial"], duration="120s", startTime=document["spec"]["startTime"])
    assert not [r for r in story.records if r.actor == "controller-manager"]
    assert len(story.pods()) == 236
