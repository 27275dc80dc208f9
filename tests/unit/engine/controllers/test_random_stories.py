"""Whatever users do to workloads, nodes and namespaces: the run ends, repeats itself, and keeps its rules."""

import random

import pytest

from tests.unit.engine.controllers.clusters import Story, create, delete, node, patch, pod, template, workload

OWNING = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
CHANGES = (
    {"spec": {"replicas": 0}},
    {"spec": {"replicas": 5}},
    {"spec": {"template": template(image="app:2")}},
    {"spec": {"paused": True}},
    {"spec": {"suspend": True}},
    {"spec": {"unschedulable": True}},
    {"metadata": {"labels": {"app": "aside"}}},
    {"metadata": {"labels": [1]}},
    {"metadata": {"finalizers": ["example.com/hold"]}},
    {"metadata": {"finalizers": []}},
    {"spec": 5},
)
DELETIONS = ({}, {"propagationPolicy": "Foreground"}, {"propagationPolicy": "Orphan"}, {"gracePeriodSeconds": 0})


def manifest(rng, kind, name):
    ends = rng.choice([None, {"schedscope/run-seconds": "5", "schedscope/exit-code": rng.choice("01")}])
    made = template(rng.choice(["100m", "2", "9"]), app=name, annotations=ends)
    if kind == "Pod":
        return pod(name, cpu=rng.choice(["1", "-1", "lots", "7"]))
    if kind == "Namespace":
        return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
    if kind == "Job":
        made["spec"]["restartPolicy"] = "Never"
        more = rng.choice(
            [{}, {"completions": 3}, {"completions": 3, "completionMode": "Indexed"}, {"podReplacementPolicy": "Failed"}]
        )
        return workload(kind, name, made, parallelism=rng.randrange(4), **more)
    more = {} if kind == "DaemonSet" else {"replicas": rng.randrange(5)}
    if kind == "StatefulSet":
        more["podManagementPolicy"] = rng.choice(["Parallel", "OrderedReady"])
    return workload(kind, name, made, **more)


def operations(rng):
    at = 0
    for _ in range(25):
        at += rng.choice([0, 1, 3, 7, 20])
        kind = rng.choice([*OWNING, "Job", "Pod", "Namespace", "Node"])
        name = f"n{rng.randrange(4)}" if kind == "Node" else f"{kind.lower()}-{rng.randrange(3)}"
        what = rng.random()
        if what < 0.5 and kind != "Node":
            yield create(at, manifest(rng, kind, name))
        elif what < 0.7:
            yield patch(at, kind, name, rng.choice(CHANGES))
        elif what < 0.85:
            yield delete(at, kind, name, **rng.choice(DELETIONS))
        else:
            yield {"at": at, rng.choice(["failNodeOperation", "recoverNodeOperation"]): {"node": f"n{rng.randrange(4)}"}}


def story(seed):
    return Story([node(f"n{i}") for i in range(3)], operations(random.Random(seed)), "600s", until="Settled")


@pytest.mark.parametrize("seed", range(8))
def test_no_node_is_over_committed_and_every_write_of_a_controller_has_its_cause(seed):
    told = story(seed)
    for one in told.list("Node"):
        here = [p for p in told.list("Pod") if p.node_name == one.name and not p.terminal]
        assert sum(p.spec.requests.get("cpu", 0) for p in here) <= one.allocatable["cpu"]
    sequence = {r.seq for r in told.records}
    caused = [r for r in told.records if r.actor in ("controller-manager", "kubelet")]
    assert [r for r in caused if r.cause not in sequence or r.cause >= r.seq] == []


def test_the_same_story_is_told_twice_in_the_same_bytes():
    assert [repr(r) for r in story(3).records] == [repr(r) for r in story(3).records]
