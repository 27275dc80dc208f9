"""What if: a base scenario document and a few changes give a new scenario document.

Pure: mappings in, a new mapping out; the base is never touched. The form of the web page and `run --set key=value`
both speak in `WhatIf`; every wrong value is refused with a code and the path of the field, all of them at once.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors

MAX_ADDED_PODS: Final = 20_000
MAX_USER_PRIORITY: Final = 1_000_000_000
MIN_PRIORITY: Final = -2_147_483_648
MAX_SEED: Final = 2**63 - 1
MAX_PACE: Final = 10_000.0
DEFAULT_DURATION: Final = "60s"

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_LABEL_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)?")
_DURATION_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_CPU = re.compile(r"(\d+(?:\.\d+)?)(m?)")
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)?")


@dataclass(frozen=True, slots=True)
class AddPods:
    """Pods that a user creates, all alike but for their names.

    Attributes:
        count: how many, 1 to 20,000.
        name_prefix: names are the prefix, a dash and a number padded with zeros.
        namespace: where they are created.
        cpu, memory: requests of their one container, as Kubernetes writes them (`500m`, `1Gi`); empty: none.
        priority: a plain number. A class of that value that may preempt is used, else one is made.
        priority_class: the name of a class that the base has; not together with `priority`.
        labels: their labels.
        at: when, after T+0.
    """

    count: int = 20
    name_prefix: str = "urgent"
    namespace: str = "default"
    cpu: str = "500m"
    memory: str = ""
    priority: int | None = None
    priority_class: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    at: str = "5s"


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The changes to a base; what is None or empty stays as the base has it.

    Attributes:
        add_pods: pods to create.
        async_preemption: the feature gate SchedulerAsyncPreemption.
        api_latency: what each call to the API server costs, as a duration.
        seed: the seed written into the scenario.
        duration: where the run stops, as a duration after T+0.
    """

    add_pods: AddPods | None = None
    async_preemption: bool | None = None
    api_latency: str = ""
    seed: int | None = None
    duration: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference from the base, for people: `requests of new pods: cpu 3`."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A new document and what is different in it."""

    document: dict[str, Any]
    changes: tuple[Change, ...]


def import_document(name: str, start_time: str) -> dict[str, Any]:
    """Return the scenario document of an imported cluster; its objects are put in front of `spec.initial` later.

    Args:
        name: what the cluster is called.
        start_time: what T+0 is called, RFC 3339.
    """
    return {
        "apiVersion": "schedscope/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": _as_name(name)},
        "spec": {
            "description": f"The cluster {name} as it was imported.",
            "startTime": start_time,
            "seed": 1,
            "duration": DEFAULT_DURATION,
            "initial": [],
        },
    }


def apply_what_if(document: Mapping[str, Any], what_if: WhatIf, objects: Sequence[Mapping[str, Any]] = ()) -> Changed:
    """Return a copy of the document with the changes in it.

    Args:
        document: a scenario document.
        what_if: the changes.
        objects: initial objects that the document leaves out (those of its snapshot); only looked at.

    Raises:
        ScenarioErrors: all values that are out of their limits, with the path of the field in the form.
    """
    errors = list(_check(what_if))
    if errors:
        raise ScenarioErrors(errors)
    changed = copy.deepcopy(dict(document))
    spec = changed.setdefault("spec", {})
    changes: list[Change] = []
    _apply_gate(spec, what_if.async_preemption, changes)
    _apply_latency(spec, what_if.api_latency, changes)
    if what_if.seed is not None and what_if.seed != spec.get("seed", 1):
        changes.append(Change("seed", str(spec.get("seed", 1)), str(what_if.seed)))
        spec["seed"] = what_if.seed
    if what_if.duration and what_if.duration != str(spec.get("duration", "")):
        changes.append(Change("duration", str(spec.get("duration", spec.get("until", "<none>"))), what_if.duration))
        spec["duration"] = what_if.duration
        spec.pop("until", None)
    if what_if.add_pods is not None:
        _apply_pods(spec, what_if.add_pods, objects, changes)
    return Changed(changed, tuple(changes))


