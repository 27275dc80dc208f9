"""What-if changes: applied to a base, refused with the field, and the same as YAML and as settings."""

import pytest

from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from simulations.engine.whatif import (
    AddNodes,
    AddPods,
    NodeChange,
    ObjectChange,
    WhatIf,
    WorkloadChange,
    apply_what_if,
    compose,
    parse_settings,
    read_changes,
    write_changes,
)
from tests.unit.engine.controllers.clusters import node, workload

CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "critical"}, "value": 1000}
BASE = {
    "apiVersion": "schedscope/v1alpha1",
    "kind": "Scenario",
    "metadata": {"name": "base"},
    "spec": {"duration": "30s", "initial": [node("n1", labels={"zone": "a"}), CLASS, workload("Deployment", replicas=2)]},
}
WEB = "Deployment/default/web"


def changed(**changes):
    return apply_what_if(BASE, WhatIf(**changes))


def run(**changes):
    simulation = Simulation(parse_scenario(changed(**changes).document))
    simulation.run()
    return simulation.api


@pytest.mark.parametrize(
    "changes, path, value",
    [
        ({"kubernetes_version": "1.33"}, ("kubernetesVersion",), "1.33"),
        ({"async_preemption": False}, ("featureGates", "SchedulerAsyncPreemption"), False),
        ({"percentage_of_nodes_to_score": 30}, ("schedulers", 0, "percentageOfNodesToScore"), 30),
        ({"qps": 5.0, "burst": 7}, ("schedulers", 0, "clientConnection"), {"qps": 5.0, "burst": 7}),
        ({"weights": {"ImageLocality": 9}}, ("schedulers", 0, "profiles", 0, "plugins", "score", "enabled", 0, "weight"), 9),
        ({"preset": "production"}, ("costs", "preset"), "production"),
        ({"api_latency": "20ms"}, ("costs", "apiServer", "default"), "20ms"),
        ({"kubelet_startup": "4s", "kubelet_stop": "9s"}, ("kubelet",), {"startup": "4s", "stop": "9s"}),
        ({"until_settled": True}, ("until",), "Settled"),
        ({"duration": "5m"}, ("duration",), "5m"),
        ({"seed": 9}, ("seed",), 9),
        ({"faults": ({"match": "delete pods", "code": 422},)}, ("faults", 0, "code"), 422),
        ({"patch": {"costs": {"watchDelay": "20ms"}}}, ("costs", "watchDelay"), "20ms"),
    ],
    ids=lambda value: "" if isinstance(value, tuple) else None,
)
def test_a_setting_lands_in_the_scenario_says_what_differs_and_still_parses(changes, path, value):
    found = changed(**changes)
    at = found.document["spec"]
    for key in path:
        at = at[key]
    assert at == value
    assert found.changes
    parse_scenario(found.document)
    assert "kubelet" not in BASE["spec"], "the base is never touched"


@pytest.mark.parametrize("spec", [None, {}, {"costs": None, "kubelet": None, "schedulers": None, "operations": None}])
def test_a_base_that_leaves_fields_empty_can_be_changed(spec):
    found = apply_what_if({**BASE, "spec": spec}, WhatIf(kubelet_stop="9s", preset="production", qps=3.0, seed=4))
    parse_scenario(found.document)
    assert found.document["spec"]["kubelet"] == {"stop": "9s"}


def test_scoring_packs_instead_of_spreading():
    found = changed(scoring="MostAllocated")
    args = found.document["spec"]["schedulers"][0]["profiles"][0]["pluginConfig"][0]["args"]
    assert args["scoringStrategy"]["type"] == "MostAllocated"
    assert [(c.before, c.after) for c in found.changes] == [("LeastAllocated", "MostAllocated")]


def test_nodes_come_shaped_like_one_that_is_there():
    nodes = {n.name: n for n in run(add_nodes=AddNodes(2, "n1", "extra", "2", at="3s")).list("Node")}
    assert sorted(nodes) == ["extra-1", "extra-2", "n1"]
    assert (nodes["extra-1"].allocatable["cpu"], nodes["extra-1"].labels["zone"]) == (2000, "a")
    assert nodes["extra-1"].labels["kubernetes.io/hostname"] == "extra-1"


