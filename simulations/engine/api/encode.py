"""From typed objects back to manifests, and the short state that trace records carry."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Condition, Pod
from simulations.engine.api.quantity import format_quantity
from simulations.engine.kernel.clock import SimTime

DEFAULT_SCHEDULER: Final = "default-scheduler"


def format_time(time: SimTime, epoch: datetime) -> str:
    """RFC 3339 in whole seconds, as metadata and status have it."""
    moment = epoch + timedelta(seconds=time // 1_000_000_000)
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def condition_manifest(condition: Condition) -> dict[str, Any]:
    """A condition as a manifest writes it."""
    manifest = {"type": condition.type, "status": condition.status}
    if condition.reason:
        manifest["reason"] = condition.reason
    if condition.message:
        manifest["message"] = condition.message
    return manifest


def pod_manifest(pod: Pod, epoch: datetime) -> dict[str, Any]:
    """A Pod as a manifest, spec and status."""
    metadata: dict[str, Any] = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}
    if len(pod.labels):
        metadata["labels"] = dict(pod.labels)
    if pod.annotations:
        metadata["annotations"] = dict(pod.annotations)
    if pod.owners:
        metadata["ownerReferences"] = [
            {"apiVersion": o.api_version, "kind": o.kind, "name": o.name, "uid": o.uid, "controller": o.controller}
            for o in pod.owners
        ]
    if pod.finalizers:
        metadata["finalizers"] = list(pod.finalizers)
    metadata["creationTimestamp"] = format_time(pod.created, epoch)
    spec = dict(pod.spec.raw)
    if pod.node_name:
        spec["nodeName"] = pod.node_name
    status: dict[str, Any] = {"phase": pod.phase}
    if pod.nominated_node_name:
        status["nominatedNodeName"] = pod.nominated_node_name
    if pod.start_time is not None:
        status["startTime"] = format_time(pod.start_time, epoch)
    if pod.conditions:
        status["conditions"] = [condition_manifest(c) for c in pod.conditions]
    status |= pod.details.raw
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def node_manifest(node: Node, epoch: datetime) -> dict[str, Any]:
    """A Node as a manifest."""
    metadata: dict[str, Any] = {"name": node.name, "uid": node.uid, "labels": dict(node.labels)}
    if node.annotations:
        metadata["annotations"] = dict(node.annotations)
    metadata["creationTimestamp"] = format_time(node.created, epoch)
    spec: dict[str, Any] = {}
    if node.unschedulable:
        spec["unschedulable"] = True
    if node.taints:
        spec["taints"] = [{"key": t.key, "value": t.value, "effect": t.effect} for t in node.taints]
    status = {**node.raw_status, "allocatable": {r: format_quantity(r, v) for r, v in node.allocatable.items()}}
    if node.conditions:
        status["conditions"] = [condition_manifest(c) for c in node.conditions]
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def pod_state(pod: Pod) -> dict[str, Any]:
    """The state of a Pod as records carry it (`data.after`); what is unset is left out."""
    state: dict[str, Any] = {"phase": pod.phase, "priority": pod.spec.priority}
    if pod.node_name:
        state["node"] = pod.node_name
    if pod.spec.scheduler_name != DEFAULT_SCHEDULER:
        state["scheduler"] = pod.spec.scheduler_name
    if pod.nominated_node_name:
        state["nominated"] = pod.nominated_node_name
    if pod.deletion_time is not None:
        state["deletion"] = pod.deletion_time
        state["grace"] = pod.deletion_grace
    if pod.start_time is not None:
        state["start"] = pod.start_time
    owner = pod.controller
    if owner is not None:
        state["owner"] = f"{owner.kind}/{owner.name}"
    if pod.conditions:
        state["conditions"] = [[c.type, c.status, c.reason] for c in pod.conditions]
    ready = pod.condition("Ready")
    if ready is not None:
        state["ready"] = ready.status == "True"
    return state


def node_state(node: Node) -> dict[str, Any]:
    """The state of a Node as records carry it."""
    return {
        "unschedulable": node.unschedulable,
        "ready": node.ready,
        "taints": [[t.key, t.value, t.effect] for t in node.taints],
    }
