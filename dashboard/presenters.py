"""From manifests to the rows that kubectl would print."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Manifest = Mapping[str, Any]
UNSET = "<none>"


def age(seconds: float) -> str:
    """45s, 5m, 3h, 3d4h as kubectl writes ages."""
    whole = int(max(seconds, 0))
    if whole < 120:
        return f"{whole}s"
    minutes = whole // 60
    if minutes < 10:
        return f"{minutes}m{whole % 60}s" if whole % 60 else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    hours = minutes // 60
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    days = hours // 24
    return f"{days}d{hours % 24}h" if days < 8 and hours % 24 else f"{days}d"


def _age_of(manifest: Manifest, now: datetime | None) -> str:
    created = (manifest.get("metadata") or {}).get("creationTimestamp")
    if not created or now is None:
        return "<unknown>"
    try:
        moment = datetime.fromisoformat(str(created))
    except ValueError:
        return "<unknown>"
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return age((now - moment).total_seconds())


@dataclass(frozen=True, slots=True)
class PodRow:
    """NAMESPACE NAME READY STATUS RESTARTS AGE NODE NOMINATED NODE, and ours."""

    namespace: str
    name: str
    ready: str
    status: str
    restarts: int
    age: str
    node: str
    nominated: str
    priority: int

    @property
    def search(self) -> str:
        """What a filter looks in."""
        return f"{self.namespace}/{self.name} {self.status} {self.node}".lower()


def _pod_row(pod: Manifest, now: datetime | None) -> PodRow:
    metadata, spec, status = pod.get("metadata") or {}, pod.get("spec") or {}, pod.get("status") or {}
    containers = status.get("containerStatuses") or []
    wanted = len(spec.get("containers") or [])
    ready = sum(1 for c in containers if c.get("ready"))
    conditions = {c.get("type"): c.get("status") for c in status.get("conditions") or []}
    if not containers and conditions.get("Ready") == "True":
        ready = wanted
    word = "Terminating" if metadata.get("deletionTimestamp") else str(status.get("phase") or "Pending")
    return PodRow(
        str(metadata.get("namespace") or "default"), str(metadata.get("name")), f"{ready}/{wanted}", word,
        sum(int(c.get("restartCount") or 0) for c in containers), _age_of(pod, now), str(spec.get("nodeName") or UNSET),
        str(status.get("nominatedNodeName") or UNSET), int(spec.get("priority") or 0),
    )  # fmt: skip


def pod_rows(objects: Iterable[Manifest], now: datetime | None) -> list[PodRow]:
    """Pods; those that wait for a node first."""
    rows = [_pod_row(o, now) for o in objects if o.get("kind") == "Pod"]
    return sorted(rows, key=lambda r: (r.node != UNSET, r.namespace, r.name))


@dataclass(frozen=True, slots=True)
class NodeRow:
    """NAME STATUS ROLES AGE VERSION, and zone, allocatable and how much of it the pods ask for."""

    name: str
    status: str
    roles: str
    age: str
    version: str
    zone: str
    cpu: str
    memory: str
    pods: int


def _node_status(node: Manifest) -> str:
    conditions = {c.get("type"): c.get("status") for c in (node.get("status") or {}).get("conditions") or []}
    word = {"True": "Ready", "False": "NotReady"}.get(str(conditions.get("Ready", "True")), "Unknown")
    return f"{word},SchedulingDisabled" if (node.get("spec") or {}).get("unschedulable") else word


def _roles(labels: Mapping[str, str]) -> str:
    prefix = "node-role.kubernetes.io/"
    return ",".join(sorted(k.removeprefix(prefix) for k in labels if k.startswith(prefix))) or UNSET


def node_rows(objects: Iterable[Manifest], now: datetime | None) -> list[NodeRow]:
    """Nodes in their order."""
    kept = list(objects)
    placed: dict[str, int] = {}
    for pod in kept:
        if pod.get("kind") == "Pod":
            name = str((pod.get("spec") or {}).get("nodeName"))
            placed[name] = placed.get(name, 0) + 1
    rows = []
    for node in kept:
        if node.get("kind") != "Node":
            continue
        metadata, status = node.get("metadata") or {}, node.get("status") or {}
        labels = metadata.get("labels") or {}
        allocatable = status.get("allocatable") or {}
        rows.append(
            NodeRow(
                str(metadata.get("name")), _node_status(node), _roles(labels), _age_of(node, now),
                str((status.get("nodeInfo") or {}).get("kubeletVersion") or UNSET),
                str(labels.get("topology.kubernetes.io/zone") or UNSET), str(allocatable.get("cpu", UNSET)),
                str(allocatable.get("memory", UNSET)), placed.get(str(metadata.get("name")), 0),
            )
        )  # fmt: skip
    return rows


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """NAME MIN AVAILABLE MAX UNAVAILABLE ALLOWED DISRUPTIONS AGE."""

    namespace: str
    name: str
    min_available: str
    max_unavailable: str
    allowed: str
    age: str


def budget_rows(objects: Iterable[Manifest], now: datetime | None) -> list[BudgetRow]:
    """PodDisruptionBudgets."""
    rows = []
    for item in objects:
        if item.get("kind") == "PodDisruptionBudget":
            metadata, spec = item.get("metadata") or {}, item.get("spec") or {}
            allowed = (item.get("status") or {}).get("disruptionsAllowed")
            rows.append(
                BudgetRow(
                    str(metadata.get("namespace") or "default"), str(metadata.get("name")), str(spec.get("minAvailable", "N/A")),
                    str(spec.get("maxUnavailable", "N/A")), UNSET if allowed is None else str(allowed), _age_of(item, now),
                )
            )  # fmt: skip
    return rows
