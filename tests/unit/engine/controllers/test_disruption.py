"""The disruption controller: what budgets count, when they are counted, and evictions that come to nothing."""

import random

import pytest

from simulations.engine.controllers.disruption_counts import scaled
from simulations.engine.kernel.clock import SECOND
from tests.unit.engine.controllers.clusters import Story, create, node, patch, pod, workload

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
QUICK = {"kubelet": {"startup": "1s", "stop": "1s"}}


def budget(name="web", app="web", **spec):
    selector = {"matchLabels": {"app": app}}
    manifest = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": "default"}}
    return {**manifest, "spec": {"selector": selector, **spec}}


def bare(name, app="web", ready="True", **metadata):
    made = pod(name, nodeName="n1")
    made["metadata"] = {**made["metadata"], "labels": {"app": app}, **metadata}
    return {**made, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}}


def owned(name, kind, owner, uid="", version="apps/v1"):
    return bare(name, ownerReferences=[{"apiVersion": version, "kind": kind, "name": owner, "uid": uid, "controller": True}])


def counted(story, name="web"):
    [found] = [b for b in story.list("PodDisruptionBudget") if b.name == name]
    return found.disruptions_allowed, found.current_healthy, found.desired_healthy, found.expected_pods


def condition(story):
    found = story.list("PodDisruptionBudget")[0].condition("DisruptionAllowed")
    return found.status, found.reason, found.message


@pytest.mark.parametrize(
    "value, total, wanted", [(2, 9, 2), ("1%", 3, 1), ("50%", 3, 2), ("90%", 13, 12), ("100%", 7, 7), ("0%", 7, 0)]
)
def test_percentages_round_up(value, total, wanted):
    assert scaled(value, total) == wanted


@pytest.mark.parametrize(
    "spec, wanted",
    [
        ({"minAvailable": 2}, (1, 3, 2, 3)),
        ({"minAvailable": 3}, (0, 3, 3, 3)),
        ({"minAvailable": "50%"}, (1, 3, 2, 3)),
        ({"maxUnavailable": 1}, (1, 3, 2, 3)),
        ({"maxUnavailable": "1%"}, (1, 3, 2, 3)),
        ({"maxUnavailable": 5}, (3, 3, 0, 3)),
        ({}, (0, 3, 0, 0)),
    ],
    ids=["at least 2", "all", "half, rounded up", "one less", "1 % of 3", "more than there are", "neither"],
)
def test_what_a_budget_of_a_replica_set_allows(spec, wanted):
    story = Story([node("n1"), workload("ReplicaSet", replicas=3), budget(**spec)], **QUICK)
    assert counted(story) == wanted


def test_pods_count_for_the_deployment_above_their_replica_set_and_each_controller_once():
    story = Story([node("n1"), workload("Deployment", replicas=4), budget(maxUnavailable=1)], **QUICK)
    assert counted(story) == (1, 4, 3, 4)


def test_several_controllers_add_up_and_a_number_counts_pods():
    other = workload("StatefulSet", "db", replicas=2)
    sets = [node("n1"), workload("ReplicaSet", replicas=3), other]
    story = Story([*sets, budget(maxUnavailable=1)], **QUICK)
    assert counted(story) == (1, 5, 4, 5)
    assert counted(Story([*sets, budget(minAvailable=1)], **QUICK)) == (4, 5, 1, 5)


def test_pods_without_a_controller_count_as_healthy_and_not_as_expected():
    story = Story([node("n1"), bare("a"), bare("b"), budget(maxUnavailable=1)])
    assert counted(story) == (0, 2, 0, 0)
    [note] = set(story.events("UnmanagedPods"))
    assert (
        "(selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},})"
        in note
    )


def test_a_number_counts_pods_without_a_controller_too():
    story = Story([node("n1"), bare("a"), bare("b"), budget(minAvailable=1)])
    assert counted(story) == (1, 2, 1, 2)
    assert story.events("UnmanagedPods") == []


@pytest.mark.parametrize(
    "owner, words",
    [
        (("Job", "batch", "u", "batch/v1"), "jobs.batch does not implement the scale subresource"),
        (("DaemonSet", "daemons", "u"), "daemonsets.apps does not implement the scale subresource"),
        (
            ("VirtualMachineInstance", "vm", "u", "kubevirt.io/v1"),
            'no matches for kind "VirtualMachineInstance" in version "kubevirt.io/v1"',
        ),
        (("ReplicaSet", "gone", "u"), 'found no controllers for pod "a"'),
    ],
    ids=["job", "daemons", "unknown kind", "owner gone"],
)
def test_a_budget_that_cannot_be_counted_allows_nothing_and_says_why(owner, words):
    story = Story([node("n1"), owned("a", *owner), budget(maxUnavailable=1)])
    assert counted(story)[0] == 0
    assert condition(story) == ("False", "SyncFailed", words)
    assert set(story.events("CalculateExpectedPodCountFailed")) == {f"Failed to calculate the number of expected pods: {words}"}


def test_a_failed_count_does_not_count_as_having_seen_the_budget():
    story = Story([node("n1"), owned("a", "Job", "batch", "u", "batch/v1"), budget(maxUnavailable=1)])
    [found] = story.list("PodDisruptionBudget")
    assert (found.generation, found.observed_generation) == (1, 0)


def test_a_budget_that_selects_nothing_says_so():
    story = Story([node("n1"), bare("a"), budget(app="nobody", minAvailable=0)])
    assert counted(story) == (0, 0, 0, 0)
    assert set(story.events("NoPods")) == {"No matching pods found"}