@pytest.mark.parametrize(
    "action, taint, holds",
    [
        ("cordon", "", lambda n: n[0].unschedulable),
        ("taint", "own=me:NoSchedule", lambda n: ("own", "me", "NoSchedule") in [(t.key, t.value, t.effect) for t in n[0].taints]),
        ("delete", "", lambda n: not n),
    ],
)
def test_things_befall_a_node(action, taint, holds):
    assert holds(run(nodes=(NodeChange("n1", action, taint, "3s"),)).list("Node"))


def test_a_workload_is_scaled_resized_and_made_more_urgent_while_it_runs():
    api = run(workloads=(WorkloadChange(WEB, 3, "250m", "", "critical", "5s"),))
    pods = api.list("Pod")
    assert {(p.spec.requests["cpu"], p.priority) for p in pods} == {(250, 1000)}
    assert len(pods) == 3


@pytest.mark.parametrize(
    "changes, code, path",
    [
        ({"add_nodes": AddNodes(count=0)}, "E0713", "addNodes.count"),
        ({"add_nodes": AddNodes(like="nobody")}, "E0724", "addNodes.like"),
        ({"add_nodes": AddNodes(name_prefix="-")}, "E0714", "addNodes.namePrefix"),
        ({"nodes": (NodeChange("nobody"),)}, "E0724", "nodes[0].node"),
        ({"nodes": (NodeChange("n1", "explode"),)}, "E0723", "nodes[0].action"),
        ({"nodes": (NodeChange("n1", "taint", "nonsense"),)}, "E0723", "nodes[0].taint"),
        ({"workloads": (WorkloadChange("Deployment/default/none", 1),)}, "E0724", "workloads[0].workload"),
        ({"workloads": (WorkloadChange(WEB),)}, "E0725", "workloads[0]"),
        ({"workloads": (WorkloadChange(WEB, -1),)}, "E0713", "workloads[0].replicas"),
        ({"workloads": (WorkloadChange(WEB, priority_class="none"),)}, "E0720", "workloads[0].priorityClass"),
        ({"workloads": (WorkloadChange(WEB, cpu="lots"),)}, "E0716", "workloads[0].cpu"),
        ({"percentage_of_nodes_to_score": 101}, "E0713", "percentageOfNodesToScore"),
        ({"scoring": "Random"}, "E0723", "scoring"),
        ({"weights": {"ImageLocality": 0}}, "E0713", "weights.ImageLocality"),
        ({"kubelet_stop": "soon"}, "E0711", "kubeletStop"),
        ({"add_pods": AddPods(at="400d")}, "E0711", "addPods.at"),
    ],
)
def test_a_wrong_change_is_refused_at_its_field(changes, code, path):
    with pytest.raises(ScenarioErrors) as refused:
        changed(**changes)
    assert [(e.code, e.path) for e in refused.value.errors] == [(code, path)]


EVERYTHING = WhatIf(
    add_pods=AddPods(3, "u", "default", "3", "1Gi", 5000, labels={"app": "x"}, at="7s"),
    add_nodes=AddNodes(2, "n1", "more", "16", at="9s"),
    nodes=(NodeChange("n1", "cordon", at="1s"), NodeChange("n2", "taint", "a=b:NoExecute")),
    workloads=(WorkloadChange(WEB, 4, "1", at="2s"),),
    async_preemption=False,
    kubernetes_version="1.34",
    scoring="MostAllocated",
    weights={"ImageLocality": 3},
    qps=10.0,
    faults=({"match": "delete pods", "code": 500},),
    seed=7,
    until_settled=True,
    patch={"costs": {"watchDelay": "20ms"}},
)


@pytest.mark.parametrize(
    "what_if", [WhatIf(), EVERYTHING, WhatIf(add_pods=AddPods(cpu=""))], ids=["nothing", "everything", "no request"]
)
def test_what_is_written_as_yaml_is_read_as_the_same(what_if):
    assert read_changes(write_changes(what_if)) == what_if


