"""Workloads that a what-if changes while they run."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.whatif.model import Change, WorkloadChange
from simulations.engine.whatif.pods import created_objects, name_of
from simulations.engine.whatif.texts import WEEK, check_amounts, check_duration

KINDS: Final = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Job")
MAX_REPLICAS: Final = 100_000
Document = Mapping[str, Any]


def check(changes: Sequence[WorkloadChange]) -> Iterable[ScenarioError]:
    """What is out of its limits."""
    for i, one in enumerate(changes):
        path = f"workloads[{i}]"
        if one.replicas is not None and not 0 <= one.replicas <= MAX_REPLICAS:
            yield ScenarioError("E0713", f"the number of replicas must be between 0 and {MAX_REPLICAS}", f"{path}.replicas")
        if one.replicas is None and not (one.cpu or one.memory or one.priority_class):
            yield ScenarioError("E0725", "give replicas, requests or a priority class to change", path)
        if one.replicas is not None and one.workload.startswith("DaemonSet/"):
            yield ScenarioError("E0726", "a DaemonSet has no replicas: it runs one pod on each of its nodes", f"{path}.replicas")
        yield from check_amounts(path, one.cpu, one.memory)
        yield from check_duration(f"{path}.at", one.at, 0, WEEK)


def names(present: Iterable[Document]) -> list[str]:
    """The workloads that can be named, `Kind/namespace/name`; what others own is left out."""
    return sorted(
        _key(item) for item in present if item.get("kind") in KINDS and not (item.get("metadata") or {}).get("ownerReferences")
    )


def _key(item: Document) -> str:
    return f"{item.get('kind')}/{(item.get('metadata') or {}).get('namespace') or 'default'}/{name_of(item)}"


def apply(spec: dict[str, Any], wanted: Sequence[WorkloadChange], present: Sequence[Document], changes: list[Change]) -> None:
    """Patch the workloads at their times.

    Raises:
        ScenarioErrors: E0724, workloads are not there; E0720, priority classes are not there; all of them.
    """
    present = [*created_objects(spec), *present]
    known = {_key(item): item for item in present if item.get("kind") in KINDS}
    classes = {name_of(item) for item in present if item.get("kind") == "PriorityClass"}
    errors = list(_missing(wanted, known, classes))
    if errors:
        raise ScenarioErrors(errors)
    for one in wanted:
        item = known[one.workload]
        kind, namespace, name = one.workload.split("/")
        target = {"kind": kind, "namespace": namespace, "name": name, "patch": {"spec": _patch(one, item)}}
        spec.setdefault("operations", []).append({"at": one.at, "patchOperation": target})
        changes.append(Change(one.workload, _before(one, item), _after(one, item)))


def _missing(wanted: Sequence[WorkloadChange], known: Mapping[str, Document], classes: set[str]) -> Iterable[ScenarioError]:
    for i, one in enumerate(wanted):
        if one.workload not in known:
            text = f"there is no workload {one.workload!r}; it is written Kind/namespace/name"
            yield ScenarioError("E0724", text, f"workloads[{i}].workload")
        if one.priority_class and one.priority_class not in classes:
            text = f"there is no PriorityClass {one.priority_class!r}; there are: {', '.join(sorted(classes)) or 'none'}"
            yield ScenarioError("E0720", text, f"workloads[{i}].priorityClass")


def _patch(one: WorkloadChange, item: Document) -> dict[str, Any]:
    patch: dict[str, Any] = {}
    if one.replicas is not None:
        patch["parallelism" if item.get("kind") == "Job" else "replicas"] = one.replicas
    pod: dict[str, Any] = {}
    requests = _requests(one)
    if requests:
        template = ((item.get("spec") or {}).get("template") or {}).get("spec") or {}
        containers = copy.deepcopy(list(template.get("containers") or [{"name": "main"}]))
        resources = containers[0].setdefault("resources", {})
        resources["requests"] = {**(resources.get("requests") or {}), **requests}
        limits = resources.get("limits") or {}
        resources["limits"] = {**limits, **{key: value for key, value in requests.items() if key in limits}}
        pod["containers"] = containers
    if one.priority_class:
        pod["priorityClassName"] = one.priority_class
    return {**patch, **({"template": {"spec": pod}} if pod else {})}


def _requests(one: WorkloadChange) -> dict[str, str]:
    return {key: value for key, value in (("cpu", one.cpu), ("memory", one.memory)) if value}


def _before(one: WorkloadChange, item: Document) -> str:
    spec = item.get("spec") or {}
    return _count(item, spec.get("parallelism" if item.get("kind") == "Job" else "replicas", 1)) if one.replicas is not None else ""


def _count(item: Document, number: object) -> str:
    return f"parallelism {number}" if item.get("kind") == "Job" else f"{number} replicas"


def _after(one: WorkloadChange, item: Document) -> str:
    parts = [_count(item, one.replicas)] if one.replicas is not None else []
    parts += [f"{key} {value}" for key, value in _requests(one).items()]
    parts += [f"priority class {one.priority_class}"] if one.priority_class else []
    return f"{', '.join(parts)} at {one.at}"
