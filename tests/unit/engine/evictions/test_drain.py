"""Drains: which Pods they take, in what order, what they wait for, and how they end."""

import random

import pytest

from simulations.engine.api.durations import format_duration
from simulations.engine.evictions.drain_flags import parse_flags
from simulations.engine.kernel.clock import HOUR, MILLISECOND, MINUTE, SECOND
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from tests.unit.engine.controllers.clusters import Story, create, delete, node, pod, workload

RS = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
DS = {**RS, "kind": "DaemonSet", "name": "daemons"}
QUIET = {"controllers": [], "kubelet": {"startup": "1s", "stop": "1s", "cleanup": "0s"}}


def running(name, owner=RS, on="n1", phase="Running", labels=None, **changes):
    made = pod(name, nodeName=on, **changes.pop("spec", {}))
    metadata = {**made["metadata"], "labels": labels or {"app": "web"}, **changes}
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": "True" if phase == "Running" else "False"}]}
    return {**made, "metadata": metadata, "status": status}


def drain(at, *flags, **what):
    return {"at": at, "drainOperation": {**(what or {"node": "n1"}), "flags": list(flags)}}


def daemons():
    return workload("DaemonSet", "daemons")


def budget(allowed, app="web"):
    status = {
        "disruptionsAllowed": allowed,
        "currentHealthy": allowed + 1,
        "desiredHealthy": 1,
        "expectedPods": 3,
        "observedGeneration": 1,
    }
    return {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": app, "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}, "status": status,
    }  # fmt: skip


def tell(*initial, operations=(), duration="60s", **spec):
    return Story([node("n1"), node("n2"), *initial], operations or [drain(1)], duration, **{**QUIET, **spec})


def verdicts(story, name="n1"):
    [listed] = [r for r in story.records if r.verb == "drain-list" and r.name == name]
    return {p["name"]: (p["action"], p["message"]) for p in listed.data["pods"]}, listed.message


def end(story, name="n1"):
    [found] = [r for r in story.records if r.verb == "drained" and r.name == name]
    return found.reason, found.message


def asked(story):
    """Evictions as (second of the request, Pod, answer); those of one second by name, since their answers race."""
    return sorted((round(r.data["requested"] / SECOND), r.name, r.code) for r in story.records if r.resource == "pods/eviction")


EMPTY = {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}
HOST = {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}}
MIRROR = {"annotations": {"kubernetes.io/config.mirror": "x"}}
LONG_GONE = {"deletionTimestamp": "2025-12-31T23:00:00Z", "deletionGracePeriodSeconds": 30}


@pytest.mark.parametrize(
    "made, flags, wanted",
    [
        (running("p"), [], ("evict", "")),
        (running("p", **LONG_GONE), ["--skip-wait-for-delete-timeout=60"], ("skip", "")),
        (running("p", **LONG_GONE), [], ("evict", "")),
        (running("p", **LONG_GONE), ["--skip-wait-for-delete-timeout=3601"], ("evict", "")),
        (running("p", DS), [], ("error", "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)")),
        (running("p", DS), ["--ignore-daemonsets"], ("skip", "ignoring DaemonSet-managed Pods")),
        (running("p", DS), ["--ignore-daemonsets", "--force"], ("skip", "ignoring DaemonSet-managed Pods")),
        (running("p", DS, phase="Failed"), [], ("evict", "")),
        (running("p", {**DS, "name": "gone"}), ["--ignore-daemonsets"], ("error", 'daemonsets.apps "gone" not found')),
        (running("p", {**DS, "name": "gone"}), ["--force"], ("evict", "")),
        (running("p", None, **MIRROR), [], ("skip", "")),
        (running("p", **EMPTY), [], ("error", "Pods with local storage (use --delete-emptydir-data to override)")),
        (running("p", **EMPTY), ["--delete-emptydir-data"], ("evict", "")),
        (running("p", **HOST), [], ("evict", "")),
        (running("p", phase="Succeeded", **EMPTY), [], ("evict", "")),
        (running("p", None), [], ("error", "Pods that declare no controller (use --force to override)")),
        (running("p", None), ["--force"], ("evict", "deleting Pods that declare no controller")),
        (running("p", None, phase="Succeeded"), [], ("evict", "")),
        (running("p", None, **EMPTY), ["--force"], ("error", "Pods with local storage (use --delete-emptydir-data to override)")),
    ],
    ids=[
        "of a set", "long gone", "long gone without the flag", "not gone for long enough", "daemon", "daemon ignored",
        "daemon ignored though forced", "finished daemon", "daemon set gone", "daemon set gone, forced", "mirror", "emptyDir",
        "emptyDir given up", "hostPath does not count", "finished with emptyDir", "bare", "bare, forced", "finished bare",
        "the first error counts",
    ],
)  # fmt: skip
def test_what_a_drain_does_with_a_pod(made, flags, wanted):
    story = tell(made, daemons(), operations=[drain(1, "--dry-run=client", *flags)], duration="2s")
    assert verdicts(story)[0] == {"p": wanted}


