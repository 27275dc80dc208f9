"""The eviction call: which answer it gives, what it writes on the way, and how two calls race for one budget."""

from dataclasses import replace

import pytest

from simulations.engine.cluster.api_server import ApiServer, ClusterSettings
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.costs import Costs, Latency
from simulations.engine.cluster.eviction import Eviction
from simulations.engine.cluster.setup import load
from simulations.engine.cluster.webhooks import Denial
from simulations.engine.evictions import EvictionCalls
from simulations.engine.kernel.clock import MILLISECOND, SECOND
from simulations.engine.kernel.loop import EventLoop
from simulations.engine.kernel.streams import Streams
from simulations.engine.kernel.trace import Trace

REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
CALL = 5 * MILLISECOND


def pod(name, phase="Running", ready="True", node="n1", **metadata):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}, **metadata},
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 5},
        "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]},
    }


def budget(name="web", generation=1, policy=None, app="web", **status):
    spec = {"minAvailable": 2, "selector": {"matchLabels": {"app": app}}}
    full = {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3, **status}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default", "generation": generation},
        "spec": spec if policy is None else {**spec, "unhealthyPodEvictionPolicy": policy},
        "status": full,
    }


def condition(reason, message="", status="False"):
    return [{"type": "DisruptionAllowed", "status": status, "reason": reason, "message": message}]


class Cluster:
    """A server with objects as they are; every call takes 5 ms."""

    def __init__(self, *objects):
        self.loop = EventLoop()
        self.trace = Trace(keep=True)
        settings = ClusterSettings(costs=Costs(api={"default": Latency(CALL)}))
        self.api = ApiServer(self.loop, self.trace, settings, Streams(1))
        load(self.api, objects)
        self.client = Client(self.api, "user")

    def ask(self, name, **asked):
        return self.client.evict("default", name, Eviction(**asked))

    def evict(self, name, **asked):
        future = self.ask(name, **asked)
        self.loop.run()
        return future.value

    def pod(self, name):
        return self.api.get("Pod", "default", name)

    def budget(self, name="web"):
        return self.api.get("PodDisruptionBudget", "default", name)

    def records(self, actor):
        self.trace.flush()
        return [r for r in self.trace.records if r.actor == actor]


def cause_of(answer):
    causes = answer.details.get("causes") or [{}]
    return causes[0].get("reason"), causes[0].get("message")


def test_a_pod_without_a_budget_gets_its_condition_and_then_its_deletion_timestamp():
    cluster = Cluster(pod("a"))
    answer = cluster.evict("a")
    gone = cluster.pod("a")
    assert answer.code == 201
    assert (gone.deletion_grace, gone.condition("DisruptionTarget").reason) == (5, "EvictionByEvictionAPI")
    assert gone.condition("DisruptionTarget").message == "Eviction API: evicting"
    marked = next(r for r in cluster.records("kube-apiserver") if r.resource == "pods/status")
    called = next(r for r in cluster.records("user") if r.resource == "pods/eviction")
    assert (marked.t < called.t, called.code) == (True, 201)


def test_a_granted_eviction_uses_the_budget_before_the_pod_is_deleted():
    cluster = Cluster(budget(), *(pod(n) for n in "abc"))
    assert cluster.evict("a").code == 201
    left = cluster.budget()
    assert (left.disruptions_allowed, list(left.disrupted_pods)) == (0, ["a"])
    assert (left.condition("DisruptionAllowed").status, left.condition("DisruptionAllowed").reason) == ("False", "InsufficientPods")
    written = next(r for r in cluster.records("kube-apiserver") if r.resource == "poddisruptionbudgets/status")
    assert written.data["after"]["allowed"] == 0
    assert left.raw["status"]["disruptedPods"] == {"a": "2026-01-01T00:00:00Z"}


def test_a_second_eviction_before_the_controller_counted_gets_the_words_without_numbers():
    cluster = Cluster(budget(), *(pod(n) for n in "abc"))
    cluster.evict("a")
    answer = cluster.evict("b")
    assert (answer.code, answer.message, answer.retry_after) == (429, REFUSED, 0)
    assert cause_of(answer) == ("DisruptionBudget", "The disruption budget web does not allow evicting pods currently")


