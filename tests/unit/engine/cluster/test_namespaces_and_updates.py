"""What the API server answers when a namespace, a quota or an unchangeable field stands in the way."""

import pytest

from tests.unit.engine.controllers.clusters import Story, create, delete, node, patch, pod, workload


def in_namespace(manifest, namespace):
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}


def quota(**hard):
    names = {name.replace("_", "."): value for name, value in hard.items()}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": names}}


def limits(**item):
    metadata = {"name": "l", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [{"type": "Container", **item}]}}


def answers(story, name="p", resource="pods"):
    return [(r.code, r.message) for r in story.records if r.resource == resource and r.name == name and r.actor == "user"]


def test_a_pod_in_a_namespace_that_is_not_there_is_not_found():
    story = Story([node("n1")], [create("1s", in_namespace(pod("p"), "nowhere"))], "5s")
    assert answers(story) == [(404, 'namespaces "nowhere" not found')]


def test_a_namespace_can_be_made_first_and_those_of_initial_objects_are_there():
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    story = Story(
        [node("n1"), in_namespace(workload("ReplicaSet", replicas=1), "shop")],
        [create("1s", made), create("2s", in_namespace(pod("p"), "team"))],
    )
    assert sorted(p.namespace for p in story.pods().values()) == ["shop", "team"]


@pytest.mark.parametrize(
    "hard, text",
    [
        ({"pods": "1"}, "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"),
        (
            {"requests_cpu": "150m"},
            "exceeded quota: q, requested: requests.cpu=100m, used: requests.cpu=100m, limited: requests.cpu=150m",
        ),
        ({"limits_memory": "1Gi"}, "failed quota: q: must specify limits.memory for: main"),
        ({"memory": "100Mi"}, "exceeded quota: q, requested: memory=64Mi, used: memory=64Mi, limited: memory=100Mi"),
    ],
)
def test_a_quota_forbids_what_is_too_much(hard, text):
    operations = [create("1s", pod("first")), create("2s", pod("p"))]
    assert answers(Story([node("n1"), quota(**hard)], operations, "5s")) == [(403, f'pods "p" is forbidden: {text}')]


def test_a_replicaset_says_that_its_quota_is_exceeded():
    story = Story([node("n1"), quota(pods="2"), workload("ReplicaSet", replicas=3)], duration="5s")
    assert len(story.pods()) == 2
    assert "exceeded quota: q" in story.events("FailedCreate")[0]


def test_a_quota_counts_other_objects_too_and_only_pods_that_have_not_ended():
    one = {**workload("ReplicaSet", "p", replicas=0), "metadata": {"name": "p", "namespace": "default"}}
    counted = quota(**{"count/replicasets.apps": "0"})
    story = Story([node("n1"), counted], [create("1s", one)], "5s")
    text = 'replicasets.apps "p" is forbidden: exceeded quota: q, requested: count/replicasets.apps=1, used: count/replicasets.apps=0, '
    assert answers(story, "p", "replicasets") == [(403, f"{text}limited: count/replicasets.apps=0")]
    ends = pod("first")
    ends["metadata"]["annotations"] = {"schedscope/run-seconds": "1"}
    assert answers(Story([node("n1"), quota(pods="1")], [create("1s", ends), create("8s", pod("p"))], "12s")) == [(201, "")]


def test_a_quota_with_scopes_counts_only_the_pods_in_them():
    urgent = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 10}
    scoped = quota(pods="0")
    expression = {"scopeName": "PriorityClass", "operator": "In", "values": ["urgent"]}
    scoped["spec"]["scopeSelector"] = {"matchExpressions": [expression]}
    operations = [create("1s", pod("free")), create("2s", pod("p", priorityClassName="urgent"))]
    story = Story([node("n1"), urgent, scoped], operations, "5s")
    assert [code for code, _text in answers(story, "free")] == [201]
    assert [code for code, _text in answers(story, "p")] == [403]


def test_a_limit_range_bounds_whole_pods_and_the_ratio_of_limit_to_request():
    whole = limits()
    whole["spec"]["limits"] = [{"type": "Pod", "max": {"cpu": "1"}}]
    wide = pod("p")
    wide["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "500m"}, "limits": {"cpu": "2"}}
    text = "maximum cpu usage per Pod is 1, but limit is 2"
    assert answers(Story([node("n1"), whole], [create("1s", wide)], "5s")) == [(403, f'pods "p" is forbidden: {text}')]
    text = "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000"
    ratio = limits(maxLimitRequestRatio={"cpu": "2"})
    assert answers(Story([node("n1"), ratio], [create("1s", wide)], "5s")) == [(403, f'pods "p" is forbidden: {text}')]


def test_a_limit_range_fills_in_what_a_container_leaves_out():
    bare = pod("p")
    bare["spec"]["containers"] = [{"name": "main", "image": "app:1"}]
    story = Story(
        [node("n1"), limits(default={"cpu": "500m"}, defaultRequest={"cpu": "200m", "memory": "64Mi"})], [create("1s", bare)], "5s"
    )
    assert story.pods()["p"].spec.requests == {"cpu": 200, "memory": 64 * 2**20}


@pytest.mark.parametrize(
    "item, text",
    [
        ({"min": {"cpu": "200m"}}, "minimum cpu usage per Container is 200m, but request is 100m"),
        ({"max": {"cpu": "1"}}, "maximum cpu usage per Container is 1.  No limit is specified"),
    ],
)
def test_a_limit_range_forbids_what_is_outside(item, text):
    assert answers(Story([node("n1"), limits(**item)], [create("1s", pod("p"))], "5s")) == [(403, f'pods "p" is forbidden: {text}')]


@pytest.mark.parametrize(
    "change, refused",
    [
        ({"containers": [{"name": "main", "image": "app:2", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]}, ""),
        ({"activeDeadlineSeconds": 60}, ""),
        ({"priorityClassName": "other"}, "spec: Forbidden: pod updates may not change fields other than"),
        ({"nodeSelector": {"a": "b"}}, "spec: Forbidden: pod updates may not change fields other than"),
        ({"tolerations": []}, "spec.tolerations: Forbidden"),
        ({"schedulingGates": [{"name": "g"}]}, "spec.schedulingGates: Forbidden: only deletion is allowed"),
    ],
)
def test_only_some_fields_of_a_pod_may_change(change, refused):
    [(code, message)] = answers(Story([node("n1"), pod("p")], [patch("1s", "Pod", "p", {"spec": change})], "5s"))
    assert code == (422 if refused else 200)
    assert message.startswith(f'Pod "p" is invalid: {refused}' if refused else "")


def test_an_old_resource_version_is_a_conflict():
    [(code, message)] = answers(
        Story([node("n1"), pod("p")], [patch("3s", "Pod", "p", {"metadata": {"resourceVersion": "1"}})], "5s")
    )
    assert (code, "the object has been modified" in message) == (409, True)


def test_a_finalizer_holds_a_pod_until_it_is_removed_and_no_new_one_can_be_added():
    held = pod("p")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    more = {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}
    operations = [
        delete("1s", "Pod", "p", gracePeriodSeconds=0),
        patch("2s", "Pod", "p", more),
        patch("8s", "Pod", "p", {"metadata": {"finalizers": []}}),
    ]
    story = Story([held], operations, "10s")
    assert [code for code, _message in answers(story)] == [200, 422, 200]
    assert 8 < story.times("gone", name="p")[0] < 9
