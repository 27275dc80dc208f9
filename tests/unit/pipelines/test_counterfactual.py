"""Smallest changes: found by asking the scheduler, true when the scenario is run with them, and no smaller one is."""

import pytest

from simulations.analysis.why.fit_words import part_text
from simulations.engine.counterfactual import Part, smallest_changes
from simulations.engine.kernel.clock import SECOND
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from simulations.engine.whatif import apply_what_if, compose, read_changes
from simulations.pipelines.counterfactual import Question, answer
from tests.builders import HOSTNAME, REQUIRED, ZONE, make_node, make_pod

TAINT = ("dedicated", "db", "NoSchedule")
CLASSES = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}, "value": 5},
]  # fmt: skip


def node(name, **amounts):
    built = make_node(name)
    for resource, amount in amounts.items():
        built.resource(resource, amount)
    return built


def with_limits(pod, resource, amount):
    """Extended resources have a limit that is the request."""
    pod.resource(resource, amount).manifest()["spec"]["containers"][0]["resources"]["limits"] = {resource: amount}
    return pod


def document(pod, *objects, later=(), **spec):
    """A scenario in which the pod is created at T+1 s among the objects."""
    created = pod.manifest()
    created["metadata"] = {k: v for k, v in created["metadata"].items() if k != "uid"}
    operations = [{"at": "1s", "createOperation": {"object": created}}, *later]
    initial = [each.manifest() if hasattr(each, "manifest") else each for each in objects]
    return {
        "apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "small"},
        "spec": {"duration": "30s", "initial": initial, "operations": operations, **spec},
    }  # fmt: skip


def failed_attempt(base, name, objects=()):
    records = []
    Simulation(parse_scenario(compose(base, objects)), on_records=records.extend).run()
    return next(r for r in records if r.verb == "attempt" and r.name == name and r.reason == "Unschedulable")


def ask(base, name="wanted", objects=(), **more):
    attempt = failed_attempt(base, name, objects)
    return answer(Question(base, objects, 1, attempt.uid, attempt.data["started"]), **more)


def run_with(base, suggestion, objects=()):
    changed = apply_what_if(base, read_changes(suggestion.changes), objects).document
    simulation = Simulation(parse_scenario(compose(changed, objects)))
    simulation.run()
    return simulation.api


def of_kind(found, *kinds):
    return next(s for s in found.suggestions if tuple(p["kind"] for p in s.parts) == kinds)


FULL = make_pod("full").request(cpu="3500m").on("n1")
CASES = {
    "a smaller request": (
        document(make_pod("wanted").request(cpu="1200m", memory="1Gi"), node("n1"), FULL), "request", "cpu", "500m", "n1",
    ),
    "of an extended resource": (
        document(with_limits(make_pod("wanted"), "example.com/gpu", "4"), node("n1", **{"example.com/gpu": "3"})),
        "request", "example.com/gpu", "3", "n1",
    ),
    "a toleration": (
        document(make_pod("wanted").request(cpu="1"), node("n1").taint(*TAINT)), "toleration", "dedicated=db:NoSchedule", "", "n1",
    ),
    "a key of the node selector": (
        document(make_pod("wanted").node_selector(disk="ssd", arch="arm"), node("n1").labels({"arch": "arm"})),
        "nodeSelector", "disk=ssd", "", "n1",
    ),
    "a label of a node": (
        document(make_pod("wanted").node_selector(disk="ssd", arch="arm"), node("n1").labels({"arch": "arm"})),
        "label", "n1", "disk=ssd", "n1",
    ),
    "anti-affinity": (
        document(make_pod("wanted").apart(HOSTNAME, app="web"), node("n1"), make_pod("other").labels(app="web").on("n1")),
        "podAntiAffinity", "term 1, by kubernetes.io/hostname", "", "n1",
    ),
    "affinity": (
        document(make_pod("wanted").near(HOSTNAME, app="cache"), node("n1")),
        "podAffinity", "term 1, by kubernetes.io/hostname", "", "n1",
    ),
    "a larger skew": (
        document(
            make_pod("wanted").labels(app="web").spread(ZONE),
            node("n1").zone("a"), node("n2", pods="0").zone("b"),
            *(make_pod(f"web-{i}").labels(app="web").on("n1") for i in range(2)),
        ), "maxSkew", ZONE, "3", "n1",
    ),
    "a host port": (
        document(make_pod("wanted").host_port(80), node("n1"), make_pod("other").host_port(80).on("n1")),
        "hostPort", "TCP 80", "", "n1",
    ),
    "an uncordoned node": (
        document(make_pod("wanted"), node("n1").cordoned()), "uncordon", "n1", "", "n1",
    ),
    "a node that comes": (
        document(make_pod("wanted").request(cpu="1"), node("n1"), make_pod("full").request(cpu="3500m").on("n1")),
        "addNode", "extra-1", "n1", "extra-1",
    ),
    "required node affinity": (
        document(
            make_pod("wanted").spec(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "pool", "operator": "In", "values": ["gpu"]}, {"key": HOSTNAME, "operator": "Exists"}]}]}}}),
            node("n1"),
        ), "nodeAffinity", "pool In gpu", "", "n1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_one_change_is_enough_and_a_run_with_it_places_the_pod(case):
    base, kind, target, after, lands = case
    found = ask(base)
    suggestion = next(s for s in found.suggestions if [(p["kind"], p["target"]) for p in s.parts] == [(kind, target)])
    assert (suggestion.parts[0]["after"], suggestion.node) == (after, lands)
    assert (suggestion.tried.placed, suggestion.tried.node) == (True, lands)
    assert run_with(base, suggestion).get("Pod", "default", "wanted").node_name == lands