def compose(document: Mapping[str, Any], objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the document with the objects in front of its own initial objects."""
    whole = dict(document)
    spec = dict(whole.get("spec") or {})
    spec["initial"] = [*objects, *(spec.get("initial") or [])]
    whole["spec"] = spec
    return whole


def parse_duration(text: str | float | int) -> int:
    """Return a duration of `200ms`, `5s`, `1h`, `1m30s` or a number of seconds, in nanoseconds.

    Raises:
        ValueError: it is not a duration, or below zero.
    """
    rest = str(text).strip()
    total = 0
    if not rest:
        raise ValueError("a duration is empty")
    while rest:
        match = _DURATION.match(rest)
        if match is None or (match.group(2) is None and (total or match.end() != len(rest))):
            raise ValueError(f"{text!r} is not a duration such as 200ms, 5s or 1h")
        whole, _, fraction = match.group(1).partition(".")
        unit = _DURATION_UNITS[match.group(2) or "s"]
        total += int(whole) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        rest = rest[match.end() :]
    return total


# -- settings of the command line ------------------------------------------------------------------------------------


def parse_settings(settings: Iterable[str]) -> WhatIf:
    """Return the changes that `key=value` pairs ask for; keys as in the form, `addPods.cpu` or `add_pods.cpu`.

    Raises:
        ScenarioErrors: a pair has no `=`, its key is unknown, or its value is not of the right type.
    """
    pods: dict[str, Any] = {}
    top: dict[str, Any] = {}
    errors: list[ScenarioError] = []
    for setting in settings:
        key, equals, value = setting.partition("=")
        try:
            if not equals:
                raise ScenarioError("E0701", f"{setting!r} is not key=value", "--set")
            _set(_snake(key.strip()), value.strip(), top, pods)
        except ScenarioError as error:
            errors.append(error)
    if errors:
        raise ScenarioErrors(errors)
    what_if = WhatIf(**top)
    return replace(what_if, add_pods=AddPods(**pods)) if pods else what_if


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: "_" + match.group(1).lower(), key)


def _set(key: str, value: str, top: dict[str, Any], pods: dict[str, Any]) -> None:
    group, dot, name = key.partition(".")
    if group == "add_pods" and dot:
        label_of, label_dot, label = name.partition(".")
        if label_of == "labels" and label_dot:
            pods.setdefault("labels", {})[label] = value
            return
        reader = _POD_SETTINGS.get(name)
        target = pods
    else:
        name, reader, target = key, _TOP_SETTINGS.get(key), top
    if reader is None:
        known = ", ".join([*_TOP_SETTINGS, *(f"add_pods.{each}" for each in _POD_SETTINGS), "add_pods.labels.KEY"])
        raise ScenarioError("E0702", f"there is no setting {key!r}; there are: {known}", "--set")
    try:
        target[name] = reader(value)
    except ValueError as error:
        raise ScenarioError("E0703", f"{value!r}: {error}", key) from error


def _integer(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,20}", text):
        raise ValueError("must be a whole number")
    return int(text)


def _boolean(text: str) -> bool:
    try:
        return {"true": True, "false": False, "on": True, "off": False}[text.lower()]
    except KeyError:
        raise ValueError("must be true or false") from None


_TOP_SETTINGS: Final[dict[str, Callable[[str], Any]]] = {
    "async_preemption": _boolean,
    "api_latency": str,
    "seed": _integer,
    "duration": str,
}
_POD_SETTINGS: Final[dict[str, Callable[[str], Any]]] = {
    "count": _integer,
    "name_prefix": str,
    "namespace": str,
    "cpu": str,
    "memory": str,
    "priority": _integer,
    "priority_class": str,
    "at": str,
}


# -- limits ----------------------------------------------------------------------------------------------------------


def _check(what_if: WhatIf) -> Iterable[ScenarioError]:
    if what_if.seed is not None and not 0 <= what_if.seed <= MAX_SEED:
        yield ScenarioError("E0710", f"the seed must be between 0 and {MAX_SEED}", "seed")
    yield from _check_duration("apiLatency", what_if.api_latency, 0, 60 * 10**9)
    yield from _check_duration("duration", what_if.duration, 1, 7 * 24 * 3600 * 10**9)
    if what_if.add_pods is not None:
        yield from _check_pods(what_if.add_pods)


def _check_duration(path: str, text: str, least: int, most: int) -> Iterable[ScenarioError]:
    if not text:
        return
    try:
        value = parse_duration(text)
    except ValueError as error:
        yield ScenarioError("E0711", str(error), path)
        return
    if not least <= value <= most:
        yield ScenarioError("E0712", f"{text} is out of range: more than {least - 1} ns, at most {most // 10**9} s", path)


def _check_pods(pods: AddPods) -> Iterable[ScenarioError]:
    if not 1 <= pods.count <= MAX_ADDED_PODS:
        yield ScenarioError("E0713", f"the number of pods must be between 1 and {MAX_ADDED_PODS}", "addPods.count")
    prefix = pods.name_prefix.rstrip("-")
    if not prefix or len(prefix) > 240 or not _NAME.fullmatch(prefix):
        text = "a name prefix has small letters, digits, '-' and '.', begins with a letter or digit, and at most 240 characters"
        yield ScenarioError("E0714", text, "addPods.namePrefix")
    if len(pods.namespace) > 63 or not _NAMESPACE.fullmatch(pods.namespace):
        yield ScenarioError(
            "E0715", "a namespace has small letters, digits and '-', and at most 63 characters", "addPods.namespace"
        )
    if pods.cpu and not _CPU.fullmatch(pods.cpu):
        yield ScenarioError("E0716", f"{pods.cpu!r} is not an amount of CPU such as 500m or 3", "addPods.cpu")
    if pods.memory and not _MEMORY.fullmatch(pods.memory):
        yield ScenarioError("E0716", f"{pods.memory!r} is not an amount of memory such as 512Mi or 2Gi", "addPods.memory")
    yield from _check_priority(pods)
    yield from _check_labels(pods.labels)
    yield from _check_duration("addPods.at", pods.at, 0, 7 * 24 * 3600 * 10**9)


def _check_priority(pods: AddPods) -> Iterable[ScenarioError]:
    if pods.priority is not None and pods.priority_class:
        yield ScenarioError("E0717", "give a priority or a priority class, not both", "addPods.priority")
    if pods.priority is not None and not MIN_PRIORITY <= pods.priority <= MAX_USER_PRIORITY:
        text = f"the priority must be between {MIN_PRIORITY} and {MAX_USER_PRIORITY}; higher ones are reserved for system classes"
        yield ScenarioError("E0718", text, "addPods.priority")


def _check_labels(labels: Mapping[str, str]) -> Iterable[ScenarioError]:
    for key, value in labels.items():
        name = key.rpartition("/")[2]
        if not _LABEL_KEY.fullmatch(key) or len(name) > 63 or len(key) > 317:
            yield ScenarioError("E0719", f"{key!r} is not a label key", "addPods.labels")
        if not _LABEL_VALUE.fullmatch(value) or len(value) > 63:
            yield ScenarioError(
                "E0719", f"{value!r} is not a label value: letters, digits, '-', '_', '.', at most 63", f"addPods.labels.{key}"
            )


# -- changes ---------------------------------------------------------------------------------------------------------


def _apply_gate(spec: dict[str, Any], wanted: bool | None, changes: list[Change]) -> None:
    if wanted is None:
        return
    gates = spec.setdefault("featureGates", {})
    before = gates.get("SchedulerAsyncPreemption", True)
    gates["SchedulerAsyncPreemption"] = wanted
    if before is not wanted:
        changes.append(Change("asynchronous preemption", _on_off(before), _on_off(wanted)))


def _on_off(value: bool) -> str:
    return "on" if value else "off"


def _apply_latency(spec: dict[str, Any], latency: str, changes: list[Change]) -> None:
    """Every call costs the same from now on: costs of single verbs would hide what was asked for."""
    if not latency:
        return
    costs = spec.setdefault("costs", {})
    before = (costs.get("apiServer") or {}).get("default", f"as in preset {costs.get('preset', 'lab')}")
    costs["apiServer"] = {"default": latency}
    changes.append(Change("API latency", str(before), latency))


def _apply_pods(spec: dict[str, Any], pods: AddPods, objects: Sequence[Mapping[str, Any]], changes: list[Change]) -> None:
    present = [*objects, *(spec.get("initial") or [])]
    class_name, made = _priority_class(pods, present)
    names = _pod_names(pods)
    _refuse_taken_names(names, pods.namespace, [*present, *_created_objects(spec)])
    if made is not None:
        spec["initial"] = [*(spec.get("initial") or []), made]
        changes.append(Change("priority classes", "", f"{class_name} of value {made['value']}"))
    operations = spec.setdefault("operations", [])
    operations.extend({"at": pods.at, "createOperation": {"object": _pod(name, pods, class_name)}} for name in names)
    operations.sort(key=lambda operation: parse_duration(operation.get("at", 0)))
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
    classes = {name: each for each in present if each.get("kind") == "PriorityClass" and (name := _name_of(each))}
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
        _name_of(each)
        for each in present
        if each.get("kind") == "Pod" and (each.get("metadata") or {}).get("namespace", "default") == namespace
    }
    for name in names:
        if name in taken:
            text = f"the base already has a pod {namespace}/{name}; choose another prefix"
            raise ScenarioErrors([ScenarioError("E0721", text, "addPods.namePrefix")])


def _created_objects(spec: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for operation in spec.get("operations") or []:
        created = (operation.get("createOperation") or {}).get("object")
        if isinstance(created, Mapping):
            yield created


def _name_of(manifest: Mapping[str, Any]) -> str:
    return str((manifest.get("metadata") or {}).get("name", ""))


def _as_name(text: str) -> str:
    """Return the text as an object's name: small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:240] or "imported"