def test_one_pod_in_the_way_keeps_all_of_the_node_where_they_are_but_it_is_cordoned():
    story = tell(running("a"), running("b", None), running("c", DS), daemons())
    assert asked(story) == []
    assert end(story) == (
        "Failed",
        "[cannot delete Pods that declare no controller (use --force to override): default/b, "
        "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/c]",
    )
    assert [n.unschedulable for n in story.list("Node")] == [True, False]


def test_all_pods_of_a_node_are_asked_at_once_and_the_drain_ends_when_they_are_gone():
    story = tell(running("a"), running("b"), running("other", on="n2"))
    assert asked(story) == [(1, "a", 201), (1, "b", 201)]
    assert sorted(story.pods()) == ["other"]
    [done] = [r for r in story.records if r.verb == "drained"]
    assert (end(story), 3 < done.t / SECOND < 3.2) == (("Drained", ""), True)  # gone at 2 s and a bit, seen at the next poll


def test_a_blocked_pod_is_asked_every_five_seconds_until_the_timeout_while_free_ones_go():
    story = tell(
        budget(0), running("web"), running("ds", DS, labels={"app": "d"}), daemons(),
        running("job", None, phase="Succeeded", labels={"app": "j"}),
        operations=[drain(0, "--ignore-daemonsets", "--timeout=12s")],
    )  # fmt: skip
    assert asked(story) == [(0, "job", 201), (0, "web", 429), (5, "web", 429), (10, "web", 429)]
    assert end(story) == ("Failed", 'error when evicting pods/"web" -n "default": global timeout reached: 12s')
    [done] = [r for r in story.records if r.verb == "drained"]
    assert (round(done.t / SECOND), done.data["pending"]) == (15, ["default/web"])
    assert [n.unschedulable for n in story.list("Node")] == [True, False]
    assert sorted(story.pods()) == ["ds", "web"]


def test_two_budgets_end_a_pod_for_good_and_the_others_go_on():
    story = tell(
        budget(1),
        {**budget(1), "metadata": {"name": "too", "namespace": "default"}},
        running("c"),
        running("d", labels={"app": "d"}),
    )
    assert asked(story) == [(1, "c", 500), (1, "d", 201)]
    text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    assert end(story) == ("Failed", f'error when evicting pods/"c" -n "default": {text}')
    assert sorted(story.pods()) == ["c"]


def test_a_pod_that_is_gone_before_it_is_asked_counts_as_drained():
    race = delete(0.9995, "Pod", "a", gracePeriodSeconds=0)
    story = tell(running("a"), operations=[race, drain(1)])
    assert end(story) == ("Drained", "")


def test_a_pod_that_stops_slowly_is_waited_for_until_the_timeout():
    slow = running("a", annotations={"oracle/stop-seconds": "25"}, spec={"terminationGracePeriodSeconds": 30})
    story = tell(slow, operations=[drain(1, "--timeout=5s")])
    assert end(story) == (
        "Failed",
        'error when waiting for pod "a" in namespace "default" to terminate: global timeout reached: 5s',
    )
    assert end(tell(slow, operations=[drain(1)])) == ("Drained", "")
    assert end(tell(slow, operations=[drain(1, "--skip-wait-for-delete-timeout=1", "--grace-period=2")])) == ("Drained", "")


