"""Kubelet and ReplicaSet controller, seen through whole small runs."""

import pytest

from simulations.engine.kernel.clock import MILLISECOND, SECOND
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "20"}},
}
ALPHABET = set("bcdfghjklmnpqrstvwxz2456789")


def pod(name="p", on=None, owner=None, grace=30, **annotations):
    spec = {"containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": grace, **({"nodeName": on} if on else {})}
    metadata = {"name": name, "namespace": "default", "labels": {"app": "web"}, "annotations": annotations}
    if owner:
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": "u", "controller": True}
        ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        **({"status": {"phase": "Running"}} if on else {}),
    }


def replicaset(replicas):
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default", "uid": "u"},
        "spec": spec,
    }


def run(*initial, operations=(), **spec):
    document = {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}}
    records = []
    spec = {
        "duration": "60s",
        "kubelet": {"startup": "1s", "stop": "2s"},
        **spec,
        "initial": [NODE, *initial],
        "operations": list(operations),
    }
    simulation = Simulation(parse_scenario({**document, "spec": spec}), on_records=records.extend)
    simulation.run()
    return simulation, records


def first(records, **wanted):
    return next(r for r in records if all(getattr(r, key) == value for key, value in wanted.items()))


def test_a_bound_pod_runs_after_the_startup():
    _simulation, records = run(pod())
    bound = first(records, resource="pods/binding")
    running = first(records, actor="kubelet", verb="patch")
    assert running.cause == bound.seq
    assert SECOND < running.t - bound.t < SECOND + 20 * MILLISECOND
    assert running.data["after"]["phase"] == "Running"


@pytest.mark.parametrize(
    "manifest, seconds, phase",
    [
        (pod(on="n1"), 2, "Succeeded"),
        (pod(on="n1", grace=1), 1, "Failed"),
        (pod(on="n1", **{"oracle/stop-seconds": "7"}), 7, "Succeeded"),
        (pod(on="n1", **{"oracle/stop-seconds": "1e999"}), 0, "Succeeded"),
        (pod(on="n1", **{"schedscope/exit-code": "143"}), 2, "Failed"),
    ],
    ids=[
        "its process stops",
        "its process is killed when the grace ends",
        "its own time to stop",
        "its own time is none",
        "its own exit code",
    ],
)
def test_a_deleted_pod_ends_within_its_grace_and_is_gone_after_the_cleanup(manifest, seconds, phase):
    _simulation, records = run(manifest, operations=[{"at": "1s", "deleteOperation": {"name": "p"}}])
    asked, ended, gone = first(records, actor="user"), first(records, actor="kubelet", verb="patch"), first(records, verb="gone")
    assert ended.data["after"]["phase"] == phase
    assert abs(ended.t - asked.t - seconds * SECOND) < 40 * MILLISECOND
    assert abs(gone.t - ended.t - 500 * MILLISECOND) < 40 * MILLISECOND


def test_without_a_cleanup_or_with_grace_zero_no_phase_comes_before_the_end():
    operations = [{"at": "1s", "deleteOperation": {"name": "p"}}]
    for manifest, kubelet in ((pod(on="n1"), {"stop": "2s", "cleanup": 0}), (pod(on="n1", grace=0), {})):
        _simulation, records = run(manifest, operations=operations, kubelet=kubelet)
        assert not [r for r in records if r.actor == "kubelet" and r.verb == "patch"]
        assert first(records, verb="gone").t < 4 * SECOND


def test_the_room_of_a_deleted_pod_is_free_when_its_containers_have_stopped():
    wide = {"resources": {"requests": {"cpu": "6"}}, "name": "c", "image": "i"}
    first_one, second = ({**p, "spec": {**p["spec"], "containers": [wide]}} for p in (pod(on="n1"), pod("next")))
    _simulation, records = run(first_one, second, operations=[{"at": "1s", "deleteOperation": {"name": "p"}}])
    ended, bound, gone = (
        first(records, name="p", actor="kubelet"),
        first(records, resource="pods/binding"),
        first(records, verb="gone"),
    )
    assert ended.t < bound.t < gone.t