@pytest.mark.parametrize("cpu, node_name", [("500m", "n1"), ("501m", "")], ids=["fits", "one milliCPU more does not"])
def test_the_request_that_is_found_is_the_largest_that_fits(cpu, node_name):
    base = document(make_pod("wanted").request(cpu=cpu), node("n1"), FULL)
    simulation = Simulation(parse_scenario(base))
    simulation.run()
    assert simulation.api.get("Pod", "default", "wanted").node_name == node_name
    larger = document(make_pod("wanted").request(cpu="700m"), node("n1"), FULL)
    assert of_kind(ask(larger), "request").parts[0]["after"] == "500m"


def test_the_lowest_priority_that_finds_victims_names_them_and_a_run_with_it_preempts_them():
    low = [make_pod(f"low-{i}").request(cpu="2").spec(priorityClassName="low").on("n1") for i in range(2)]
    base = document(make_pod("wanted").request(cpu="2"), node("n1"), *low, *CLASSES)
    found = of_kind(ask(base), "priority")
    assert (found.parts[0]["before"], found.parts[0]["after"], found.node) == ("0", "6", "n1")
    assert len(found.victims) == 1
    api = run_with(base, found)
    assert api.get("Pod", "default", "wanted").node_name == "n1"
    assert api.get("Pod", *found.victims[0].split("/")) is None


def test_pods_that_no_priority_moves_can_be_deleted():
    high = make_pod("high").request(cpu="4").spec(priorityClassName="system-node-critical").on("n1")
    base = document(make_pod("wanted").request(cpu="4"), node("n1"), high)
    found = ask(base)
    assert all(part["kind"] != "priority" for s in found.suggestions for part in s.parts)
    assert of_kind(found, "free").victims == ("default/high",)
    assert run_with(base, of_kind(found, "free")).get("Pod", "default", "wanted").node_name == "n1"


def test_two_changes_together_where_one_alone_is_not_enough():
    base = document(make_pod("wanted").request(cpu="2").node_selector(disk="ssd"), node("n1").taint(*TAINT))
    found = ask(base)
    assert [sorted(p["kind"] for p in s.parts) for s in found.suggestions] == [
        ["nodeSelector", "toleration"],
        ["label", "toleration"],
    ]
    pair = next(s for s in found.suggestions if len(s.parts) == 2)
    assert pair.tried.placed
    assert run_with(base, pair).get("Pod", "default", "wanted").node_name == "n1"


def test_three_changes_where_two_are_not_enough_and_none_of_them_can_be_left_out():
    pod = make_pod("wanted").request(cpu="3").node_selector(disk="ssd")
    base = document(
        pod, node("n1").taint(*TAINT), make_pod("full").request(cpu="1500m").spec(priorityClassName="system-node-critical").on("n1")
    )
    found = next(s for s in ask(base).suggestions if len(s.parts) > 1)
    parts = {p["kind"]: p["after"] for p in found.parts}
    assert parts == {"nodeSelector": "", "toleration": "", "request": "2500m"}
    assert run_with(base, found).get("Pod", "default", "wanted").node_name == "n1"


def test_two_changes_of_one_node_are_made_together():
    found = ask(document(make_pod("wanted").node_selector(disk="ssd"), node("n1").cordoned()))
    both = next(s for s in found.suggestions if {p["kind"] for p in s.parts} == {"label", "uncordon"})
    assert (both.node, both.tried.placed) == ("n1", True)


def test_smaller_changes_come_first():
    base = document(make_pod("wanted").request(cpu="600m"), node("n1"), node("n2").taint(*TAINT), FULL)
    kinds = [s.parts[0]["kind"] for s in ask(base).suggestions]
    assert kinds[:2] == ["request", "toleration"]
    assert kinds[-1] == "addNode"


