"""Workloads that a what-if changes while they run."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.whatif.model import Change, WorkloadChange
from simulations.engine.whatif.pods import name_of
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
        ScenarioErrors: E0724, a workload is not there; E0720, a priority class is not there.
    """
    known = {_key(item): item for item in present if item.get("kind") in KINDS}
    classes = {name_of(item) for item in present if item.get("kind") == "PriorityClass"}
    for i, one in enumerate(wanted):
        item = known.get(one.workload)
        if item is None:
            text = f"there is no workload {one.workload!r}; it is written Kind/namespace/name"
            raise ScenarioErrors([ScenarioError("E0724", text, f"workloads[{i}].workload")])
        if one.priority_class and one.priority_class not in classes:
            text = f"there is no PriorityClass {one.priority_class!r}; there are: {', '.join(sorted(classes)) or 'none'}"
            raise ScenarioErrors([ScenarioError("E0720", text, f"workloads[{i}].priorityClass")])
        kind, namespace, name = one.workload.split("/")
        target = {"kind": kind, "namespace": namespace, "name": name, "patch": {"spec": _patch(one, item)}}
        spec.setdefault("operations", []).append({"at": one.at, "patchOperation": target})
        changes.append(Change(one.workload, _before(one, item), _after(one)))


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
    return f"{spec.get('replicas', 1)} replicas" if one.replicas is not None else ""


def _after(one: WorkloadChange) -> str:
    parts = [f"{one.replicas} replicas"] if one.replicas is not None else []
    parts += [f"{key} {value}" for key, value in _requests(one).items()]
    parts += [f"priority class {one.priority_class}"] if one.priority_class else []
    return f"{', '.join(parts)} at {one.at}"
