"""What the API server adds to objects before it stores them."""

import pytest

from tests.unit.engine.controllers.clusters import Story, create, node, patch, pod, template, workload

ZONE = "topology.kubernetes.io/zone"
KATA = {
    "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"}, "handler": "kata",
    "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}},
    "scheduling": {"nodeSelector": {"runtime": "kata"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
}  # fmt: skip


def answer(story, name="p"):
    return next((r.code, r.message) for r in story.records if r.name == name and r.actor == "user" and r.verb == "create")


def labelled(name, **labels):
    return {**pod(name), "metadata": {"name": name, "namespace": "default", "labels": labels}}


def test_a_runtime_class_adds_its_overhead_its_node_selector_and_its_tolerations():
    story = Story(
        [node("n1"), node("n2", labels={"runtime": "kata"}), KATA], [create("1s", pod("p", runtimeClassName="kata"))], "5s"
    )
    found = story.pods()["p"]
    assert (found.node_name, found.spec.requests["cpu"]) == ("n2", 350)
    assert "kata" in {toleration.key for toleration in found.spec.tolerations}
    at_start = Story([node("n2", labels={"runtime": "kata"}), pod("p", runtimeClassName="kata"), KATA], duration="5s")
    assert at_start.pods()["p"].spec.requests["cpu"] == 350


@pytest.mark.parametrize(
    "spec, text",
    [
        ({"runtimeClassName": "other"}, 'pod rejected: RuntimeClass "other" not found'),
        (
            {"runtimeClassName": "kata", "overhead": {"cpu": "1"}},
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
        ({"overhead": {"cpu": "1"}}, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"),
        (
            {"runtimeClassName": "kata", "nodeSelector": {"runtime": "runc"}},
            "conflict: runtimeClass.scheduling.nodeSelector[runtime] = kata; pod.spec.nodeSelector[runtime] = runc",
        ),
    ],
)
def test_what_does_not_fit_its_runtime_class_is_forbidden(spec, text):
    assert answer(Story([node("n1"), KATA], [create("1s", pod("p", **spec))], "3s")) == (403, f'pods "p" is forbidden: {text}')


def test_a_new_node_is_tainted_until_the_node_lifecycle_controller_has_seen_it():
    story = Story([pod("p")], [create("1s", node("n1"))], "10s")
    assert story.list("Node")[0].taints == ()
    taken_away = story.times("patch", "nodes", "n1", actor="controller-manager")
    assert len(taken_away) == 1
    assert story.times("create", "pods/binding")[0] > taken_away[0]
    [made] = [r for r in story.records if r.verb == "create" and r.name == "n1"]
    assert made.data["after"]["taints"] == [["node.kubernetes.io/not-ready", "", "NoSchedule"]]


def test_a_new_node_that_is_not_ready_keeps_its_taint_and_without_the_controller_there_is_none():
    down = node("n1")
    down["status"] = {**down["status"], "conditions": [{"type": "Ready", "status": "False"}]}
    assert [t.key for t in Story([], [create("1s", down)], "10s").list("Node")[0].taints] == ["node.kubernetes.io/not-ready"]
    assert Story([], [create("1s", down)], "10s", controllers=[]).list("Node")[0].taints == ()


def test_label_keys_are_frozen_when_a_pod_is_made_so_relabelling_breaks_spread_and_not_affinity():
    selector = {"matchLabels": {"app": "web"}}
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    term = {"topologyKey": ZONE, "labelSelector": selector, "matchLabelKeys": ["version", "absent"]}
    made = labelled("p", app="web", version="v7")
    made["spec"] |= {
        "topologySpreadConstraints": [{**spread, "matchLabelKeys": ["version"]}],
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
    }
    story = Story([], [create("1s", made), patch("2s", "Pod", "p", {"metadata": {"labels": {"version": "v8"}}})], "5s")
    spec = story.pods()["p"].spec
    wanted = [
        [(r.key, r.values) for r in s.requirements]
        for s in (spec.spread_constraints[0].selector, spec.pod_affinity.required[0].selector)
    ]
    assert wanted == [
        [("app", ("web",)), ("version", ("v7",)), ("version", ("v8",))],
        [("app", ("web",)), ("version", ("v7",))],
    ]


def test_pods_of_one_template_with_label_keys_share_their_spec():
    keyed = {"maxSkew": 5, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway", "matchLabelKeys": ["app"]}
    made = template(topologySpreadConstraints=[{**keyed, "labelSelector": {}}])
    story = Story([node("n1")], [create("1s", workload("ReplicaSet", replicas=3, made=made))], "5s")
    assert len({id(p.spec) for p in story.pods().values()}) == 1
