"""What a run will probably take, from its scenario alone: an estimate calibrated on measured runs, not a promise.

Counted are the Pods that come after the start: those that fit, those that preempt, those that wait. A scheduler has only so many calls a
second, and so has the controller that creates Pods of workloads, so that a short run ends before a large number of them is through.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from simulations.engine.api.quantity import parse_quantity
from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.whatif.texts import when

Document = Mapping[str, Any]
SECOND: Final = 10**9
PER_PRESENT, PER_FITTING, PER_PREEMPTOR, PER_VICTIM, PER_WAITING, PER_WORKLOAD_POD = 2, 13, 15, 25, 20, 50
"""Records of each: an object of the start, a Pod by what becomes of it, and the status writes that a workload adds for a Pod."""
PER_CREATED, PER_SECOND = 2, 300
"""At most: records of a Pod that nobody tried yet, and records in a second of a scheduler with the default 50 calls."""
CREATED_PER_SECOND: Final = 20
"""Pods of workloads that kube-controller-manager creates, `--kube-api-qps`."""
SECONDS_PER_RECORD, SECONDS_PER_POD, SECONDS_PER_POD_AND_NODE = 0.00011, 0.001, 5e-7
"""Real seconds, storing included."""
CORES_OF_NOBODY: Final = Fraction(1, 10)


@dataclass(frozen=True, slots=True)
class Cost:
    """An estimate: nodes and pods at the end, records of the trace, real seconds at full speed."""

    nodes: int
    pods: int
    records: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Group:
    """Pods that come alike: how many, at what ns, their CPU and priority, whether a workload makes them."""

    count: int
    at: int
    cpu: Fraction
    priority: int
    owned: bool


def estimate(document: Document, objects: Sequence[Document] = ()) -> Cost:
    """Estimate a run of a scenario document.

    Args:
        document: the scenario, or what it has as its spec.
        objects: initial objects that the document leaves out.
    """
    own = document.get("spec")
    spec = own if isinstance(own, Mapping) else document
    there = [(o, 1) for o in (*objects, *_mappings(spec.get("initial")))]
    there += [(e.get("object") or {}, int(e.get("count") or 0)) for e in _mappings(spec.get("generate"))]
    classes = {o["metadata"].get("name"): int(o.get("value") or 0) for o, _ in there if o.get("kind") == "PriorityClass"}
    nodes = [(o, n) for o, n in there if o.get("kind") == "Node"]
    bound = [(o, n) for o, n in there if o.get("kind") == "Pod" and (o.get("spec") or {}).get("nodeName")]
    groups = [g for o, n in there if (g := _coming(o, n, 0, classes))]
    for operation in _mappings(spec.get("operations")):
        nodes, groups = _operated(operation, [o for o, _ in there], nodes, groups, classes)
    end = min(when(spec.get("duration", "60s")) or 60 * SECOND, 24 * 3600 * SECOND)
    running = [(_cpu(o), _priority(o, classes)) for o, _ in bound]
    room = sum((_allocatable(o) * n for o, n in nodes), Fraction(0)) - sum((cpu for cpu, _ in running), Fraction(0))
    records, coming = _through(groups, end, room, running)
    records += PER_PRESENT * sum(n for _, n in there)
    number = sum(n for _, n in nodes)
    seconds = 0.1 + records * SECONDS_PER_RECORD + coming * (SECONDS_PER_POD + number * SECONDS_PER_POD_AND_NODE)
    return Cost(number, sum(n for _, n in bound) + coming, records, round(seconds, 1))


def _through(groups: Sequence[_Group], end: int, room: Fraction, running: Sequence[tuple[Fraction, int]]) -> tuple[int, int]:
    """Records of the Pods that come until the end, and how many those are; each group takes of the room that the ones before left."""
    records = coming = 0
    for group in groups:
        left = max(end - group.at, 0) // SECOND
        count = min(group.count, CREATED_PER_SECOND * (left + 1)) if group.owned else group.count
        used, own = _records(group, count, max(room, Fraction(0)), running)
        room -= used
        records += min(own, count * PER_CREATED + PER_SECOND * left + PER_FITTING)
        coming += count
    return records, coming


def _mappings(value: object) -> list[Document]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _records(group: _Group, count: int, free: Fraction, running: Sequence[tuple[Fraction, int]]) -> tuple[Fraction, int]:
    """The CPU that a group takes of what is free, and its records."""
    each = group.cpu or CORES_OF_NOBODY
    fitting = min(count, int(free / each))
    lower = [cpu for cpu, priority in running if priority < group.priority and cpu]
    preempting = min(count - fitting, int(sum(lower, Fraction(0)) / each))
    victims = min(len(lower), int(preempting * each / (sum(lower, Fraction(0)) / len(lower)))) if lower else 0
    waiting = count - fitting - preempting
    records = fitting * PER_FITTING + preempting * PER_PREEMPTOR + victims * PER_VICTIM + waiting * PER_WAITING
    return fitting * group.cpu, records + (count * PER_WORKLOAD_POD if group.owned else 0)


def _operated(
    operation: Document,
    there: Sequence[Document],
    nodes: list[tuple[Document, int]],
    groups: list[_Group],
    classes: Mapping[Any, int],
) -> tuple[list[tuple[Document, int]], list[_Group]]:
    """Nodes and groups after an operation creates or scales something."""
    at = when(operation.get("at", 0))
    created = (operation.get("createOperation") or {}).get("object") or {}
    if created.get("kind") == "Node":
        return [*nodes, (created, 1)], groups
    group = _coming(created, 1, at, classes) or _scaled(operation.get("patchOperation") or {}, there, at, classes)
    if group is None:
        return nodes, groups
    last = groups[-1] if groups else None
    if last and (last.at, last.cpu, last.priority, last.owned) == (group.at, group.cpu, group.priority, group.owned):
        return nodes, [*groups[:-1], _Group(last.count + group.count, last.at, last.cpu, last.priority, last.owned)]
    return nodes, [*groups, group]


def _coming(item: Document, number: int, at: int, classes: Mapping[Any, int]) -> _Group | None:
    """The Pods that an object brings that are not bound yet."""
    kind, spec, status = item.get("kind"), item.get("spec") or {}, item.get("status") or {}
    owned = bool((item.get("metadata") or {}).get("ownerReferences"))
    if kind == "Pod" and not spec.get("nodeName") and status.get("phase") not in ("Succeeded", "Failed"):
        return _Group(number, at, _cpu(item), _priority(item, classes), False)
    if kind in ("Deployment", "StatefulSet", "ReplicaSet", "Job") and not owned and not _wanted(status, "replicas", 0):
        count = _wanted(spec, "parallelism" if kind == "Job" else "replicas", 1)
        if kind == "Job" and (status.get("active") or status.get("completionTime")):
            return None
        template = spec.get("template") or {}
        return _Group(number * count, at, _cpu(template), _priority(template, classes), True)
    return None


def _scaled(patch: Document, there: Sequence[Document], at: int, classes: Mapping[Any, int]) -> _Group | None:
    """The Pods that a change of a workload brings: those that are more, or all of them where its Pods are replaced."""
    for item in there:
        metadata = item.get("metadata") or {}
        names = (item.get("kind"), metadata.get("name"), metadata.get("namespace") or "default")
        if names != (patch.get("kind"), patch.get("name"), patch.get("namespace") or "default"):
            continue
        spec, change = item.get("spec") or {}, (patch.get("patch") or {}).get("spec") or {}
        field = "parallelism" if item.get("kind") == "Job" else "replicas"
        if item.get("kind") == "Pod" or not (field in change or "template" in change):
            return None
        before = _wanted(spec, field, 1)
        after = _wanted(change, field, before)
        template = {**(spec.get("template") or {}), **(change.get("template") or {})}
        count = after if "template" in change else max(after - before, 0)
        return _Group(count, at, _cpu(template), _priority(template, classes), True)
    return None


def _wanted(spec: Document, field: str, default: int) -> int:
    value = spec.get(field)
    return value if isinstance(value, int) and value >= 0 else default


def _cpu(item: Document) -> Fraction:
    containers = _mappings((item.get("spec") or {}).get("containers"))
    return sum((_amount(((c.get("resources") or {}).get("requests") or {}).get("cpu")) for c in containers), Fraction(0))


def _allocatable(node: Document) -> Fraction:
    status = node.get("status") or {}
    return _amount((status.get("allocatable") or status.get("capacity") or {}).get("cpu"))


def _amount(value: object) -> Fraction:
    try:
        return Fraction(parse_quantity(str(value))) if value is not None else Fraction(0)
    except (ScenarioError, ValueError):
        return Fraction(0)  # the scenario's own check names it


def _priority(item: Document, classes: Mapping[Any, int]) -> int:
    spec = item.get("spec") or {}
    value = spec.get("priority")
    return value if isinstance(value, int) else classes.get(spec.get("priorityClassName"), 0)
