"""What the cluster overview needs besides spans: what Nodes offer and are, what Pods ask for.

Amounts are the scheduler's integers: milliCPU, bytes, counts. Where Pods are at an instant is in the spans; nothing is said twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from simulations.analysis.span_types import Span, SpanKind
from simulations.analysis.spans import CORDONED, NOT_READY
from simulations.analysis.words import of, taint_text
from simulations.engine.api.decode import decode_node, decode_pod
from simulations.engine.api.quantity import parse_quantity, resource_value
from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.kernel.trace import Record

FIRST: Final = ("cpu", "memory", "pods")
_EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
Amounts = dict[str, int]


@dataclass(slots=True)
class Overview:
    """Nodes by name (`allocatable`, `labels`) and requests of Pods by uid."""

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    pods: dict[str, Amounts] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """JSON values; `resources` are those that some Node offers, the usual ones first."""
        offered = dict.fromkeys(name for node in self.nodes.values() for name in node["allocatable"])
        resources = [*(name for name in FIRST if name in offered), *sorted(name for name in offered if name not in FIRST)]
        return {"resources": resources, "nodes": self.nodes, "pods": self.pods}


def fold(records: Iterable[Record]) -> Overview:
    """The overview of a run, from the records that create and change Nodes and create Pods."""
    found = Overview()
    for record in records:
        if record.code >= 400:
            continue
        if record.resource == "nodes" and record.verb in ("create", "patch", "update"):
            _take_node(found, record.name, of(record.data, "object"))
        elif record.resource == "pods" and record.verb == "create":
            found.pods[record.uid] = dict(of(record.data, "requests") or {})
    return found


def _take_node(found: Overview, name: str, manifest: Mapping[str, Any] | None) -> None:
    if manifest is None:
        found.nodes.setdefault(name, {"allocatable": {}, "labels": {}})
        return
    status = manifest.get("status") or {}
    amounts: Amounts = {}
    for resource, amount in (status.get("allocatable") or status.get("capacity") or {}).items():
        try:
            amounts[resource] = resource_value(resource, parse_quantity(amount))
        except ScenarioError:
            continue  # it was refused when it was loaded; nothing to show
    labels = (manifest.get("metadata") or {}).get("labels") or {}
    found.nodes[name] = {"allocatable": amounts, "labels": dict(labels)}


def of_snapshot(objects: Iterable[Mapping[str, Any]]) -> tuple[Overview, list[Span]]:
    """The overview of a dump, with the spans that say what was where at its moment."""
    found = Overview()
    spans: list[Span] = []
    for manifest in objects:
        number = len(spans) + 1
        if manifest.get("kind") == "Node":
            node = decode_node(manifest, _EPOCH)
            _take_node(found, node.name, manifest)
            word = CORDONED if node.unschedulable else "" if node.ready else NOT_READY
            taints = ", ".join(taint_text((t.key, t.value, t.effect)) for t in node.taints)
            text = f"taints: {taints}" if taints else ""
            spans.append(Span(number, SpanKind.NODE, "", node.uid, node.name, 0, None, number, 0, word, text))
        elif manifest.get("kind") == "Pod":
            pod = decode_pod(manifest, _EPOCH)
            uid = pod.uid or f"{pod.namespace}/{pod.name}"
            found.pods[uid] = dict(pod.spec.requests)
            kind = _kind(pod)
            if kind is not None:
                key = f"{pod.namespace}/{pod.name}"
                spans.append(Span(number, kind, key, uid, pod.node_name, 0, None, number, 0, pod.phase, "", pod.priority))
    return found, spans


def _kind(pod: Any) -> SpanKind | None:
    if pod.terminal:
        return None
    if pod.terminating:
        return SpanKind.TERMINATING
    if pod.node_name:
        return SpanKind.RUNNING if pod.phase == "Running" else SpanKind.STARTING
    return SpanKind.GATED if pod.spec.scheduling_gates else SpanKind.UNSCHEDULABLE
