"""Small clusters for the controllers' tests: a run of a scenario, and questions to its trace."""

from simulations.engine.kernel.clock import SECOND
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation


def node(name, cpu="8", **metadata):
    amounts = {"cpu": cpu, "memory": "32Gi", "pods": "110"}
    status = {"allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, **metadata}, "status": status}


def template(cpu="100m", image="app:1", *, app="web", annotations=None, **spec):
    container = {"name": "main", "image": image, "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    metadata = {"labels": {"app": app}, **({"annotations": annotations} if annotations else {})}
    return {"metadata": metadata, "spec": {"containers": [container], "terminationGracePeriodSeconds": 2, **spec}}


def workload(kind, name="web", made=None, **spec):
    made = made or template()
    selector = {"matchLabels": dict(made["metadata"]["labels"])}
    group = "batch/v1" if kind == "Job" else "apps/v1"
    own = spec if kind == "Job" else {"selector": selector, **spec}
    return {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": made, **own},
    }


def pod(name, cpu="100m", **spec):
    made = template(cpu, app=name)["spec"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": {**made, **spec}}


def create(at, manifest):
    return {"at": at, "createOperation": {"object": manifest}}


def patch(at, kind, name, change):
    return {"at": at, "patchOperation": {"kind": kind, "name": name, "patch": change}}


def delete(at, kind, name, **more):
    return {"at": at, "deleteOperation": {"kind": kind, "name": name, **more}}


class Story:
    """A run: its records and its end."""

    def __init__(self, initial, operations=(), duration="60s", **spec):
        document = {
            "apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "story"},
            "spec": {"initial": list(initial), "operations": list(operations), "duration": duration, **spec},
        }  # fmt: skip
        self.records = []
        self.simulation = Simulation(parse_scenario(document), on_records=self.records.extend)
        self.result = self.simulation.run()

    def list(self, kind):
        return self.simulation.api.list(kind)

    def pods(self):
        return {p.name: p for p in self.list("Pod")}

    def times(self, verb, resource="pods", name="", **fields):
        """When calls were made that were answered well, in seconds."""
        found = [r for r in self.records if (r.verb, r.resource) == (verb, resource) and r.code < 300]
        found = [r for r in found if not name or r.name == name or r.name.startswith(name + "-")]
        return [r.t / SECOND for r in found if r.actor != "setup" and all(getattr(r, k) == v for k, v in fields.items())]

    def events(self, reason):
        """The notes of the events with a reason, in order."""
        return [r.data["note"] for r in self.records if r.resource == "events" and r.data.get("reason") == reason]

    def replicas(self, kind="ReplicaSet"):
        return sorted(item.replicas for item in self.list(kind))
