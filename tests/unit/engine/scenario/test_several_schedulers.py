"""Several schedulers in one scenario: who decides a Pod, and what is refused or stated before the run."""

import pytest

from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "node-1"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}, "conditions": [{"type": "Ready", "status": "True"}]},
}


def pod(name, scheduler):
    container = {"name": "main", "image": "registry.example/a:1", "resources": {"requests": {"cpu": "100m"}}}
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"schedulerName": scheduler, "containers": [container]},
    }


def named(*names, **fields):
    return {"profiles": [{"schedulerName": name} for name in names], **fields}


def scenario(*schedulers, pods=()):
    spec = {"duration": "10s", "schedulers": list(schedulers), "initial": [NODE, *pods]}
    return {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "several"}, "spec": spec}


def run(document):
    records = []
    Simulation(parse_scenario(document), on_records=records.extend).run()
    return records


def bindings(records):
    return [(r.actor, r.name, r.code) for r in records if r.verb == "create" and r.resource == "pods/binding"]


@pytest.mark.parametrize(
    "schedulers, actors",
    [
        ([named("red", "blue")], {"kube-scheduler"}),
        ([named("red"), named("blue")], {"kube-scheduler", "kube-scheduler-2"}),
    ],
)
def test_a_pod_is_bound_by_the_process_that_answers_to_its_scheduler_name(schedulers, actors):
    records = run(scenario(*schedulers, pods=[pod("a", "red"), pod("b", "blue"), pod("c", "green")]))
    found = bindings(records)
    assert {name for _actor, name, _code in found} == {"a", "b"}
    assert {actor for actor, _name, _code in found} == actors
    assert not [r for r in records if r.verb == "attempt" and r.name == "c"]


def test_two_processes_of_one_name_both_decide_and_one_binding_is_refused():
    records = run(scenario(named("red"), named("red"), pods=[pod("a", "red")]))
    assert sorted(code for _actor, _name, code in bindings(records)) == [201, 409]
    assert "2 schedulers answer to red: no leader is elected, all of them decide" in records[0].data["limits"]


def test_leader_election_is_said_to_change_nothing():
    records = run(scenario(named("red", leaderElection={"leaderElect": True})))
    assert "leaderElection of red is read and changes nothing here" in records[0].data["limits"]


@pytest.mark.parametrize(
    "second, code, path",
    [
        (named("red", "red"), "E0401", "spec.schedulers[1].profiles[1].schedulerName"),
        (named("red", extenders=[{"urlPrefix": "https://extender.example"}]), "E0401", "spec.schedulers[1].extenders"),
        (
            {"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": {"affinity": {}}}]}]},
            "E0403",
            "spec.schedulers[1].profiles[0].pluginConfig[NodeAffinity].args.affinity",
        ),
    ],
)
def test_a_wrong_scheduler_is_refused_before_the_run_with_its_path(second, code, path):
    with pytest.raises(ScenarioErrors) as caught:
        parse_scenario(scenario(named("red"), second))
    assert [(error.code, error.path) for error in caught.value.errors] == [(code, path)]
