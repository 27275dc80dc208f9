"""The loop and the two executors, seen through whole small runs."""

import itertools

from simulations.engine.kernel.clock import MILLISECOND, SECOND
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation

CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}},
}

SMALL_NODE = {**NODE, "metadata": {"name": "n2"}, "status": {"allocatable": {"cpu": "1", "memory": "8Gi", "pods": "20"}}}


def pod(name, cpu, **spec):
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "labels": {"app": name}}}
    manifest["spec"] = {"containers": [container], **spec}
    if "nodeName" in spec:
        manifest["status"] = {"phase": "Running", "startTime": "2025-12-31T00:00:00Z"}
    return manifest


def create(at, manifest):
    return {"at": at, "createOperation": {"object": manifest}}


def run(*initial, operations=(), **spec):
    document = {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}}
    spec = {"duration": "20s", **spec, "initial": [CLASS, NODE, *initial], "operations": list(operations)}
    records = []
    simulation = Simulation(parse_scenario({**document, "spec": spec}), on_records=records.extend)
    simulation.run()
    return simulation, records


def of(records, **wanted):
    return [r for r in records if all(getattr(r, key) == value for key, value in wanted.items())]


FULL = [pod(f"low-{i}", "1300m", nodeName="n1", terminationGracePeriodSeconds=2) for i in range(3)]
SLOW = {"apiServer": {"delete pods": "200ms", "patch pods/status": "100ms"}}


def preemption(*, in_background):
    operations = [create("1s", pod("urgent", "3", priorityClassName="high")), create("1010ms", pod("small", "50m"))]
    gates = {"SchedulerAsyncPreemption": in_background}
    return run(SMALL_NODE, *FULL, operations=operations, featureGates=gates, costs=SLOW)[1]


def wait_of_small(records):
    return (
        of(records, resource="pods/binding", name="small")[0].t
        - of(records, verb="create", resource="pods", name="small", actor="user")[0].t
    )


def test_with_the_asynchronous_executor_the_loop_goes_on_while_victims_are_deleted():
    assert wait_of_small(preemption(in_background=True)) < 150 * MILLISECOND


def test_with_the_synchronous_executor_it_waits_for_the_deletions():
    records = preemption(in_background=False)
    assert wait_of_small(records) > 350 * MILLISECOND
    assert of(records, verb="preempt")[0].data["executor"] == "sync"


def test_every_victim_is_marked_then_deleted_then_told_about():
    records = preemption(in_background=True)
    decision = of(records, verb="preempt")[0]
    for victim in decision.data["victims"]:
        patched = of(records, actor="kube-scheduler", resource="pods/status", name=victim["name"])[0]
        deleted = of(records, actor="kube-scheduler", verb="delete", name=victim["name"])[0]
        told = next(r for r in of(records, resource="events") if r.data["reason"] == "Preempted" and r.name == victim["name"])
        assert patched.data["status"]["conditions"][0]["reason"] == "PreemptionByScheduler"
        assert patched.t < deleted.t < told.t
        assert {patched.cause, deleted.cause} == {decision.seq}
    assert of(records, resource="pods/binding", name="urgent")


def test_a_refused_deletion_is_repeated_at_once_and_the_nomination_stays():
    faults = [{"match": "delete pods", "actor": "kube-scheduler", "code": 422}]
    simulation, records = run(
        *FULL, operations=[create("1s", pod("urgent", "3", priorityClassName="high"))], faults=faults, duration="4s"
    )
    refused = of(records, actor="kube-scheduler", verb="delete", code=422)
    assert len(refused) > 100
    assert simulation.api.get("Pod", "default", "urgent").nominated_node_name == "n1"
    assert len(of(records, resource="pods/status", name="urgent")) == 1


