"""Deployments roll from one template to the next within their bounds."""

import pytest

from simulations.engine.controllers.deployment import fence_posts, template_hash
from simulations.engine.controllers.rounding import scaled
from tests.unit.engine.controllers.clusters import Story, create, delete, node, patch, template, workload

NEW = {"spec": {"template": template(image="app:2")}}


def deployment(**spec):
    return workload("Deployment", replicas=4, **spec)


def sizes_over_time(story):
    """The sizes (old, new) of two ReplicaSets after each change, as a rollout shows them."""
    sets, found = {}, []
    for record in story.records:
        if record.resource == "replicasets" and record.code < 300 and record.verb in ("create", "patch"):
            sets[record.name] = record.data["after"]["replicas"]
            found.append(tuple(sets.values()))
    return [pair for i, pair in enumerate(found) if i == 0 or pair != found[i - 1]]


def test_a_bare_deployment_makes_a_replicaset_and_its_pods():
    story = Story([node("n1"), deployment()])
    [one] = story.list("ReplicaSet")
    assert (one.name, one.replicas, len(story.pods())) == (f"web-{template_hash(template())}", 4, 4)
    assert all(p.phase == "Running" and p.name.startswith(one.name + "-") for p in story.pods().values())
    assert story.events("ScalingReplicaSet") == [f"Scaled up replica set {one.name} from 0 to 4"]
    assert one.annotations["deployment.kubernetes.io/revision"] == "1"


def test_a_rollout_of_four_goes_by_one_above_and_one_below():
    story = Story([node("n1"), deployment()], [patch("10s", "Deployment", "web", NEW)], "120s")
    assert sizes_over_time(story) == [(4,), (4, 1), (3, 1), (3, 2), (2, 2), (2, 3), (1, 3), (1, 4), (0, 4)]
    assert len(story.pods()) == 4


def test_never_more_pods_than_surge_and_never_fewer_ready_than_allowed():
    story = Story([node("n1"), deployment()], [patch("10s", "Deployment", "web", NEW)], "120s")
    alive, ready, most, least = set(), set(), 0, 99
    for record in story.records:
        after = (record.data or {}).get("after") or {}
        if record.resource.startswith("pods") and record.code < 300 and record.name.startswith("web-"):
            gone = record.verb in ("gone", "delete") or after.get("phase") in ("Succeeded", "Failed")
            (alive.discard if gone else alive.add)(record.name)
            (ready.add if after.get("ready") and not gone else ready.discard)(record.name)
        if record.t > 9 * 10**9:
            most, least = max(most, len(alive)), min(least, len(ready))
    assert (most, least) == (5, 3)


def test_an_old_template_that_comes_back_takes_its_replicaset_again():
    back = {"spec": {"template": template()}}
    story = Story(
        [node("n1"), deployment()], [patch("10s", "Deployment", "web", NEW), patch("60s", "Deployment", "web", back)], "120s"
    )
    revisions = {s.name: s.annotations["deployment.kubernetes.io/revision"] for s in story.list("ReplicaSet")}
    assert revisions[f"web-{template_hash(template())}"] == "3"
    assert story.replicas() == [0, 4]


def test_a_pod_counts_as_available_only_after_its_minimum_of_ready_seconds():
    slow = {**deployment(minReadySeconds=10), "metadata": {"name": "web", "namespace": "default"}}
    story = Story([node("n1"), slow], [patch("30s", "Deployment", "web", NEW)], "200s")
    quick = Story([node("n1"), deployment()], [patch("30s", "Deployment", "web", NEW)], "200s")
    ends = [max(one.times("delete", actor="controller-manager")) for one in (story, quick)]
    assert 19 < ends[0] - ends[1] < 25
    assert len(story.pods()) == 4


def test_recreate_waits_until_the_old_pods_have_ended():
    story = Story([node("n1"), deployment(strategy={"type": "Recreate"})], [patch("10s", "Deployment", "web", NEW)])
    last_ended = max(story.times("patch", "pods/status", actor="kubelet", name=f"web-{template_hash(template())}"))
    new = f"web-{template_hash(template(image='app:2'))}"
    assert min(story.times("create", name=new)) > last_ended
    assert len(story.pods()) == 4


def test_the_status_counts_what_there_is_and_reaches_the_end_of_a_rollout():
    story = Story([node("n1"), deployment()], [patch("10s", "Deployment", "web", NEW)], "120s")
    told = [r.data["status"] for r in story.records if r.resource == "deployments/status"]
    assert max(status["replicas"] for status in told) == 5
    assert max(status["unavailableReplicas"] for status in told if status["replicas"] >= 4) >= 1
    done = {"replicas": 4, "updatedReplicas": 4, "readyReplicas": 4, "availableReplicas": 4, "unavailableReplicas": 0}
    assert story.list("Deployment")[0].raw["status"] == done
    assert sorted(s.raw["status"]["readyReplicas"] for s in story.list("ReplicaSet")) == [0, 4]


def test_scaling_changes_one_replicaset_and_a_paused_one_scales_but_does_not_roll():
    paused = {"spec": {"paused": True, "replicas": 6, "template": template(image="app:2")}}
    story = Story([node("n1"), deployment()], [patch("10s", "Deployment", "web", paused)])
    assert (story.replicas(), len(story.pods())) == ([6], 6)


def test_a_scaling_in_the_middle_of_a_rollout_is_shared_in_proportion():
    slow = {"strategy": {"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}}
    small = [node("n1", cpu="1")]
    stuck = {"spec": {"template": template(cpu="4")}}
    operations = [patch("10s", "Deployment", "web", stuck), patch("20s", "Deployment", "web", {"spec": {"replicas": 15}})]
    story = Story([*small, workload("Deployment", replicas=10, made=template("20m"), **slow)], operations)
    sizes = {s.name: s.replicas for s in story.list("ReplicaSet")}
    assert sum(sizes.values()) == 18
    assert sizes[f"web-{template_hash(template('20m'))}"] == 11


def test_a_deleted_deployment_takes_everything_with_it():
    story = Story([node("n1"), deployment()], [delete("10s", "Deployment", "web")])
    assert (story.list("ReplicaSet"), story.pods()) == ([], {})


def test_a_dump_whose_replicasets_are_missing_is_left_alone():
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-abc", "uid": "u1", "controller": True}
    there = {
        "apiVersion": "v1", "kind": "Pod", "spec": {**template()["spec"], "nodeName": "n1"}, "status": {"phase": "Running"},
        "metadata": {"name": "web-abc-x", "namespace": "default", "labels": {"app": "web"}, "ownerReferences": [owner]},
    }  # fmt: skip
    story = Story([node("n1"), deployment(), there])
    assert list(story.pods()) == ["web-abc-x"]


def test_one_that_comes_later_is_rolled_out_too():
    story = Story([node("n1")], [create("5s", deployment())])
    assert len(story.pods()) == 4


@pytest.mark.parametrize(
    "value, up, number",
    [
        (3, True, 3), ("25%", True, 3), ("25%", False, 2), ("0%", True, 0), ("150%", True, 15), ("x%", True, 0), (None, True, 0),
        (True, True, 0),
    ],
)  # fmt: skip
def test_a_percentage_is_rounded_up_or_down(value, up, number):
    assert scaled(value, 10, up=up) == number


def test_without_surge_and_unavailability_one_may_be_missing():
    story = Story([deployment(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "10%"}})], duration="1s")
    assert fence_posts(story.list("Deployment")[0]) == (0, 1)