def test_a_successor_of_the_same_name_does_not_hold_the_drain_up():
    story = tell(workload("StatefulSet", "db", replicas=1), operations=[drain(10)], controllers=["statefulset"], duration="30s")
    names = [(r.name, r.code) for r in story.records if r.resource == "pods/eviction"]
    assert end(story, "n1") == ("Drained", "")
    assert names == ([("db-0", 201)] if names else [])
    assert story.pods()["db-0"].node_name == "n2" or not names


@pytest.mark.parametrize(
    "flags, grace", [([], None), (["--grace-period=7"], 7), (["--grace-period=0"], 0), (["--grace-period=-1"], None)]
)
def test_the_grace_of_a_drain(flags, grace):
    story = tell(running("a"), operations=[drain(1, *flags)])
    assert [r.data["gracePeriodSeconds"] for r in story.records if r.resource == "pods/eviction"] == [grace]


def test_without_evictions_budgets_are_not_asked():
    story = tell(budget(0), running("a"), running("b"), operations=[drain(1, "--disable-eviction")])
    assert asked(story) == []
    assert [r.name for r in story.records if (r.actor, r.verb) == ("user", "delete")] == ["a", "b"]
    assert (end(story), story.pods()) == (("Drained", ""), {})


def test_without_evictions_the_first_refused_deletion_ends_it():
    fault = {"match": "delete pods", "names": ["a"], "actor": "user", "code": 500, "message": "no"}
    story = tell(running("a"), running("b"), operations=[drain(1, "--disable-eviction")], faults=[fault])
    assert (end(story), sorted(story.pods())) == (("Failed", "no"), ["a", "b"])


def test_a_drain_without_evictions_waits_for_all_up_to_the_timeout():
    slow = running("a", annotations={"oracle/stop-seconds": "25"}, spec={"terminationGracePeriodSeconds": 30})
    story = tell(slow, operations=[drain(1, "--disable-eviction", "--timeout=3s")])
    assert end(story) == ("Failed", "global timeout reached: 3s")


def test_only_the_pods_that_are_selected_are_looked_at():
    story = tell(running("a"), running("b", None, labels={"app": "db"}), operations=[drain(1, "--pod-selector=app!=db")])
    assert (sorted(story.pods()), end(story)) == (["b"], ("Drained", ""))


def test_all_nodes_are_cordoned_before_the_first_is_emptied_and_a_failure_does_not_stop_the_next():
    story = tell(running("a", None), running("b", on="n2"), operations=[drain(1, nodes=["n1", "n2"])])
    steps = [(r.verb, r.name) for r in story.records if r.resource in ("nodes", "pods/eviction") and r.actor == "user"]
    assert steps == [
        ("drain", "n1"), ("drain", "n2"), ("patch", "n1"), ("patch", "n2"), ("drain-list", "n1"), ("drained", "n1"),
        ("drain-list", "n2"), ("create", "b"), ("drained", "n2"),
    ]  # fmt: skip
    assert (end(story)[0], end(story, "n2")[0]) == ("Failed", "Drained")


def test_nodes_of_one_drain_are_emptied_one_after_the_other_and_two_drains_beside_each_other():
    slow = {"annotations": {"oracle/stop-seconds": "10"}, "spec": {"terminationGracePeriodSeconds": 30}}
    pods = [running("a", **slow), running("b", on="n2", **slow)]
    assert [at for at, _, _ in asked(tell(*pods, operations=[drain(1, nodes=["n1", "n2"])]))] == [1, 12]
    both = [drain(1), drain(1, node="n2")]
    assert [at for at, _, _ in asked(tell(*pods, operations=both))] == [1, 1]