def test_a_pod_of_a_workload_is_changed_by_its_template_and_all_its_pods_find_a_place():
    template = {"metadata": {"labels": {"app": "web"}}, "spec": make_pod("x").request(cpu="1500m").manifest()["spec"]}
    workload = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }  # fmt: skip
    base = document(make_pod("unrelated"), node("n1"), workload)
    records = []
    Simulation(parse_scenario(base), on_records=records.extend).run()
    attempt = next(r for r in records if r.verb == "attempt" and r.reason == "Unschedulable")
    found = of_kind(answer(Question(base, (), 1, attempt.uid, attempt.data["started"])), "request")
    assert found.target == "Deployment/default/web"
    assert (found.parts[0]["after"], found.tried.pods, found.tried.pending) == ("1", 3, 0)


def test_a_pod_of_a_snapshot_is_changed_in_its_place():
    objects = [node("n1").manifest(), make_pod("wanted").request(cpu="9").manifest()]
    base = document(make_pod("unrelated"))
    found = of_kind(ask(base, objects=objects), "request")
    assert found.tried.placed
    assert run_with(base, found, objects).get("Pod", "default", "wanted").spec.requests["cpu"] == 4000


def test_a_generated_pod_is_written_out():
    manifest = make_pod("x").request(cpu="3").manifest()
    generated = {"count": 2, "namePrefix": "many-", "object": {**manifest, "metadata": {"namespace": "default"}}}
    base = document(make_pod("unrelated"), node("n1"), generate=[generated])
    found = of_kind(ask(base, "many-1"), "request")
    api = run_with(base, found)
    assert [api.get("Pod", "default", f"many-{i}").node_name for i in range(2)] == ["n1", "n1"]


def test_without_nodes_nothing_is_suggested():
    assert ask(document(make_pod("wanted"))).suggestions == ()


def test_an_attempt_that_the_run_does_not_have_has_no_answer():
    assert answer(Question(document(make_pod("wanted"), node("n1")), (), 1, "nobody", SECOND)) is None


def test_asking_changes_nothing_in_the_scheduler():
    """The run goes on after the question exactly as without it."""
    relief = {"spec": {"unschedulable": None}, "metadata": {"labels": {"disk": "ssd"}}}
    base = document(
        make_pod("wanted").request(cpu="2").node_selector(disk="ssd"), node("n1").taint(*TAINT), node("n2").cordoned(), FULL,
        later=[{"at": "3s", "patchOperation": {"kind": "Node", "name": "n2", "patch": relief}}],
    )  # fmt: skip
    plain, asked = [], []
    Simulation(parse_scenario(base), on_records=plain.extend).run()
    Simulation(parse_scenario(base), on_records=asked.extend, on_cycle=smallest_changes).run()
    assert [(r.seq, r.t, r.verb, r.data) for r in asked] == [(r.seq, r.t, r.verb, r.data) for r in plain]


@pytest.mark.parametrize(
    "part, text",
    [
        (Part("request", "cpu", "2", "500m", 750), "request cpu 500m instead of 2"),
        (Part("toleration", "a=b:NoSchedule", "", "", 1000), "tolerate the taint a=b:NoSchedule"),
        (Part("priority", "priority", "0", "6", 1900), "have priority 6 instead of 0"),
        (Part("addNode", "extra-1", "", "n1", 4000), "one more node like n1"),
    ],
    ids=lambda value: value.kind if isinstance(value, Part) else "",
)
def test_a_part_is_told_in_words(part, text):
    assert part_text(part.kind, part.target, part.before, part.after) == text


def test_it_says_what_became_of_the_pod_without_any_change():
    relief = {"kind": "Node", "name": "n1", "patch": {"spec": {"unschedulable": None}}}
    helped = document(make_pod("wanted"), node("n1").cordoned(), later=[{"at": "7s", "patchOperation": relief}])
    assert ask(helped).without.time > 7 * SECOND
    assert not ask(document(make_pod("wanted"), node("n1").cordoned())).without.placed


def test_a_change_that_others_of_the_workload_undo_is_tried_and_said_to_fail():
    """With a higher priority for all its pods, none of them has lower ones to preempt."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": make_pod("x").request(cpu="2500m").manifest()["spec"]}
    workload = {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }  # fmt: skip
    base = document(make_pod("unrelated"), node("n1"), workload)
    records = []
    Simulation(parse_scenario(base), on_records=records.extend).run()
    attempt = next(r for r in records if r.verb == "attempt" and r.reason == "Unschedulable")
    found = of_kind(answer(Question(base, (), 1, attempt.uid, attempt.data["started"])), "priority")
    assert (found.tried.placed, found.tried.pods, found.tried.pending) == (False, 2, 1)
