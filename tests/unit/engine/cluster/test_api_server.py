"""The API server: admission, answers, deletion, binding, watches; and what calls cost."""

import pytest

from simulations.engine.api.pod import Condition
from simulations.engine.cluster.api_server import ApiServer, ClusterSettings
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.costs import Costs, Latency
from simulations.engine.cluster.faults import Fault
from simulations.engine.cluster.limiter import TokenBucket
from simulations.engine.cluster.setup import load
from simulations.engine.kernel.clock import MILLISECOND, SECOND
from simulations.engine.kernel.loop import EventLoop
from simulations.engine.kernel.streams import Streams
from simulations.engine.kernel.trace import Trace

CLASSES = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "base"},
        "value": 7,
        "globalDefault": True,
    },
]
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "z1"}},
    "status": {"allocatable": {"cpu": "4", "pods": "10"}},
}


def pod(name="p", **spec):
    containers = [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": containers, **spec},
    }


class Bench:
    """A server with a client, and every watch event of Pods."""

    def __init__(self, *objects, actor="user", qps=None, burst=None, **settings):
        self.loop = EventLoop()
        self.trace = Trace(keep=True)
        constant = {"default": Latency(5 * MILLISECOND)}
        self.api = ApiServer(self.loop, self.trace, ClusterSettings(costs=Costs(api=constant), **settings), Streams(1))
        load(self.api, [*CLASSES, NODE, *objects])
        self.seen = []
        self.api.watch("Pod", lambda event: self.seen.append((event.type, event.object.name, self.loop.now)))
        self.client = Client(self.api, actor, qps=qps, burst=burst)

    def answer(self, future):
        self.loop.run()
        return future.value

    def created(self, **spec):
        self.answer(self.client.create(pod(**spec)))
        return self.api.get("Pod", "default", "p")


def test_a_bare_pod_gets_priority_tolerations_and_requests_from_its_limits():
    made = Bench().created()
    assert (made.priority, made.spec.priority_class_name) == (7, "base")
    assert made.spec.requests == {"cpu": 1000}
    assert {t.seconds for t in made.spec.tolerations} == {300}
    assert (made.phase, made.node_name, len(made.uid)) == ("Pending", "", 36)


