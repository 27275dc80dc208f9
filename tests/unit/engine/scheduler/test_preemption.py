"""Who is eligible to preempt, who would have to go, which Node is picked, and what is said where it does not help."""

import random

import pytest

from simulations.engine.api.pod import Condition
from simulations.engine.scheduler.preemption.dry_run import CandidateLimits
from simulations.engine.scheduler.preemption.evaluator import evaluate
from simulations.engine.scheduler.preemption.outcome_data import outcome_data
from tests.builders import HOSTNAME, make, make_node, make_pod
from tests.unit.engine.scheduler.cluster_of import Cluster

NOW = 10**12


def preempt(cluster, builder):
    pod = builder.build()
    result = cluster.schedule(pod)
    assert not result.node, "the pod fits without preemption"
    outcome = evaluate(cluster.framework, pod, result, NOW, random.Random(0))
    result.diagnosis.post_filter_message = outcome.message
    return outcome, result.diagnosis.message()


def running(name, cpu="1", priority=0, start=0, node="n1", **labels):
    return make_pod(name).request(cpu=cpu).priority(priority).started(start).on(node).labels(**labels)


def budget(allowed, name="pdb", selector=None, **status):
    fields = {
        "spec": {"selector": selector or {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": allowed, **status},
    }
    return make("PodDisruptionBudget", name, "policy/v1", **fields)


def names(victims):
    return [victim.name for victim in victims]


FOUR = [running("c", priority=10), running("d", priority=5), running("a", start=1), running("b", start=2)]


def test_the_least_important_pods_have_to_go():
    outcome, message = preempt(Cluster([make_node("n1")], FOUR), make_pod("p").request(cpu="2").priority(100))
    assert names(outcome.victims) == ["a", "b"]
    assert (outcome.node, outcome.nomination, outcome.rule) == ("n1", "set", "only candidate")
    assert message == "0/1 nodes are available: 1 Insufficient cpu."


def test_a_pod_whose_budget_would_be_violated_is_given_back_first():
    pods = [running("c", priority=10), running("d", priority=5), running("a", start=1, app="web"), running("b", start=2)]
    outcome, _ = preempt(Cluster([make_node("n1")], pods, [budget(0)]), make_pod("p").request(cpu="2").priority(100))
    assert names(outcome.victims) == ["d", "b"]
    assert outcome.winner is not None
    assert outcome.winner.violations == 0


@pytest.mark.parametrize(
    "pdb, violations",
    [
        pytest.param(budget(0), 1, id="no disruption allowed"),
        pytest.param(budget(1), 0, id="one allowed"),
        pytest.param(budget(0, selector={"matchExpressions": []}), 0, id="an empty selector protects nothing"),
        pytest.param(budget(0, disruptedPods={"a": "2026-01-01T00:00:00Z"}), 0, id="already being disrupted"),
        pytest.param(budget(0, selector={"matchLabels": {"app": "other"}}), 0, id="another selector"),
    ],
)
def test_budgets_count_violations(pdb, violations):
    cluster = Cluster([make_node("n1")], [running("a", "4", app="web")], [pdb])
    outcome, _ = preempt(cluster, make_pod("p").request(cpu="2").priority(100))
    assert outcome.winner is not None
    assert outcome.winner.violations == violations


def test_the_budget_is_used_up_from_the_most_important_pod_down():
    pods = [running("low", "2", 1, app="web"), running("high", "2", 50, app="web")]
    outcome, _ = preempt(Cluster([make_node("n1")], pods, [budget(1)]), make_pod("p").request(cpu="4").priority(100))
    assert outcome.winner is not None
    assert outcome.winner.violating == ("uid-low",)
    assert names(outcome.victims) == ["high", "low"]


@pytest.mark.parametrize(
    "pods, node, rule",
    [
        pytest.param([running("a", "4", app="web"), running("b", "4", 50, node="n2")], "n2", "fewest PDB violations", id="budget"),
        pytest.param(
            [running("a", "4", 50), running("b", "4", 10, node="n2")], "n2", "lowest highest-priority victim", id="highest"
        ),
        pytest.param(
            [running("a", "2", 10), running("a2", "2", 10), running("b", "4", 10, node="n2")],
            "n2",
            "smallest sum of priorities, 2^31 added for each victim",
            id="sum",
        ),
        pytest.param(
            [running("a", "4", 10, start=5), running("b", "4", 10, start=9, node="n2")],
            "n2",
            "latest start of the most important victims",
            id="start",
        ),
        pytest.param([running("a", "4"), running("b", "4", node="n2")], "n1", "equal under every rule: the first one", id="equal"),
    ],
)
def test_one_candidate_is_picked_by_the_first_rule_that_decides(pods, node, rule):
    cluster = Cluster([make_node("n1"), make_node("n2")], pods, [budget(0)])
    outcome, _ = preempt(cluster, make_pod("p").request(cpu="4").priority(100))
    assert (outcome.node, outcome.rule) == (node, rule)
    assert len(outcome.candidates) == 2


def test_where_nobody_is_less_important_the_message_says_so_and_the_nomination_is_cleared():
    cluster = Cluster([make_node("n1"), make_node("n2").cordoned()], [running("a", "4", 100)])
    outcome, message = preempt(cluster, make_pod("p").request(cpu="2").priority(100))
    assert outcome.nomination == "cleared"
    assert message == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to deallocate, preemption: "
        "0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    )
    assert outcome_data(outcome, NOW) == {"none": [["No preemption victims found for incoming pod", [[0, 1]]]]}


def test_a_node_that_stays_full_without_its_lower_pods_names_its_reason():
    cluster = Cluster([make_node("n1")], [running("a", "3", 200), running("b", "1", 1)])
    outcome, message = preempt(cluster, make_pod("p").request(cpu="2").priority(100))
    assert outcome.winner is None
    assert message.endswith("preemption: 0/1 nodes are available: 1 Insufficient cpu.")


def test_a_pod_that_may_not_preempt_keeps_its_nomination():
    cluster = Cluster([make_node("n1")], [running("a", "4")])
    outcome, message = preempt(cluster, make_pod("p").request(cpu="2").priority(100).spec(preemptionPolicy="Never"))
    assert outcome.nomination == "unchanged"
    assert message.endswith("preemption: not eligible due to preemptionPolicy=Never.")


def victim_leaving(reason="PreemptionByScheduler"):
    return running("a", "4").terminating().build().replace(conditions=(Condition("DisruptionTarget", "True", reason),))


@pytest.mark.parametrize("reason, eligible", [("PreemptionByScheduler", False), ("EvictionByEvictionAPI", True)])
def test_a_preemptor_waits_while_its_victims_terminate(reason, eligible):
    cluster = Cluster([make_node("n1"), make_node("n2")], [running("b", "4", node="n2")])
    cluster.cache.add_pod(victim_leaving(reason))
    outcome, message = preempt(cluster, make_pod("p").request(cpu="2").priority(100).nominated("n1"))
    assert (outcome.winner is not None) is eligible
    if not eligible:
        assert outcome.nomination == "unchanged"
        assert message.endswith("preemption: not eligible due to a terminating pod on the nominated node.")


def test_a_nomination_for_a_node_that_is_gone_or_ruled_out_does_not_make_the_pod_wait():
    cluster = Cluster([make_node("n1").cordoned(), make_node("n2")], [running("b", "4", node="n2")])
    cluster.cache.add_pod(victim_leaving())
    for nominated in ("n1", "gone"):
        outcome, _ = preempt(cluster, make_pod("p").request(cpu="2").priority(100).nominated(nominated))
        assert outcome.node == "n2"


def test_where_pre_filter_ended_the_cycle_the_message_ends_with_not_found():
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("n1", "n2")]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    outcome, message = preempt(Cluster([make_node("n1")]), make_pod("p").spec(affinity=affinity))
    assert message == "0/1 nodes are available: pod affinity terms conflict. not found"
    assert (outcome.nomination, outcome.called) == ("unchanged", False)


def test_plugins_that_are_disabled_say_nothing():
    def without(name):
        return {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": name}]}}}]}

    pod = make_pod("p").request(cpu="2").priority(100)
    _, message = preempt(Cluster([make_node("n1")], [running("a", "4")], config=without("DefaultPreemption")), pod)
    assert message == "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate"
    _, message = preempt(Cluster([make_node("n1")], [running("a", "4", 100)], config=without("DynamicResources")), pod)
    assert message.startswith("0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1")


def test_anti_affinity_of_a_victim_goes_with_it_and_the_dry_run_leaves_no_trace():
    shy = running("shy", "1", app="x").apart(HOSTNAME, app="db")
    cluster = Cluster([make_node("n1")], [shy, running("other", "1")])
    pod = make_pod("p").labels(app="db").priority(100)
    for _ in range(2):
        outcome, message = preempt(cluster, pod)
        assert names(outcome.victims) == ["shy"]
        assert message == "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
    assert sorted(p.name for p in cluster.cache.infos["n1"].pods) == ["other", "shy"]


@pytest.mark.parametrize("nodes, wanted", [(5, 5), (100, 100), (500, 100), (5000, 500)])
def test_how_many_candidates_the_dry_run_looks_for(nodes, wanted):
    assert CandidateLimits().number(nodes) == wanted


def test_the_dry_run_stops_when_it_has_enough_candidates():
    nodes = [make_node(f"n{i}") for i in range(150)]
    pods = [running(f"v{i}", "4", node=f"n{i}") for i in range(150)]
    outcome, _ = preempt(Cluster(nodes, pods), make_pod("p").request(cpu="2").priority(100))
    assert len(outcome.candidates) == 100


def test_the_record_of_a_preemption_tells_what_the_rules_compared():
    pods = [running("a", "2", 5, start=3, app="web"), running("b", "2", 7, start=1)]
    outcome, _ = preempt(Cluster([make_node("n1")], pods, [budget(0)]), make_pod("p").request(cpu="4").priority(100))
    data = outcome_data(outcome, NOW)
    assert [v["name"] for v in data["victims"]] == ["b", "a"]
    assert [v["pdb_violated"] for v in data["victims"]] == [False, True]
    assert data["candidates"] == [
        {
            "row": 0,
            "node": "n1",
            "violations": 1,
            "highest": 7,
            "sum": 12,
            "victims": 2,
            "start": 10**9,
            "names": ["default/b", "default/a"],
        }
    ]