@pytest.mark.parametrize(
    "text, said",
    [
        ("addPods: {count: many}", "changes:1: E0703: addPods.count"),
        ("seed: 1\nnonsense: 2\n", "changes:2: E0702: nonsense"),
        ("nodes:\n- {action: cordon}\n", "E0703: nodes[0].node: Required value"),
        ("nodes: {}", "E0703: nodes: expected a list"),
        ("workloads: [{workload: a/b/c, colour: red}]", "E0702: workloads[0].colour"),
        ("seed: [", "changes:"),
        ("- 1", "E0113"),
        ("patch: 3", "E0703: patch: expected a mapping"),
    ],
)
def test_wrong_yaml_is_refused_with_line_and_field(text, said):
    with pytest.raises(ScenarioErrors) as refused:
        read_changes(text)
    assert said in str(refused.value)


def test_settings_of_the_command_line_say_the_same():
    words = [
        "add_nodes.count=2",
        "addNodes.like=n1",
        "node.n1=taint:a=b:NoSchedule@9s",
        f"workload.{WEB}.replicas=4",
        "weights.ImageLocality=3",
    ]
    found = parse_settings([*words, "kubelet_stop=9s", "untilSettled=true", "add_pods.labels.app=x"])
    assert found.add_nodes == AddNodes(2, "n1")
    assert found.nodes == (NodeChange("n1", "taint", "a=b:NoSchedule", "9s"),)
    assert found.workloads == (WorkloadChange(WEB, 4),)
    assert (found.weights, found.kubelet_stop, found.until_settled) == ({"ImageLocality": 3}, "9s", True)
    assert found.add_pods.labels == {"app": "x"}


@pytest.mark.parametrize(
    "word, code", [("seed", "E0701"), ("colour=red", "E0702"), ("seed=x", "E0703"), ("add_pods.colour=red", "E0702")]
)
def test_a_wrong_setting_is_refused(word, code):
    with pytest.raises(ScenarioErrors, match=code):
        parse_settings([word])


def test_a_second_taint_joins_the_first_and_one_of_the_same_key_and_effect_takes_its_place():
    taints = ("b=2:NoSchedule", "5s"), ("a=1:NoSchedule", "3s"), ("a=3:NoSchedule", "7s")
    (found,) = run(nodes=tuple(NodeChange("n1", "taint", taint, at) for taint, at in taints)).list("Node")
    assert {(t.key, t.value) for t in found.taints} == {("a", "3"), ("b", "2")}


def test_all_that_is_not_in_the_base_is_reported_at_once():
    with pytest.raises(ScenarioErrors) as refused:
        changed(
            nodes=(NodeChange("x"), NodeChange("y")),
            workloads=(WorkloadChange("Job/default/x", 1), WorkloadChange(WEB, priority_class="none")),
            add_pods=AddPods(priority_class="none"),
        )
    assert [e.path for e in refused.value.errors] == [
        "nodes[0].node", "nodes[1].node", "workloads[0].workload", "workloads[1].priorityClass", "addPods.priorityClass",
    ]  # fmt: skip


def test_a_node_that_comes_can_be_changed_but_not_before_it_is_there():
    comes = AddNodes(1, "n1", at="5s")
    nodes = {n.name: n for n in run(add_nodes=comes, nodes=(NodeChange("extra-1", "cordon", at="5s"),)).list("Node")}
    assert nodes["extra-1"].unschedulable
    with pytest.raises(ScenarioErrors, match=r"E0712: nodes\[0\].at: the node extra-1 comes at 5s"):
        changed(add_nodes=comes, nodes=(NodeChange("extra-1", "cordon", at="4s"),))


def test_a_daemon_set_takes_no_replicas():
    with pytest.raises(ScenarioErrors, match=r"E0726: workloads\[0\].replicas"):
        changed(workloads=(WorkloadChange("DaemonSet/default/agent", 3),))


def test_a_job_tells_its_parallelism():
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sums", "namespace": "default"},
        "spec": {"parallelism": 4},
    }
    found = apply_what_if(BASE, WhatIf(workloads=(WorkloadChange("Job/default/sums", 9),)), [job])
    assert [(c.before, c.after) for c in found.changes] == [("parallelism 4", "parallelism 9 at 5s")]