@pytest.mark.parametrize(
    "manifest, code, words",
    [
        (pod(priorityClassName="nobody"), 403, "no PriorityClass with name nobody was found"),
        (pod(priorityClassName="high", priority=5), 403, "must not be provided in pod spec"),
        (
            pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule"}]),
            422,
            "greater than zero",
        ),
        (pod(tolerations=[{"operator": "Like"}]), 422, "Unsupported value"),
        (pod(containers=[{"name": "c", "resources": {"requests": {"cpu": "-1"}}}]), 422, "must be greater than or equal to 0"),
        (pod(containers=[{"name": "c", "resources": {"requests": {"cpu": "lots"}}}]), 400, "cannot be handled"),
        (pod(name="Upper"), 422, "RFC 1123"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else None,
)
def test_wrong_manifests_are_answered_as_the_api_server_would(manifest, code, words):
    bench = Bench()
    answer = bench.answer(bench.client.create(manifest))
    assert answer.code == code
    assert words in answer.message
    assert bench.api.list("Pod") == []


def test_a_name_that_is_taken_is_a_conflict():
    bench = Bench()
    bench.created()
    answer = bench.answer(bench.client.create(pod()))
    assert (answer.code, answer.reason, answer.message) == (409, "AlreadyExists", 'pods "p" already exists')


def test_an_unbound_pod_is_gone_at_once():
    bench = Bench()
    bench.created()
    bench.answer(bench.client.delete("Pod", "default", "p"))
    assert bench.api.get("Pod", "default", "p") is None
    bench.trace.flush()
    assert [r.verb for r in bench.trace.records][-2:] == ["delete", "gone"]


def bound(bench):
    bench.created()
    bench.answer(bench.client.bind(bench.api.get("Pod", "default", "p"), "n1"))
    return bench.api.get("Pod", "default", "p")


def test_binding_sets_condition_and_topology_labels_and_clears_the_nomination():
    bench = Bench()
    waiting = bench.created()
    bench.answer(bench.client.patch_pod_status(waiting, nominated="n1"))
    assert bench.api.get("Pod", "default", "p").nominated_node_name == "n1"
    bench.answer(bench.client.bind(waiting, "n1"))
    after = bench.api.get("Pod", "default", "p")
    assert (after.node_name, after.nominated_node_name) == ("n1", "")
    assert after.condition("PodScheduled").status == "True"
    assert after.labels["topology.kubernetes.io/zone"] == "z1"


def test_before_1_35_binding_keeps_the_nomination():
    bench = Bench(feature_gates={"ClearingNominatedNodeNameAfterBinding": False})
    waiting = bench.created()
    bench.answer(bench.client.patch_pod_status(waiting, nominated="n1"))
    bench.answer(bench.client.bind(waiting, "n1"))
    assert bench.api.get("Pod", "default", "p").nominated_node_name == "n1"


def test_a_bound_pod_cannot_be_bound_again():
    bench = Bench()
    before = bound(bench)
    answer = bench.answer(bench.client.bind(before, "n1"))
    assert answer.code == 409
    assert 'already assigned to node "n1"' in answer.message


def test_a_second_deletion_can_only_shorten_the_grace():
    bench = Bench()
    bound(bench)
    bench.answer(bench.client.delete("Pod", "default", "p", grace_seconds=30))
    first = bench.api.get("Pod", "default", "p")
    bench.answer(bench.client.delete("Pod", "default", "p", grace_seconds=60))
    assert bench.api.get("Pod", "default", "p").deletion_time == first.deletion_time
    bench.answer(bench.client.delete("Pod", "default", "p", grace_seconds=10))
    assert bench.api.get("Pod", "default", "p").deletion_time == first.deletion_time - 20 * SECOND
    assert bench.api.get("Pod", "default", "p").generation == first.generation == 2


def test_a_write_without_change_is_not_stored_and_nobody_hears_of_it():
    bench = Bench()
    made = bench.created()
    condition = Condition("PodScheduled", "False", "Unschedulable", "no room")
    bench.answer(bench.client.patch_pod_status(made, conditions=(condition,)))
    version, heard = bench.api.get("Pod", "default", "p").resource_version, len(bench.seen)
    bench.answer(bench.client.patch_pod_status(made, conditions=(condition,)))
    assert bench.api.get("Pod", "default", "p").resource_version == version
    assert len(bench.seen) == heard


def test_a_status_patch_names_only_what_differs():
    bench = Bench()
    made = bench.created()
    bench.answer(bench.client.patch_pod_status(made, conditions=(Condition("PodScheduled", "False", "Unschedulable", "a"),)))
    known = bench.api.get("Pod", "default", "p")
    bench.answer(bench.client.patch_pod_status(known, conditions=(Condition("PodScheduled", "False", "Unschedulable", "b"),)))
    bench.trace.flush()
    assert bench.trace.records[-1].data["status"] == {"conditions": [{"message": "b", "type": "PodScheduled"}]}


def test_watchers_hear_after_the_watch_delay_in_order():
    bench = Bench()
    bench.client.create(pod("a"))
    bench.client.create(pod("b"))
    bench.loop.run()
    assert bench.seen == [("ADDED", "a", 7 * MILLISECOND), ("ADDED", "b", 7 * MILLISECOND)]


def test_client_limits_let_the_burst_through_and_then_hold_back():
    bucket = TokenBucket(50, 100)
    waits = [bucket.wait(0) for _ in range(103)]
    assert waits[:100] == [0] * 100
    assert waits[100:] == [20 * MILLISECOND, 40 * MILLISECOND, 60 * MILLISECOND]
    assert bucket.wait(10 * SECOND) == 0


@pytest.mark.parametrize(
    "fault, struck",
    [
        (Fault("delete pods", 422), True),
        (Fault("delete pods", 422, names=("q",)), False),
        (Fault("delete pods", 422, actor="kube-scheduler"), False),
        (Fault("create pods", 500), False),
        (Fault("delete pods", 422, start=SECOND), False),
        (Fault("delete pods", 422, start=0, end=SECOND), True),
        (Fault("delete pods", 422, probability=0.0), False),
    ],
)
def test_a_fault_strikes_only_the_calls_that_it_names(fault, struck):
    bench = Bench(faults=(fault,) if fault.match != "create pods" else ())
    bench.created()
    answer = bench.answer(bench.client.delete("Pod", "default", "p"))
    assert (answer.code == 422) == struck
    assert (bench.api.get("Pod", "default", "p") is not None) == struck