def test_a_changed_budget_is_another_generation_that_is_seen_soon():
    story = Story(
        [node("n1"), bare("a"), bare("b"), budget(minAvailable=1)],
        [patch("5s", "PodDisruptionBudget", "web", {"spec": {"minAvailable": 2}})],
    )
    [found] = story.list("PodDisruptionBudget")
    assert (found.generation, found.observed_generation, found.disruptions_allowed) == (2, 2, 0)
    assert condition(story)[:2] == ("False", "InsufficientPods")


def test_a_new_budget_starts_without_the_status_of_its_manifest():
    given = {**budget(minAvailable=1), "status": {"disruptionsAllowed": 7, "observedGeneration": 9}}
    story = Story([node("n1"), bare("a")], [create("1s", given)], controllers=[])
    [found] = story.list("PodDisruptionBudget")
    assert (found.disruptions_allowed, found.observed_generation, found.generation) == (None, 0, 1)


def test_the_scale_of_a_workload_is_looked_at_only_when_a_pod_changes():
    scale = patch("5s", "ReplicaSet", "web", {"spec": {"replicas": 9}})
    story = Story(
        [node("n1"), bare("a", ready="False"), workload("ReplicaSet", replicas=0), budget(maxUnavailable=1)],
        [scale],
        controllers=["disruption"],
    )
    assert story.times("update", "poddisruptionbudgets/status")[-1] < 1


def test_pods_of_two_budgets_wake_one_of_them_and_it_is_said():
    story = Story([node("n1"), budget(minAvailable=0), budget("too", minAvailable=0), bare("a")])
    assert set(story.events("MultiplePodDisruptionBudgets")) == {
        'Pod "default"/"a" matches multiple PodDisruptionBudgets.  Chose "web" arbitrarily.'
    }


# ---- with evictions; the numbers are those of three Pods of a ReplicaSet of which two have to be there


def evict(at, name):
    return {"at": at, "evictOperation": {"name": name}}


def codes(story):
    return [(r.name, r.code) for r in story.records if (r.actor, r.resource) == ("user", "pods/eviction")]


def three(*more, **spec):
    return [node("n1"), *(bare(name) for name in "abc"), budget(minAvailable=2, **spec), *more]


def test_the_budget_comes_back_when_the_replacement_is_ready():
    again = [{"at": at, "evictNth": {"app": "web", "n": 0}} for at in (20, 21, 27)]
    story = Story(
        [node("n1"), workload("ReplicaSet", replicas=3), budget(minAvailable=2)], again, kubelet={"startup": "5s", "stop": "1s"}
    )
    assert [code for _, code in codes(story)] == [201, 429, 201]
    refused = next(r for r in story.records if r.resource == "pods/eviction" and r.code == 429)
    assert refused.data["details"]["causes"][0]["message"] == "The disruption budget web needs 2 healthy pods and has 2 currently"


def test_a_pod_that_leaves_is_not_counted_from_the_moment_its_eviction_is_granted():
    story = Story(three(), [evict(1, "a")], "5s")
    samples = [r.data["after"] for r in story.records if r.resource == "poddisruptionbudgets/status" and r.code == 200]
    assert [(s["allowed"], s["healthy"], s["disrupted"]) for s in samples[-4:-1]] == [(0, 3, ["a"]), (0, 2, ["a"]), (0, 2, [])]


def test_a_granted_eviction_whose_deletion_is_lost_is_forgotten_after_two_minutes():
    counts = {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 3}
    granted = {**counts, "disruptedPods": {"a": "2026-01-01T00:00:00Z"}}
    initial = three()
    initial[4] = {**initial[4], "status": granted}
    initial[1]["status"]["conditions"].append(
        {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    )
    story = Story(initial, [], "300s", until="Settled")
    assert counted(story) == (1, 3, 2, 3)
    assert set(story.events("NotDeleted")) == {"Pod was expected by PDB default/web to be deleted but it wasn't"}
    last = story.times("update", "poddisruptionbudgets/status")[-1]
    assert 120 < last < 120.1
    assert story.pods()["a"].condition("DisruptionTarget").status == "False"
    assert 120 <= story.times("update", "pods/status", "a")[0] < 120.1


def test_the_condition_of_a_pod_that_the_kubelet_ends_stays():
    story = Story(three(), [], "5s", controllers=[])
    assert story.pods()["a"].condition("DisruptionTarget") is None
    ending = three()
    ending[1]["status"]["conditions"].append(
        {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "TerminationByKubelet",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    )
    assert Story(ending, [], "300s").pods()["a"].condition("DisruptionTarget").status == "True"


def test_an_eviction_does_not_keep_a_run_from_settling():
    story = Story(three(), [evict(1, "a")], "900s", until="Settled")
    assert (story.result.reason, story.result.end < 60 * 10**9) == ("Settled", True)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_evicted_a_budget_is_never_overdrawn(seed):
    rng = random.Random(seed)
    asks = [{"at": rng.randrange(100, 600) / 10, "evictNth": {"app": "web", "n": rng.randrange(6)}} for _ in range(40)]
    story = Story(
        [node("n1"), workload("ReplicaSet", replicas=6), budget(minAvailable=4)], sorted(asks, key=lambda o: o["at"]), "70s",
        kubelet={"startup": "1s", "stop": "3s"}, seed=seed,
    )  # fmt: skip
    ready, lowest = set(), 6
    for record in story.records:
        after = (record.data or {}).get("after") or {}
        if record.resource.startswith("pods") and record.uid and "phase" in after:
            (ready.add if after.get("ready") and "deletion" not in after else ready.discard)(record.uid)
            lowest = min(lowest, len(ready)) if record.t >= 10 * SECOND else lowest
    assert lowest == 4