class TestObjects:
    """Any object of the base, by its manifest."""

    def test_a_patch_holds_from_the_start_and_keeps_what_it_does_not_name(self):
        found = changed(objects=(ObjectChange(WEB, {"spec": {"replicas": 5}}),))
        web = next(o for o in found.document["spec"]["initial"] if o["kind"] == "Deployment")
        assert (web["spec"]["replicas"], web["spec"]["template"]) == (5, BASE["spec"]["initial"][2]["spec"]["template"])
        assert [(c.field, c.before, c.after) for c in found.changes] == [(WEB, "spec.replicas 2", "spec.replicas 5")]
        assert BASE["spec"]["initial"][2]["spec"]["replicas"] == 2

    def test_of_lists_what_differs_is_told_and_of_what_comes_every_field(self):
        containers = [{**c, "image": "other:1"} for c in BASE["spec"]["initial"][2]["spec"]["template"]["spec"]["containers"]]
        fresh, taint = {**CLASS, "metadata": {"name": "fresh"}}, {"key": "a", "effect": "NoSchedule"}
        found = changed(
            objects=(
                ObjectChange(WEB, {"spec": {"template": {"spec": {"containers": containers}}}}),
                ObjectChange("Node/n1", {"metadata": {"labels": {"zone": None}}, "spec": {"taints": [taint]}}),
                ObjectChange("PriorityClass/fresh", fresh),
            )
        )  # fmt: skip
        assert [(c.before, c.after) for c in found.changes] == [
            ("spec.template.spec.containers[0].image app:1", "spec.template.spec.containers[0].image other:1"),
            ("metadata.labels.zone a", "metadata.labels.zone <none>, spec.taints [{effect: NoSchedule, key: a}]"),
            ("", "apiVersion scheduling.k8s.io/v1, kind PriorityClass, metadata.name fresh, value 1000"),
        ]

    def test_at_a_time_it_is_patched_or_deleted_by_a_user(self):
        operations = changed(
            objects=(
                ObjectChange("Node/n1", {"spec": {"unschedulable": True}}, at="3s"),
                ObjectChange("Node/n1", delete=True, at="9s"),
            )
        ).document["spec"]["operations"]
        assert [next(iter(set(o) - {"at"})) for o in operations] == ["patchOperation", "deleteOperation"]

    def test_a_whole_manifest_of_what_is_not_there_comes_new(self):
        fresh = {**CLASS, "metadata": {"name": "fresh"}}
        assert fresh in changed(objects=(ObjectChange("PriorityClass/fresh", fresh),)).document["spec"]["initial"]

    def test_an_object_of_the_snapshot_is_changed_in_its_place(self):
        snapshot = [node("a"), node("b"), node("c")]
        what_if = WhatIf(objects=(ObjectChange("Node/b", {"spec": {"unschedulable": True}}),))
        whole = compose(apply_what_if(BASE, what_if, snapshot).document, snapshot)
        names = [(o["metadata"]["name"], (o.get("spec") or {}).get("unschedulable")) for o in whole["spec"]["initial"]]
        assert names[:4] == [("a", None), ("b", True), ("c", None), ("n1", None)]

    @pytest.mark.parametrize(
        "change, code",
        [
            (ObjectChange("Pod/default/nobody", {"spec": {}}), "E0724"),
            (ObjectChange("Node/a/b", {"spec": {}}), "E0724"),
            (ObjectChange("Node/n1"), "E0725"),
            (ObjectChange("Node/n1", {"spec": {}}, at="soon"), "E0711"),
        ],
        ids=["not there", "a name that cannot be", "nothing to do", "no time"],
    )
    def test_what_cannot_be_done_is_refused(self, change, code):
        with pytest.raises(ScenarioErrors) as found:
            changed(objects=(change,))
        assert found.value.errors[0].code == code

    def test_yaml_says_the_same_both_ways(self):
        what_if = WhatIf(
            objects=(
                ObjectChange("Pod/a/b", {"spec": {"nodeSelector": {"disk": None}}}),
                ObjectChange("Pod/a/c", delete=True, at="5s"),
            )
        )
        assert read_changes(write_changes(what_if)) == what_if