def test_as_the_kep_has_it_a_refused_deletion_takes_the_nomination_back_and_backs_off():
    faults = [{"match": "delete pods", "actor": "kube-scheduler", "code": 422}]
    operations = [create("1s", pod("urgent", "3", priorityClassName="high"))]
    records = run(*FULL, operations=operations, faults=faults, duration="14s", asyncPreemptionFailure="kep")[1]
    attempts = [round(r.t / SECOND) for r in of(records, verb="attempt", name="urgent")]
    assert attempts == [1, 3, 6, 11], "one, two, four seconds and the rest of a second in between"
    nominations = [(r.reason, r.data["node"]) for r in of(records, verb="nominate", name="urgent")]
    assert nominations == [("Set", "n1"), ("Cleared", "")] * 4
    cleared = [
        r for r in of(records, resource="pods/status", name="urgent") if r.data["status"].get("nominatedNodeName", "") is None
    ]
    assert len(cleared) == 4
    assert {r.data["event"] for r in of(records, verb="enqueue", name="urgent") if r.data["queue"] == "backoff"} == {
        "PreemptionFailed"
    }


def test_as_the_kep_has_it_the_preemptor_takes_the_room_when_deletions_are_allowed_again():
    faults = [{"match": "delete pods", "actor": "kube-scheduler", "code": 422, "between": ["0s", "2s"]}]
    operations = [create("1s", pod("urgent", "3", priorityClassName="high"))]
    simulation, _records = run(*FULL, operations=operations, faults=faults, asyncPreemptionFailure="kep")
    assert simulation.api.get("Pod", "default", "urgent").node_name == "n1"


def test_without_candidates_the_nomination_is_cleared():
    operations = [
        create("1s", pod("mid", "3", priorityClassName="high")),
        {"at": "1500ms", "deleteOperation": {"kind": "Node", "name": "n1"}},
    ]
    slow = [pod("low", "3500m", nodeName="n1", terminationGracePeriodSeconds=30)]
    simulation, records = run(*slow, operations=operations, kubelet={"stop": "8s"})
    assert of(records, verb="nominate", name="mid")[0].reason == "Set"
    assert simulation.api.get("Pod", "default", "mid").node_name == ""


def test_a_bind_that_fails_gives_the_room_back_and_backs_off():
    faults = [{"match": "create pods/binding", "code": 500, "between": ["0s", "2s"]}]
    simulation, records = run(operations=[create("1s", pod("p", "1"))], faults=faults)
    assert of(records, verb="forget", name="p")
    again = of(records, resource="pods/binding", name="p", code=201)[0]
    assert again.t >= 3 * SECOND
    assert simulation.api.get("Pod", "default", "p").node_name == "n1"


def test_an_empty_cluster_says_so_and_backs_off():
    document = {
        "apiVersion": "schedscope/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "s"},
        "spec": {"duration": "5s", "initial": [pod("p", "1")]},
    }
    records = []
    Simulation(parse_scenario(document), on_records=records.extend).run()
    assert of(records, verb="attempt")[0].message == "no nodes available to schedule pods"
    assert len(of(records, verb="attempt")) > 1


def test_equal_events_become_one_series():
    _simulation, records = run(
        pod("p", "9"), operations=[create(f"{i}s", pod(f"q{i}", "100m")) for i in range(2, 8)], duration="9s"
    )
    created = [r for r in of(records, resource="events", verb="create", name="p") if r.data["reason"] == "FailedScheduling"]
    assert len(created) == 1


def test_every_record_has_a_cause_that_came_before_it():
    records = preemption(in_background=True)
    assert all(r.cause < r.seq for r in records)
    assert [r.seq for r in records] == list(range(1, len(records) + 1))
    assert all(a.t <= b.t for a, b in itertools.pairwise(records))


def test_a_pod_that_was_deleted_while_in_flight_is_not_queued_again():
    operations = [create("1s", pod("p", "9")), {"at": "1004ms", "deleteOperation": {"name": "p"}}]
    slow = {"schedulingCycle": {"base": "100ms"}}
    _simulation, records = run(operations=operations, costs=slow)
    assert len(of(records, verb="attempt", name="p")) == 1
    assert not [r for r in of(records, verb="enqueue", name="p") if r.data["queue"] == "unschedulable"]


def test_a_pod_comes_back_to_the_queue_as_it_is_by_now():
    patch = {"metadata": {"labels": {"app": "other"}}}
    operations = [create("1s", pod("p", "9")), {"at": "1020ms", "patchOperation": {"kind": "Pod", "name": "p", "patch": patch}}]
    simulation, _records = run(operations=operations, costs={"schedulingCycle": {"base": "100ms"}})
    queued = simulation.schedulers[0].queue.find(simulation.api.get("Pod", "default", "p").uid)
    assert queued.pod.labels["app"] == "other"
