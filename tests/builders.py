"""Builders for test objects: `make_pod("web-1").request(cpu="500m").priority(10).on("node-a").build()`.

They write a manifest and read it as the engine does, so a test uses the fields that a user would.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from simulations.engine.api.decode import decode_node, decode_object, decode_pod
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.kernel.clock import SECOND

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class PodBuilder:
    """A Pod in the making; each method changes it and returns it."""

    def __init__(self, name: str) -> None:
        self._metadata: dict[str, Any] = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": {}}
        self._container: dict[str, Any] = {"name": "main", "image": "example/app:v1", "resources": {"requests": {}}}
        self._spec: dict[str, Any] = {"containers": [self._container]}
        self._status: dict[str, Any] = {"phase": "Pending"}
        self._changes: dict[str, Any] = {}

    def request(self, **amounts: str) -> PodBuilder:
        """Requests of its container; `ephemeral_storage` becomes ephemeral-storage."""
        self._container["resources"]["requests"].update({k.replace("_", "-"): v for k, v in amounts.items()})
        return self

    def resource(self, name: str, amount: str) -> PodBuilder:
        """A request by the resource's full name."""
        self._container["resources"]["requests"][name] = amount
        return self

    def namespace(self, name: str) -> PodBuilder:
        self._metadata["namespace"] = name
        return self

    def labels(self, **labels: str) -> PodBuilder:
        self._metadata["labels"].update(labels)
        return self

    def priority(self, value: int) -> PodBuilder:
        self._spec["priority"] = value
        return self

    def on(self, node: str) -> PodBuilder:
        """Bound and running."""
        self._spec["nodeName"] = node
        self._status["phase"] = "Running"
        return self

    def nominated(self, node: str) -> PodBuilder:
        self._status["nominatedNodeName"] = node
        return self

    def started(self, seconds: int) -> PodBuilder:
        """When it started, in seconds since T+0."""
        self._changes["start_time"] = seconds * SECOND
        return self

    def terminating(self) -> PodBuilder:
        self._changes["deletion_time"] = 30 * SECOND
        self._changes["deletion_grace"] = 30
        return self

    def image(self, name: str) -> PodBuilder:
        self._container["image"] = name
        return self

    def host_port(self, port: int, protocol: str = "TCP", ip: str = "") -> PodBuilder:
        self._container.setdefault("ports", []).append(
            {"containerPort": port, "hostPort": port, "protocol": protocol, **({"hostIP": ip} if ip else {})}
        )
        return self

    def tolerate(self, key: str = "", operator: str = "Exists", value: str = "", effect: str = "") -> PodBuilder:
        entry = {"key": key, "operator": operator, "value": value, "effect": effect}
        self._spec.setdefault("tolerations", []).append({k: v for k, v in entry.items() if v})
        return self

    def node_selector(self, **labels: str) -> PodBuilder:
        self._spec.setdefault("nodeSelector", {}).update(labels)
        return self

    def spread(self, key: str, skew: int = 1, hard: bool = True, match: dict[str, str] | None = None, **more: Any) -> PodBuilder:
        """A spread constraint; `match` None counts the Pod's own labels."""
        self._spec.setdefault("topologySpreadConstraints", []).append(
            {
                "maxSkew": skew,
                "topologyKey": key,
                "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
                "labelSelector": {"matchLabels": match if match is not None else dict(self._metadata["labels"])},
                **more,
            }
        )
        return self

    def affinity(self, kind: str, when: str, entry: dict[str, Any]) -> PodBuilder:
        """Add a term to podAffinity or podAntiAffinity."""
        self._spec.setdefault("affinity", {}).setdefault(kind, {}).setdefault(when, []).append(entry)
        return self

    def near(self, key: str, **match: str) -> PodBuilder:
        """Required affinity to Pods with these labels."""
        return self.affinity("podAffinity", REQUIRED, {"topologyKey": key, "labelSelector": {"matchLabels": match}})

    def apart(self, key: str, **match: str) -> PodBuilder:
        """Required anti-affinity to Pods with these labels."""
        return self.affinity("podAntiAffinity", REQUIRED, {"topologyKey": key, "labelSelector": {"matchLabels": match}})

    def spec(self, **fields: Any) -> PodBuilder:
        """Any other fields of the spec, as the manifest names them."""
        self._spec.update(fields)
        return self

    def controlled_by(self, kind: str, name: str) -> PodBuilder:
        owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}
        self._metadata["ownerReferences"] = [owner]
        return self

    def manifest(self) -> dict[str, Any]:
        """The manifest so far."""
        return {"apiVersion": "v1", "kind": "Pod", "metadata": self._metadata, "spec": self._spec, "status": self._status}

    def build(self) -> Pod:
        """The Pod."""
        return decode_pod(self.manifest(), EPOCH).replace(**self._changes)


class NodeBuilder:
    """A Node in the making, with 4 CPU, 8Gi, 110 Pods and its hostname label."""

    def __init__(self, name: str) -> None:
        self._metadata: dict[str, Any] = {"name": name, "labels": {HOSTNAME: name}}
        self._spec: dict[str, Any] = {}
        self._status: dict[str, Any] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}

    def allocatable(self, **amounts: str) -> NodeBuilder:
        self._status["allocatable"].update({k.replace("_", "-"): v for k, v in amounts.items()})
        return self

    def resource(self, name: str, amount: str) -> NodeBuilder:
        self._status["allocatable"][name] = amount
        return self

    def zone(self, name: str) -> NodeBuilder:
        self._metadata["labels"][ZONE] = name
        return self

    def labels(self, labels: dict[str, str]) -> NodeBuilder:
        self._metadata["labels"].update(labels)
        return self

    def taint(self, key: str, value: str = "", effect: str = "NoSchedule") -> NodeBuilder:
        self._spec.setdefault("taints", []).append({"key": key, "value": value, "effect": effect})
        return self

    def cordoned(self) -> NodeBuilder:
        self._spec["unschedulable"] = True
        return self

    def image(self, name: str, size: int) -> NodeBuilder:
        self._status.setdefault("images", []).append({"names": [name], "sizeBytes": size})
        return self

    def manifest(self) -> dict[str, Any]:
        """The manifest so far."""
        return {"apiVersion": "v1", "kind": "Node", "metadata": self._metadata, "spec": self._spec, "status": self._status}

    def build(self) -> Node:
        """The Node."""
        return decode_node(self.manifest(), EPOCH)


def make_pod(name: str) -> PodBuilder:
    """Start a Pod."""
    return PodBuilder(name)


def make_node(name: str) -> NodeBuilder:
    """Start a Node."""
    return NodeBuilder(name)


def make(kind: str, name: str, api_version: str = "v1", namespace: str = "default", **fields: Any) -> Any:
    """Any other object, from the fields of its manifest."""
    metadata = {"name": name, "namespace": namespace}
    return decode_object({"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}, epoch=EPOCH)