def test_with_a_poll_the_kubelet_looks_at_its_multiples_only():
    _simulation, records = run(pod(), kubelet={"startup": "200ms", "stop": "1s", "poll": "50ms"})
    running = first(records, actor="kubelet", verb="patch")
    assert running.data["requested"] % (50 * MILLISECOND) == 0


def test_a_replicaset_replaces_a_pod_as_soon_as_it_is_being_deleted():
    pods = [pod(f"web-{i}", on="n1", owner="web") for i in range(2)]
    operations = [{"at": "5s", "deleteOperation": {"name": "web-0"}}]
    simulation, records = run(replicaset(2), *pods, operations=operations)
    deleted, created = first(records, actor="user", verb="delete"), first(records, actor="controller-manager", resource="pods")
    gone = first(records, verb="gone")
    assert created.cause == deleted.seq
    assert deleted.t < created.t < gone.t
    assert len(simulation.api.list("Pod")) == 2
    suffix = created.name.removeprefix("web-")
    assert len(suffix) == 5
    assert set(suffix) <= ALPHABET


def test_a_replicaset_with_all_its_pods_makes_none():
    _simulation, records = run(replicaset(2), *(pod(f"web-{i}", on="n1", owner="web") for i in range(2)))
    assert {r.resource for r in records if r.actor == "controller-manager"} == {"replicasets/status"}


def test_pods_of_an_owner_that_is_not_there_are_left_alone():
    simulation, records = run(pod("web-0", on="n1", owner="absent"))
    assert not [r for r in records if r.actor == "controller-manager"]
    assert [p.name for p in simulation.api.list("Pod")] == ["web-0"]


def test_an_orphan_that_is_selected_is_adopted_and_one_that_is_not_any_more_is_let_go_and_replaced():
    orphan, out = pod("stray", on="n1"), {"metadata": {"labels": {"app": "aside"}}}
    operations = [{"at": "5s", "patchOperation": {"name": "stray", "patch": out}}]
    simulation, records = run(replicaset(2), orphan, operations=operations)
    adopted, let_go = (r for r in records if r.name == "stray" and r.actor == "controller-manager" and r.verb == "patch")
    assert adopted.data["after"]["owner"] == "ReplicaSet/web"
    assert (let_go.t > 5 * SECOND, "owner" in let_go.data["after"]) == (True, False)
    pods = {p.name: p for p in simulation.api.list("Pod")}
    assert (len(pods), pods["stray"].phase) == (3, "Running")


def test_orphans_that_were_there_first_are_adopted_by_a_set_that_comes_later():
    operations = [{"at": "5s", "createOperation": {"object": replicaset(2)}}]
    simulation, _records = run(pod("a", on="n1"), pod("b", on="n1"), pod("c", on="n1"), operations=operations)
    left = simulation.api.list("Pod")
    assert len(left) == 2
    assert all(p.controller.name == "web" for p in left)


def test_scaling_down_takes_what_has_no_node_first():
    pods = [pod(f"web-{i}", on="n1", owner="web") for i in range(2)]
    pods.append({**pod("web-2", owner="web"), "spec": {**pod()["spec"], "nodeSelector": {"nowhere": "yes"}}})
    patch = {"kind": "ReplicaSet", "name": "web", "patch": {"spec": {"replicas": 2}}}
    simulation, _records = run(replicaset(3), *pods, operations=[{"at": "5s", "patchOperation": patch}])
    assert sorted(p.name for p in simulation.api.list("Pod")) == ["web-0", "web-1"]


def test_a_settled_run_ends_by_itself_and_an_endless_one_at_its_limit():
    document = {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}}
    settled = Simulation(
        parse_scenario({**document, "spec": {"initial": [NODE, pod()], "until": "Settled", "duration": "1h"}})
    ).run()
    assert (settled.reason, settled.end < 10 * SECOND) == ("Settled", True)
    empty = Simulation(parse_scenario({**document, "spec": {"duration": "5s"}})).run()
    assert (empty.reason, empty.end, empty.counts["pods"]) == ("Duration", 5 * SECOND, 0)


def test_a_run_stops_when_it_is_told_to():
    document = {
        "apiVersion": "schedscope/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "s"},
        "spec": {"initial": [NODE, pod()]},
    }
    assert Simulation(parse_scenario(document)).run(should_stop=lambda: True).reason == "Cancelled"
