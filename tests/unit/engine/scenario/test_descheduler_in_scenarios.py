"""A scenario runs a descheduler beside the scheduler; what is wrong with it is refused with the field."""

import pytest

from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.scenario import from_recorded, parse_scenario
from simulations.engine.simulation import Simulation
from tests.builders import make_node
from tests.unit.engine.descheduler.one_cycle import policy

TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "a"}]}}
WEB = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE},
}


def scenario(descheduler, *initial, **spec):
    objects = [item if isinstance(item, dict) else item.manifest() for item in initial]
    document = {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "again"}}
    return {**document, "spec": {"initial": objects, "descheduler": descheduler, **spec}}


def records(document):
    found = []
    simulation = Simulation(parse_scenario(document), on_records=found.extend)
    simulation.run()
    return found, simulation


def refused(document):
    with pytest.raises(ScenarioErrors) as caught:
        parse_scenario(document)
    return [(error.code, error.path) for error in caught.value.errors]


LATE_NODE = {"at": "5s", "createOperation": {"object": make_node("node-2").manifest()}}


def test_duplicates_move_to_a_node_that_comes_later():
    """Cycles at 0, 10, 20 s; at 10 s there are two nodes, so two of four pods go, and the scheduler places their successors there."""
    found, simulation = records(
        scenario(
            {"interval": "10s", "policy": policy(("RemoveDuplicates", {}))},
            make_node("node-1"), WEB, operations=[LATE_NODE], duration="25s",
        )
    )  # fmt: skip
    assert [(r.t // SECOND, r.reason) for r in found if r.verb == "cycle"] == [(0, "Skipped"), (10, ""), (20, "")]
    assert [r.t // SECOND for r in found if r.verb == "deschedule"] == [10, 10]
    running = [p.node_name for p in simulation.api.list("Pod")]
    assert sorted(running) == ["node-1", "node-1", "node-2", "node-2"]


def test_a_dry_run_evicts_nobody():
    """Decisions are recorded, calls are not made, and each cycle finds the pods where they were."""
    late = {**LATE_NODE, "at": 0}
    found, simulation = records(
        scenario(
            {"interval": "10s", "policy": policy(("RemoveDuplicates", {})), "dryRun": True},
            make_node("node-1"), WEB, operations=[late], warmup="5s", duration="25s", schedulers=[{}],
        )
    )  # fmt: skip
    assert [r for r in found if r.actor == "descheduler" and r.resource in ("pods/eviction", "events")] == []
    assert [(r.t // SECOND, r.data["dryRun"]) for r in found if r.verb == "deschedule"] == [(10, True)] * 2 + [(20, True)] * 2
    assert {p.node_name for p in simulation.api.list("Pod")} == {"node-1"}


def test_one_cycle_without_an_interval_and_the_run_settles():
    """Interval 0 ends after one cycle; cycles to come do not keep a run from having settled."""
    for interval in ("0s", "10s"):
        document = scenario(
            {"interval": interval, "policy": policy()}, make_node("a"), make_node("b"), until="Settled", duration="1h"
        )
        found, simulation = records(document)
        assert [r.reason for r in found if r.verb == "end"] == ["Settled"]
        assert simulation.loop.now < SECOND


def test_a_policy_is_refused_with_the_field_of_the_scenario():
    """Paths begin with spec.descheduler."""
    wrong = scenario({"policy": policy(("PodLifeTime", {}))})
    assert refused(wrong) == [("E0804", "spec.descheduler.policy.profiles[0].pluginConfig[1].args")]


@pytest.mark.parametrize(
    "descheduler, code, path",
    [
        ({}, "E0302", "spec.descheduler.policy"),
        ({"policy": policy(), "every": "5m"}, "E0301", "spec.descheduler.every"),
        ({"policy": policy(), "interval": "soon"}, "E0303", "spec.descheduler.interval"),
        ({"policy": policy(), "dryRun": "yes"}, "E0302", "spec.descheduler.dryRun"),
        ({"policy": policy(), "featureGates": {"Other": True}}, "E0306", "spec.descheduler.featureGates.Other"),
        (
            {"policy": policy(evictor={"priorityThreshold": {"name": "high"}})},
            "E0804",
            "spec.descheduler.policy.profiles[0].pluginConfig[0].args.priorityThreshold.name",
        ),
    ],
)
def test_wrong_deschedulers_are_refused(descheduler, code, path):
    """Unknown fields, wrong times, gates that there are not, classes that are not there."""
    assert refused(scenario(descheduler)) == [(code, path)]


def test_the_priority_class_of_a_threshold_may_come_from_the_objects():
    """As the real one asks the API server for it at its start."""
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 100}
    found, _simulation = records(
        scenario({"policy": policy(evictor={"priorityThreshold": {"name": "high"}})}, high, make_node("a"), make_node("b"))
    )
    assert [r.reason for r in found if r.verb == "cycle"] == [""]


def test_fields_that_nothing_reads_are_named():
    """What upstream accepts and never runs is stated with the run."""
    document = policy(("RemoveDuplicates", {}))
    document["profiles"][0]["plugins"]["sort"] = {"enabled": ["X"]}
    found, _simulation = records(scenario({"policy": document}, duration="1s"))
    assert any("plugins.sort.enabled of the descheduler's policy" in line for line in found[0].data["limits"])
    assert found[0].data["descheduler"]["profiles"] == [{"name": "p", "deschedule": [], "balance": ["RemoveDuplicates"]}]


def test_a_recorded_timeline_brings_its_descheduler():
    """Gates are text there; evictions in background are left out by name."""
    recorded = {"initial": [], "timeline": [], "descheduler": {"interval": "4s", "policy": policy()}}
    assert from_recorded(recorded).descheduler.interval == 4 * SECOND
    recorded["descheduler"]["featureGates"] = "EvictionsInBackground=true"
    assert from_recorded(recorded).descheduler is None
    assert "evictions in background" in from_recorded(recorded).not_modelled