@pytest.mark.parametrize(
    "status, code, retry_after, words",
    [
        ({"observedGeneration": 0}, 429, 10, "The disruption budget web is still being processed by the server."),
        ({"disruptionsAllowed": -1}, 403, 0, "pdb disruptions allowed is negative"),
        (
            {"disruptedPods": {f"p{i}": "2026-01-01T00:00:00Z" for i in range(2001)}},
            403,
            0,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        ),
        (
            {"disruptionsAllowed": 0, "conditions": condition("SyncFailed", "no scale")},
            429,
            0,
            "The disruption budget web does not allow evicting pods currently because it failed sync: no scale",
        ),
        (
            {"disruptionsAllowed": 0, "currentHealthy": 2, "conditions": condition("InsufficientPods", "x")},
            429,
            0,
            "The disruption budget web needs 2 healthy pods and has 2 currently",
        ),
        (
            {"disruptionsAllowed": 0, "conditions": condition("InsufficientPods", "too few")},
            429,
            0,
            "The disruption budget web does not allow evicting pods currently (InsufficientPods): too few",
        ),
        (
            {"disruptionsAllowed": 0, "conditions": condition("InsufficientPods")},
            429,
            0,
            "The disruption budget web does not allow evicting pods currently",
        ),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_budget_refuses_with_the_first_of_its_reasons(status, code, retry_after, words):
    cluster = Cluster(budget(**status), *(pod(n) for n in "abc"))
    answer = cluster.evict("a")
    said = cause_of(answer)[1] or answer.message.partition("is forbidden: ")[2]
    assert (answer.code, answer.retry_after, said) == (code, retry_after, words)
    assert not cluster.pod("a").terminating


def test_two_budgets_on_one_pod_are_an_error_and_not_a_refusal():
    cluster = Cluster(budget(), budget("other"), pod("a"))
    answer = cluster.evict("a")
    assert answer.code == 500
    assert answer.message == "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    assert not cluster.pod("a").terminating


@pytest.mark.parametrize("selector, refused", [({}, True), (None, False)], ids=["empty covers all", "none covers nothing"])
def test_what_a_budget_without_labels_covers(selector, refused):
    blocked = budget(disruptionsAllowed=0)
    blocked["spec"]["selector"] = selector
    assert (Cluster(blocked, pod("a")).evict("a").code == 429) is refused


def test_a_budget_of_another_namespace_or_another_label_is_not_asked():
    elsewhere = budget("elsewhere", disruptionsAllowed=0)
    elsewhere["metadata"]["namespace"] = "shop"
    assert Cluster(elsewhere, budget(app="db", disruptionsAllowed=0), pod("a")).evict("a").code == 201


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_pods_that_do_not_run_leave_whatever_their_budgets_say(phase):
    cluster = Cluster(budget(disruptionsAllowed=0), budget("other", disruptionsAllowed=0), pod("a", phase, "False"))
    assert cluster.evict("a").code == 201
    assert cluster.budget().disruptions_allowed == 0


def test_a_pod_that_is_leaving_is_evicted_without_using_the_budget():
    leaving = pod("a", deletionTimestamp="2026-01-01T00:00:30Z", deletionGracePeriodSeconds=30)
    cluster = Cluster(budget(), leaving)
    assert cluster.evict("a").code == 201
    assert cluster.budget().disruptions_allowed == 1


@pytest.mark.parametrize(
    "phase, node", [("Succeeded", "n1"), ("Failed", "n1"), ("Pending", "")], ids=["succeeded", "failed", "not bound"]
)
def test_what_has_no_containers_that_run_vanishes_at_once(phase, node):
    cluster = Cluster(pod("a", phase, node=node))
    assert cluster.evict("a", grace_seconds=60).code == 201
    assert cluster.pod("a") is None


@pytest.mark.parametrize("asked, grace", [(None, 5), (60, 60), (-1, 1)])
def test_the_grace_is_the_callers_or_the_pods_own(asked, grace):
    cluster = Cluster(pod("a"))
    cluster.evict("a", grace_seconds=asked)
    assert cluster.pod("a").deletion_grace == grace


@pytest.mark.parametrize(
    "status, policy, code, left",
    [
        ({"currentHealthy": 2, "disruptionsAllowed": 0}, None, 201, 0),
        ({"currentHealthy": 2, "disruptionsAllowed": 0}, "IfHealthyBudget", 201, 0),
        ({"currentHealthy": 1, "disruptionsAllowed": 0}, None, 429, 0),
        ({"currentHealthy": 1, "disruptionsAllowed": 0}, "AlwaysAllow", 201, 0),
        ({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0}, None, 429, 0),
        ({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 2}, None, 201, 1),
    ],
    ids=["enough others", "enough others, said so", "too few", "too few but always allowed", "nothing desired", "uses budget"],
)
def test_a_pod_that_is_not_ready(status, policy, code, left):
    cluster = Cluster(budget(policy=policy, **status), pod("a", ready="False"))
    assert cluster.evict("a").code == code
    assert cluster.budget().disruptions_allowed == left


def test_an_unready_pod_that_changes_meanwhile_is_asked_for_again_later():
    cluster = Cluster(budget(currentHealthy=2, disruptionsAllowed=0), pod("a", ready="False"))
    future = cluster.ask("a")
    cluster.client.patch("Pod", "default", "a", {"metadata": {"labels": {"new": "1"}}})
    cluster.loop.run(9 * SECOND)
    first = next(r for r in cluster.records("user") if r.resource == "pods/eviction")
    assert (first.code, first.data["retryAfter"]) == (429, 10)
    cluster.loop.run(20 * SECOND)
    assert future.value.code == 201


def test_a_pending_pod_that_changes_meanwhile_is_tried_again_by_the_server():
    cluster = Cluster(pod("a", "Pending", "False"))
    future = cluster.ask("a")
    cluster.client.patch("Pod", "default", "a", {"metadata": {"labels": {"new": "1"}}})
    cluster.loop.run()
    assert future.value.code == 201
    assert [r.code for r in cluster.records("user") if r.resource == "pods/eviction"] == [201]
    assert 500 * MILLISECOND < cluster.loop.now < 600 * MILLISECOND


def test_a_pending_pod_that_starts_to_run_meanwhile_is_asked_of_its_budget():
    cluster = Cluster(budget(disruptionsAllowed=0, currentHealthy=1), pod("a", "Pending", "False"))
    future = cluster.ask("a")
    cluster.client.report_pod(cluster.pod("a"), "Running")
    cluster.loop.run()
    assert future.value.code == 429


def test_an_old_resource_version_of_the_caller_is_a_conflict_at_once():
    cluster = Cluster(pod("a", "Pending", "False"))
    answer = cluster.evict("a", resource_version=cluster.pod("a").resource_version + 1)
    assert (answer.code, answer.reason) == (409, "Conflict")
    assert cluster.loop.now < SECOND


def test_a_uid_of_another_pod_is_a_conflict():
    assert Cluster(pod("a", uid="one")).evict("a", uid="two").code == 409


def test_a_dry_run_asks_everything_and_writes_nothing():
    cluster = Cluster(budget(), *(pod(n) for n in "abc"))
    before = (cluster.pod("a"), cluster.budget())
    assert cluster.evict("a", dry_run=True).code == 201
    assert (cluster.pod("a"), cluster.budget()) == before
    assert Cluster(budget(disruptionsAllowed=0), pod("a")).evict("a", dry_run=True).code == 429


def test_two_evictions_at_once_race_for_one_disruption_and_one_waits_half_a_second():
    cluster = Cluster(budget(), *(pod(n) for n in "abc"))
    first, second = cluster.ask("a"), cluster.ask("b")
    cluster.loop.run()
    assert (first.value.code, second.value.code) == (201, 429)
    codes = [r.code for r in cluster.records("kube-apiserver") if r.resource == "poddisruptionbudgets/status"]
    assert codes == [200, 409]
    assert cluster.records("user")[-1].t >= 500 * MILLISECOND


def test_a_budget_that_changes_under_every_try_is_a_conflict_after_twenty():
    cluster = Cluster(budget(), pod("a"))
    future = cluster.ask("a")

    def change():
        stored = cluster.budget()
        cluster.api.store(replace(stored, current_healthy=stored.current_healthy + 1))
        if not future.done:
            cluster.loop.after(MILLISECOND, change)

    change()
    cluster.loop.run(30 * SECOND)
    assert future.value.code == 409
    tries = [r for r in cluster.records("kube-apiserver") if r.resource == "poddisruptionbudgets/status"]
    assert [r.code for r in tries] == [409] * 20


def test_a_budget_that_the_controller_has_not_seen_is_waited_for_up_to_ten_times():
    cluster = Cluster(budget(generation=2), pod("a"))
    assert cluster.evict("a").code == 429
    asked = [r for r in cluster.records("user") if r.resource == "pods/eviction"]
    assert len(asked) == 11
    assert 100 * SECOND < cluster.loop.now < 101 * SECOND


def test_the_wait_ends_when_the_budget_was_seen():
    cluster = Cluster(budget(generation=2), pod("a"))
    cluster.loop.at(15 * SECOND, lambda: cluster.api.store(replace(cluster.budget(), observed_generation=2)))
    assert cluster.evict("a").code == 201
    assert 20 * SECOND < cluster.loop.now < 21 * SECOND


def test_a_pod_that_is_not_there_is_not_found():
    answer = Cluster().evict("a")
    assert (answer.code, answer.message) == (404, 'pods "a" not found')


class Guard:
    """Refuses evictions by name."""

    name = "guard.example.com"
    match = "create pods/eviction"

    def review(self, call):
        return Denial("not now") if call.name == "a" else None


def test_a_webhook_is_asked_before_the_budget_and_even_for_pending_pods():
    cluster = Cluster(budget(), budget("other"), pod("a", "Pending"), pod("b"))
    cluster.api.webhooks.add(Guard())
    answer = cluster.evict("a")
    assert (answer.code, answer.message) == (429, 'admission webhook "guard.example.com" denied the request: not now')
    assert answer.retry_after == 0
    assert cluster.evict("b").code == 500


def test_a_webhook_sees_only_the_calls_that_it_names():
    cluster = Cluster(pod("a"))
    cluster.api.webhooks.add(Guard())
    cluster.client.delete("Pod", "default", "a")
    cluster.loop.run()
    assert cluster.pod("a").terminating


def test_the_evictor_asks_in_the_name_of_its_client_and_says_why():
    cluster = Cluster(pod("a"))
    evictor = EvictionCalls(Client(cluster.api, "descheduler"))
    future = evictor.evict(cluster.pod("a"), Eviction(annotations={"reason": "too full"}), cause=7)
    cluster.loop.run()
    record = next(r for r in cluster.records("descheduler") if r.resource == "pods/eviction")
    assert (future.value.code, record.cause, record.data["annotations"]) == (201, 7, {"reason": "too full"})
