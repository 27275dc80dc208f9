"""What becomes of what an object owns, and of what is in a Namespace, when it is deleted."""

import pytest

from tests.unit.engine.controllers.clusters import Story, create, delete, node, patch, pod, template, workload

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}


def deployment():
    return workload("Deployment", replicas=2)


def in_team(manifest):
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": "team"}}


def gone(story, resource):
    return [r.t / 1e9 for r in story.records if r.verb == "gone" and r.resource == resource]


def answers(story, verb):
    return [(r.code, r.message) for r in story.records if r.actor == "user" and r.verb == verb]


def test_in_the_background_the_owner_goes_first():
    story = Story([node("n1"), deployment()], [delete("10s", "Deployment", "web")])
    [deployments], [sets], pods = gone(story, "deployments"), gone(story, "replicasets"), gone(story, "pods")
    assert deployments < sets < min(pods)
    assert (story.list("Deployment"), story.list("ReplicaSet"), story.pods()) == ([], [], {})


def test_in_the_foreground_the_owner_goes_last_and_makes_nothing_meanwhile():
    story = Story([node("n1"), deployment()], [delete("10s", "Deployment", "web", propagationPolicy="Foreground")])
    [deployments], [sets], pods = gone(story, "deployments"), gone(story, "replicasets"), gone(story, "pods")
    assert max(pods) < sets < deployments
    assert [t for t in story.times("create") if t > 10] == []


def test_orphans_stay_without_their_owner_and_are_adopted_by_an_equal_one():
    operations = [delete("10s", "ReplicaSet", "web", propagationPolicy="Orphan")]
    story = Story([node("n1"), workload("ReplicaSet", replicas=2)], operations)
    assert (story.list("ReplicaSet"), len(story.pods())) == ([], 2)
    assert all(p.owners == () and p.phase == "Running" for p in story.pods().values())
    again = Story(
        [node("n1"), workload("ReplicaSet", replicas=2)], [*operations, create("20s", workload("ReplicaSet", replicas=2))]
    )
    assert len(again.pods()) == 2


def test_a_finalizer_of_others_holds_any_object_until_it_is_removed():
    held = workload("ReplicaSet", replicas=1)
    held["metadata"]["finalizers"] = ["example.com/hold"]
    operations = [delete("5s", "ReplicaSet", "web"), patch("20s", "ReplicaSet", "web", {"metadata": {"finalizers": []}})]
    assert 20 < gone(Story([node("n1"), held], operations), "replicasets")[0] < 21


def test_a_running_job_that_is_deleted_leaves_no_pod_behind():
    job = workload("Job", "calc", template(app="calc", restartPolicy="Never"), parallelism=2, completions=2)
    story = Story([node("n1"), job], [delete("10s", "Job", "calc")])
    assert (story.list("Job"), story.pods()) == ([], {})


def test_owners_in_a_circle_that_are_deleted_in_the_foreground_all_go():
    def owned(name, uid, by):
        found = workload("ReplicaSet", name, replicas=0)
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": by}
        return {**found, "metadata": {**found["metadata"], "uid": uid, "ownerReferences": [owner]}}

    story = Story(
        [owned("a", "u-a", "u-b"), owned("b", "u-b", "u-a")], [delete("1s", "ReplicaSet", "a", propagationPolicy="Foreground")]
    )
    assert story.list("ReplicaSet") == []


def test_a_namespace_takes_nothing_new_and_goes_when_it_is_empty():
    operations = [delete("10s", "Namespace", "team"), create("11s", in_team(pod("late")))]
    story = Story([node("n1"), NAMESPACE, in_team(deployment()), in_team(pod("p"))], operations)
    assert answers(story, "create") == [
        (403, 'pods "late" is forbidden: unable to create new content in namespace team because it is being terminated')
    ]
    assert gone(story, "namespaces")[0] > max(gone(story, "pods"))
    assert "team" not in {n.name for n in story.list("Namespace")}
    assert story.pods() == {}


def test_a_namespace_waits_for_what_hangs_in_it():
    held = in_team(pod("p"))
    held["metadata"]["finalizers"] = ["example.com/hold"]
    story = Story([node("n1"), held], [delete("10s", "Namespace", "team")])
    assert [n.terminating for n in story.list("Namespace") if n.name == "team"] == [True]
    assert story.pods()["p"].terminating


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_cannot_be_deleted(name):
    story = Story([node("n1")], [delete("1s", "Namespace", name)], "3s")
    assert answers(story, "delete") == [(403, f'namespaces "{name}" is forbidden: this namespace may not be deleted')]


def test_the_server_makes_a_name_from_generate_name():
    bare = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "task-"}, "spec": template()["spec"]}
    names = list(Story([node("n1")], [create("1s", bare), create("2s", bare)], "5s").pods())
    assert len(names) == 2
    assert all(name.startswith("task-") and len(name) == 10 for name in names)