def test_nodes_are_named_by_a_selector():
    nodes = [node("n1", labels={"pool": "a"}), node("n2", labels={"pool": "b"})]
    story = Story([*nodes, running("a"), running("b", on="n2")], [drain(1, "-l", "pool=a", nodes=[])], "20s", **QUIET)
    assert sorted(story.pods()) == ["b"]


def test_a_node_that_is_gone_ends_the_drain_before_anything_is_done():
    story = tell(running("a"), operations=[drain(1, nodes=["n1", "n9"])])
    begun = [(r.name, r.code, r.reason, r.message) for r in story.records if r.verb == "drain"]
    assert begun == [(name, 404, "NotFound", 'nodes "n9" not found') for name in ("n1", "n9")]
    assert asked(story) == []
    assert not any(n.unschedulable for n in story.list("Node"))


def test_a_cordoned_node_is_not_patched_again():
    cordons = [{"at": 0, "cordonOperation": {"node": "n1"}}, {"at": 30, "uncordonOperation": {"node": "n1"}}]
    story = tell(running("a"), operations=[*cordons, drain(1)])
    patches = [r.data["patch"]["spec"]["unschedulable"] for r in story.records if (r.verb, r.resource) == ("patch", "nodes")]
    assert patches == [True, None]
    assert not any(n.unschedulable for n in story.list("Node"))


def test_a_dry_run_of_the_server_asks_every_budget_and_takes_nobody():
    story = tell(budget(1), running("a"), running("b"), operations=[drain(1, "--dry-run=server")])
    assert [(name, code) for _, name, code in asked(story)] == [("a", 201), ("b", 201)]
    assert (sorted(story.pods()), end(story)) == (["a", "b"], ("Drained", ""))


def test_a_pod_of_a_namespace_that_is_being_deleted_is_waited_for():
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    stuck = running("a", namespace="shop", spec={"terminationGracePeriodSeconds": 20}, annotations={"oracle/stop-seconds": "8"})
    operations = [delete(1, "Namespace", "shop"), drain(1.001)]
    story = tell(space, stuck, operations=operations, controllers=["namespace-controller"])
    refused = [r for r in story.records if r.resource == "pods/eviction"]
    assert {(r.code, r.data["details"]["causes"][0]["reason"]) for r in refused} == {(403, "NamespaceTerminating")}
    assert end(story) == ("Drained", "")


def test_operations_go_on_while_a_drain_waits():
    story = tell(budget(0), running("a"), operations=[drain(1), create(3, running("late", on="n2"))])
    assert story.pods()["late"].created // SECOND == 3


def test_every_step_has_its_cause():
    story = tell(budget(0), running("a"), operations=[drain(1, "--timeout=7s")])
    by_seq = {r.seq: r for r in story.records}
    chain = [next(r for r in story.records if r.verb == "drained")]
    while chain[-1].cause:
        chain.append(by_seq[chain[-1].cause])
    assert [r.verb for r in chain] == ["drained", "drain-list", "drain"]
    assert {by_seq[r.cause].verb for r in story.records if r.resource == "pods/eviction"} == {"drain-list"}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_drained_a_budget_keeps_enough_pods_ready(seed):
    rng = random.Random(seed)
    cluster = [node(f"n{i}") for i in range(1, 5)]
    budgets = {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": 2, "selector": {"matchLabels": {"app": "web"}}},
    }  # fmt: skip
    operations = [drain(10 + rng.randrange(20), node=f"n{i}") for i in rng.sample(range(1, 5), 3)]
    initial = [*cluster, workload("ReplicaSet", replicas=8), budgets]
    story = Story(initial, operations, "120s", seed=seed, kubelet={"startup": "2s", "stop": "4s"})
    ready, lowest = set(), 8
    for record in story.records:
        after = (record.data or {}).get("after") or {}
        if record.resource.startswith("pods") and "phase" in after:
            (ready.add if after.get("ready") and "deletion" not in after else ready.discard)(record.uid)
            lowest = min(lowest, len(ready)) if record.t > 9 * SECOND else lowest
    assert lowest >= 6
    assert {p.node_name for p in story.pods().values()} == {n.name for n in story.list("Node") if not n.unschedulable}


