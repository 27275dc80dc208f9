"""The estimate of a run is near what the run comes to: nodes and pods, and the order of magnitude of its records."""

import pytest

from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from simulations.engine.whatif.estimate import estimate
from simulations.samples import sample
from tests.builders import make_node, make_pod

NEAR = ("async-preemption", "sync-preemption", "busy-shop", "race-lower-fits", "race-higher-takes", "gated-pods", "urgent-rollout")


def records_of(document):
    number = 0

    def count(records):
        nonlocal number
        number += len(records)

    Simulation(parse_scenario(document), on_records=count).run()
    return number


def scenario(initial, duration="60s", **spec):
    metadata = {"name": "estimated"}
    body = {"duration": duration, "initial": [item.manifest() for item in initial], **spec}
    return {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": metadata, "spec": body}


@pytest.mark.parametrize("slug", NEAR)
def test_records_are_guessed_within_a_factor_of_four(slug):
    document = sample(slug).document()
    real = records_of(document)
    assert real / 4 < estimate(document).records < real * 4


def coming(number, cpu, priority=0):
    pod = make_pod("x").request(cpu=cpu).priority(priority).manifest()
    return [{"count": number, "namePrefix": "new-", "object": pod}]


def test_pods_that_fit_pods_that_preempt_and_pods_that_wait_cost_differently():
    nodes = [make_node(f"n{i}").allocatable(cpu="4", memory="8Gi", pods="110") for i in range(10)]
    full = [make_pod(f"run-{i}-{k}").request(cpu="1").on(f"n{i}") for i in range(10) for k in range(4)]
    fitting = estimate(scenario(nodes, generate=coming(20, "1")))
    preempting = estimate(scenario([*nodes, *full], generate=coming(20, "1", priority=100)))
    waiting = estimate(scenario([*nodes, *full], generate=coming(20, "1")))
    assert fitting.records < waiting.records < preempting.records
    assert (fitting.nodes, fitting.pods, preempting.pods) == (10, 20, 60)


def test_what_an_operation_creates_or_scales_counts():
    web = {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {}}},
    }  # fmt: skip
    document = scenario([make_node("n1").allocatable(cpu="4", pods="110")])
    document["spec"]["initial"].append(web)
    patch = {"at": "5s", "patchOperation": {"kind": "ReplicaSet", "name": "web", "patch": {"spec": {"replicas": 12}}}}
    more = {**document, "spec": {**document["spec"], "operations": [patch]}}
    assert estimate(more).pods - estimate(document).pods == 10


def test_a_short_run_ends_before_all_pods_of_a_workload_are_made():
    document = scenario([make_node("n1").allocatable(cpu="4", pods="110")], duration="1s")
    document["spec"]["initial"].append(
        {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": 5000, "template": {}}}
    )
    assert estimate(document).pods < 100
