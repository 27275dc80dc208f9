"""StatefulSets: numbered Pods, in order."""

from tests.unit.engine.controllers.clusters import Story, delete, node, patch, template, workload

NEW = {"spec": {"template": template(image="db:2", app="db")}}


def stateful(replicas=3, **spec):
    return workload("StatefulSet", "db", template(app="db"), replicas=replicas, serviceName="db", **spec)


def test_pods_come_one_after_the_other_each_when_the_one_before_is_ready():
    story = Story([node("n1"), stateful()])
    created = [
        (r.name, r.t) for r in story.records if (r.verb, r.resource) == ("create", "pods") and r.actor == "controller-manager"
    ]
    ready = {r.name: r.t for r in story.records if r.actor == "kubelet" and (r.data.get("after") or {}).get("ready")}
    assert [name for name, _t in created] == ["db-0", "db-1", "db-2"]
    assert created[1][1] > ready["db-0"]
    assert created[2][1] > ready["db-1"]
    labels = story.pods()["db-1"].labels
    assert (labels["apps.kubernetes.io/pod-index"], labels["statefulset.kubernetes.io/pod-name"]) == ("1", "db-1")
    assert story.events("SuccessfulCreate")[0] == "create Pod db-0 in StatefulSet db successful"


def test_parallel_makes_them_at_once():
    story = Story([node("n1"), stateful(podManagementPolicy="Parallel")])
    times = story.times("create")
    assert max(times) - min(times) < 0.5


def test_a_pod_is_made_anew_only_when_the_old_one_has_disappeared():
    story = Story([node("n1"), stateful()], [delete("20s", "Pod", "db-1")])
    again = [t for t in story.times("create", name="db-1") if t > 20]
    gone = story.times("gone", name="db-1")
    assert gone[0] > 21
    assert again[0] > gone[0]


def test_it_shrinks_from_the_highest_number():
    story = Story([node("n1"), stateful()], [patch("20s", "StatefulSet", "db", {"spec": {"replicas": 1}})])
    deleted = [r.name for r in story.records if (r.verb, r.resource, r.actor) == ("delete", "pods", "controller-manager")]
    assert (deleted, list(story.pods())) == (["db-2", "db-1"], ["db-0"])


def test_an_update_goes_from_the_highest_number_down_to_the_partition():
    story = Story(
        [node("n1"), stateful(updateStrategy={"rollingUpdate": {"partition": 1}})], [patch("20s", "StatefulSet", "db", NEW)]
    )
    deleted = [r.name for r in story.records if (r.verb, r.resource, r.actor) == ("delete", "pods", "controller-manager")]
    assert deleted == ["db-2", "db-1"]
    images = {name: p.spec.raw["containers"][0]["image"] for name, p in story.pods().items()}
    assert images == {"db-0": "app:1", "db-1": "db:2", "db-2": "db:2"}