# ---- flags and operations as scenarios write them


def test_flags_are_read_as_kubectl_reads_them():
    flags = parse_flags(["--timeout", "1m30s", "--force", "--ignore-daemonsets=false", "--grace-period=2"], "flags")
    assert (flags.timeout, flags.force, flags.ignore_daemonsets, flags.grace_seconds) == (90 * SECOND, True, False, 2)


@pytest.mark.parametrize(
    "flags, path, words",
    [
        (["--evict"], "flags[0]", "unknown flag: --evict"),
        (["--force", "--timeout"], "flags[1]", "flag needs an argument: --timeout"),
        (["--timeout=soon"], "flags[0]", "'soon' is not a duration"),
        (["--grace-period=x"], "flags[0]", "'x' is not a whole number"),
        (["--force=maybe"], "flags[0]", "'maybe' is not true or false"),
        (["--dry-run=yes"], "flags[0]", "'yes' is not one of none, client, server"),
    ],
)
def test_wrong_flags_are_refused_by_name(flags, path, words):
    with pytest.raises(ScenarioError) as caught:
        parse_flags(flags, "flags")
    assert (caught.value.code, caught.value.path) == ("E0309", path)
    assert words in caught.value.message


@pytest.mark.parametrize(
    "operation, path",
    [
        ({"drainOperation": {}}, "spec.operations[0].drainOperation.node"),
        ({"drainOperation": {"node": "n1", "nodes": ["n2"]}}, "spec.operations[0].drainOperation.nodes"),
        ({"drainOperation": {"node": "n1", "flags": ["-l", "a=b"]}}, "spec.operations[0].drainOperation.flags"),
        ({"drainOperation": {"node": "n1", "flags": ["--pod-selector=a b"]}}, "spec.operations[0].drainOperation.flags[0]"),
        ({"drainOperation": {"nodes": [1]}}, "spec.operations[0].drainOperation.nodes"),
        ({"evictOperation": {}}, "spec.operations[0].evictOperation.name"),
        ({"evictOperation": {"name": "a", "gracePeriodSeconds": -1}}, "spec.operations[0].evictOperation.gracePeriodSeconds"),
        ({"evictOperation": {"name": "a", "dryRun": "yes"}}, "spec.operations[0].evictOperation.dryRun"),
        ({"evictNth": {"n": 1}}, "spec.operations[0].evictNth.app"),
        ({"cordonOperation": {}}, "spec.operations[0].cordonOperation.node"),
    ],
)
def test_operations_that_cannot_be_done_are_refused_with_their_field(operation, path):
    with pytest.raises(ScenarioErrors) as caught:
        tell(operations=[{"at": 1, **operation}])
    assert [e.path for e in caught.value.errors] == [path]


def test_the_nth_pod_is_counted_by_name_among_the_live_ones_and_nobody_is_said():
    ask = [{"at": at, "evictNth": {"app": "web", "n": n}} for at, n in ((1, 1), (1.1, 1), (1.2, 5), (20, 0))]
    story = tell(running("a"), running("b"), running("c"), operations=ask)
    assert [r.name for r in story.records if r.resource == "pods/eviction"] == ["b", "c", "a"]
    [nobody] = [r for r in story.records if r.verb == "evict"]
    assert (nobody.code, nobody.message) == (404, "no pod with the label app=web is there to be evicted")


@pytest.mark.parametrize(
    "nanoseconds, text",
    [
        (0, "0s"),
        (12 * SECOND, "12s"),
        (90 * SECOND, "1m30s"),
        (HOUR, "1h0m0s"),
        (HOUR + MINUTE, "1h1m0s"),
        (1500 * MILLISECOND, "1.5s"),
        (200 * MILLISECOND, "200ms"),
        (1500, "1.5µs"),
        (7, "7ns"),
    ],
)
def test_durations_are_printed_as_go_does(nanoseconds, text):
    assert format_duration(nanoseconds) == text
