"""Pods that a what-if adds."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.whatif.model import MAX_ADDED_PODS, AddPods, Change
from simulations.engine.whatif.texts import (
    LABEL_KEY,
    LABEL_VALUE,
    NAMESPACE,
    WEEK,
    check_amounts,
    check_duration,
    check_prefix,
)

MAX_USER_PRIORITY: Final = 1_000_000_000
MIN_PRIORITY: Final = -2_147_483_648


def check(pods: AddPods) -> Iterable[ScenarioError]:
    """What is out of its limits."""
    if not 1 <= pods.count <= MAX_ADDED_PODS:
        yield ScenarioError("E0713", f"the number of pods must be between 1 and {MAX_ADDED_PODS}", "addPods.count")
    yield from check_prefix("addPods", pods.name_prefix)
    if len(pods.namespace) > 63 or not NAMESPACE.fullmatch(pods.namespace):
        text = "a namespace has small letters, digits and '-', and at most 63 characters"
        yield ScenarioError("E0715", text, "addPods.namespace")
    yield from check_amounts("addPods", pods.cpu, pods.memory)
    yield from _check_priority(pods)
    yield from _check_labels(pods.labels)
    yield from check_duration("addPods.at", pods.at, 0, WEEK)


def _check_priority(pods: AddPods) -> Iterable[ScenarioError]:
    if pods.priority is not None and pods.priority_class:
        yield ScenarioError("E0717", "give a priority or a priority class, not both", "addPods.priority")
    if pods.priority is not None and not MIN_PRIORITY <= pods.priority <= MAX_USER_PRIORITY:
        text = f"the priority must be between {MIN_PRIORITY} and {MAX_USER_PRIORITY}; higher ones are reserved for system classes"
        yield ScenarioError("E0718", text, "addPods.priority")


def _check_labels(labels: Mapping[str, str]) -> Iterable[ScenarioError]:
    for key, value in labels.items():
        name = key.rpartition("/")[2]
        if not LABEL_KEY.fullmatch(key) or len(name) > 63 or len(key) > 317:
            yield ScenarioError("E0719", f"{key!r} is not a label key", "addPods.labels")
        if not LABEL_VALUE.fullmatch(value) or len(value) > 63:
            yield ScenarioError(
                "E0719", f"{value!r} is not a label value: letters, digits, '-', '_', '.', at most 63", f"addPods.labels.{key}"
            )


def apply(spec: dict[str, Any], pods: AddPods, present: Sequence[Mapping[str, Any]], changes: list[Change]) -> None:
    """Create the Pods at their time, and the priority class that they need.

    Raises:
        ScenarioErrors: E0720, a class is not there; E0721, a name is taken.
    """
    class_name, made = _priority_class(pods, present)
    names = _pod_names(pods)
    _refuse_taken_names(names, pods.namespace, [*present, *created_objects(spec)])
    if made is not None:
        spec["initial"] = [*(spec.get("initial") or []), made]
        changes.append(Change("priority classes", "", f"{class_name} of value {made['value']}"))
    operations = spec.setdefault("operations", [])
    operations.extend({"at": pods.at, "createOperation": {"object": _pod(name, pods, class_name)}} for name in names)
    requests = ", ".join(f"{key} {value}" for key, value in (("cpu", pods.cpu), ("memory", pods.memory)) if value) or "nothing"
    urgency = f", priority class {class_name}" if class_name else ""
    changes.append(Change("pods", "", f"{pods.count} more in {pods.namespace} at {pods.at}, each requests {requests}{urgency}"))


def _pod_names(pods: AddPods) -> list[str]:
    prefix, width = pods.name_prefix.rstrip("-"), len(str(pods.count))
    return [f"{prefix}-{number:0{width}d}" for number in range(1, pods.count + 1)]


def _pod(name: str, pods: AddPods, class_name: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": pods.namespace}
    if pods.labels:
        metadata["labels"] = dict(pods.labels)
    requests = {key: value for key, value in (("cpu", pods.cpu), ("memory", pods.memory)) if value}
    container: dict[str, Any] = {"name": "main", "image": "registry.k8s.io/pause"}
    if requests:
        container["resources"] = {"requests": requests}
    spec: dict[str, Any] = {"containers": [container]}
    if class_name:
        spec["priorityClassName"] = class_name
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _priority_class(pods: AddPods, present: Sequence[Mapping[str, Any]]) -> tuple[str, dict[str, Any] | None]:
    """Return the name of the class to use, and a new class where none has the wanted value."""
    classes = {name: each for each in present if each.get("kind") == "PriorityClass" and (name := name_of(each))}
    if pods.priority_class:
        if pods.priority_class not in classes and pods.priority_class not in ("system-cluster-critical", "system-node-critical"):
            known = ", ".join(sorted(classes)) or "none"
            error = ScenarioError(
                "E0720", f"there is no PriorityClass {pods.priority_class!r}; there are: {known}", "addPods.priorityClass"
            )
            raise ScenarioErrors([error])
        return pods.priority_class, None
    if pods.priority is None:
        return "", None
    for name in sorted(classes):
        same = classes[name].get("value") == pods.priority
        if same and classes[name].get("preemptionPolicy", "PreemptLowerPriority") == "PreemptLowerPriority":
            return name, None
    name = f"priority-{pods.priority}" if pods.priority >= 0 else f"priority-minus-{-pods.priority}"
    while name in classes:
        name += "-preempting"
    return name, {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": pods.priority,
    }


def _refuse_taken_names(names: Sequence[str], namespace: str, present: Iterable[Mapping[str, Any]]) -> None:
    taken = {
        name_of(each)
        for each in present
        if each.get("kind") == "Pod" and (each.get("metadata") or {}).get("namespace", "default") == namespace
    }
    for name in names:
        if name in taken:
            text = f"the base already has a pod {namespace}/{name}; choose another prefix"
            raise ScenarioErrors([ScenarioError("E0721", text, "addPods.namePrefix")])


def created_objects(spec: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """What the scenario's operations create."""
    for operation in spec.get("operations") or []:
        created = (operation.get("createOperation") or {}).get("object")
        if isinstance(created, Mapping):
            yield created


def name_of(manifest: Mapping[str, Any]) -> str:
    """The name of a manifest; empty when it has none."""
    return str((manifest.get("metadata") or {}).get("name", ""))
