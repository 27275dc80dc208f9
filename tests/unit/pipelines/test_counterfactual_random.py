"""On random clusters: every change that the scheduler agreed to places the pod when the scenario is run with it."""

from hypothesis import HealthCheck, assume, given, settings

from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from simulations.pipelines.counterfactual import Question, answer
from tests.unit.engine.scheduler.random_clusters import clusters

CLASSES = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": f"p{value}"}, "value": value}
    for value in (0, 10, 100)
]


def admissible(pod):
    """The pod as admission takes it: its priority by its class, extended resources with limits."""
    manifest = pod.manifest()
    resources = manifest["spec"]["containers"][0]["resources"]
    resources["limits"] = {name: amount for name, amount in resources["requests"].items() if "/" in name}
    manifest["spec"]["priorityClassName"] = f"p{manifest['spec'].pop('priority')}"
    return manifest


def scenario(cluster):
    nodes, placed, new, _nominated = cluster
    created = admissible(new)
    del created["metadata"]["uid"]
    return {
        "apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "random"},
        "spec": {
            "duration": "60s", "controllers": [], "until": "Settled",
            "initial": [*CLASSES, *(node.manifest() for node in nodes), *(admissible(pod) for pod in placed)],
            "operations": [{"at": "5s", "createOperation": {"object": created}}],
        },
    }  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(clusters())
def test_every_suggestion_holds(cluster):
    document, records = scenario(cluster), []
    Simulation(parse_scenario(document), on_records=records.extend).run()
    attempt = next((r for r in records if r.verb == "attempt" and r.name == "new"), None)
    assume(attempt is not None and attempt.reason == "Unschedulable")
    found = answer(Question(document, (), 1, attempt.uid, attempt.data["started"]), tried=20)
    for suggestion in found.suggestions:
        assert suggestion.changes
        assert suggestion.tried.placed, suggestion
