"""What the API server refuses of workloads, budgets and priority classes, new or changed.

Source: pkg/apis/{apps,batch,policy,scheduling}/validation/validation.go, v1.36
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from simulations.engine.api.priority import SYSTEM_CLASSES
from simulations.engine.kernel.errors import ScenarioError

Document = Mapping[str, Any]
HIGHEST_PRIORITY: Final = 1_000_000_000
"""The highest value of a class that does not come with Kubernetes."""
_IMMUTABLE: Final = "field is immutable"
_IN_UPDATE: Final = "Forbidden: may not be changed in an update."
_PERCENT: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
    "regex used for validation is '[0-9]+%')"
)
_SET_FIELDS: Final = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)  # fmt: skip


def new_object(kind: str, document: Document) -> Iterator[ScenarioError]:
    """What is wrong with a new object of these kinds besides its template."""
    spec = _mapping(document.get("spec"))
    if kind == "PodDisruptionBudget":
        yield from _budget(spec)
    elif kind == "PriorityClass":
        yield from _priority_class(document)
    elif kind == "Job":
        yield from _job(spec)
    elif kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"):
        yield from _restarts(spec, ("Always",))
        if kind == "Deployment":
            yield from _rollout(spec)


def changed_object(kind: str, before: Document, after: Document) -> Iterator[ScenarioError]:
    """What of an object may not be changed and is."""
    old, new = _mapping(before.get("spec")), _mapping(after.get("spec"))
    if kind == "PriorityClass":
        for field in ("value", "preemptionPolicy"):
            if before.get(field) != after.get(field):
                yield ScenarioError("E0214", _IN_UPDATE, field)
    elif kind in ("Deployment", "ReplicaSet", "DaemonSet", "Job") and old.get("selector") != new.get("selector"):
        yield ScenarioError("E0214", f"Invalid value: {_short(new.get('selector'))}: {_IMMUTABLE}", "spec.selector")
    if kind == "Job":
        fixed = ("template", "completionMode", *(() if new.get("completionMode") == "Indexed" else ("completions",)))
        for field in fixed:
            if old.get(field) != new.get(field):
                yield ScenarioError("E0214", f"Invalid value: {_short(new.get(field))}: {_IMMUTABLE}", f"spec.{field}")
    if kind == "StatefulSet" and _without(old, _SET_FIELDS) != _without(new, _SET_FIELDS):
        *most, last = (f"'{name}'" for name in _SET_FIELDS)
        text = f"Forbidden: updates to statefulset spec for fields other than {', '.join(most)} and {last} are forbidden"
        yield ScenarioError("E0214", text, "spec")


def _budget(spec: Document) -> Iterator[ScenarioError]:
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        text = f"Invalid value: {_short(spec)}: minAvailable and maxUnavailable cannot be both set"
        yield ScenarioError("E0214", text, "spec")
    for field in ("minAvailable", "maxUnavailable"):
        yield from _number_or_percent(spec.get(field), f"spec.{field}")


def _number_or_percent(value: object, path: str) -> Iterator[ScenarioError]:
    if isinstance(value, str) and not re.match(r"\d+%\Z", value):
        yield ScenarioError("E0214", f'Invalid value: "{value}": {_PERCENT}', path)
    elif isinstance(value, str) and int(value[:-1]) > 100:
        yield ScenarioError("E0214", f'Invalid value: "{value}": must not be greater than 100%', path)
    elif isinstance(value, int) and value < 0:
        yield ScenarioError("E0214", f"Invalid value: {value}: must be greater than or equal to 0", path)


def _rollout(spec: Document) -> Iterator[ScenarioError]:
    strategy = _mapping(spec.get("strategy"))
    rolling = _mapping(strategy.get("rollingUpdate"))
    path = "spec.strategy.rollingUpdate"
    if strategy.get("type") == "Recreate" and rolling:
        text = "Forbidden: may not be specified when strategy `type` is 'Recreate'"
        yield ScenarioError("E0214", text, path)
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    yield from _number_or_percent(unavailable, f"{path}.maxUnavailable")
    if isinstance(surge, int) and surge < 0:
        yield ScenarioError("E0214", f"Invalid value: {surge}: must be greater than or equal to 0", f"{path}.maxSurge")
    if unavailable in (0, "0%") and surge in (0, "0%"):
        shown = f'"{unavailable}"' if isinstance(unavailable, str) else unavailable
        yield ScenarioError("E0214", f"Invalid value: {shown}: may not be 0 when `maxSurge` is 0", f"{path}.maxUnavailable")


def _restarts(spec: Document, allowed: tuple[str, ...]) -> Iterator[ScenarioError]:
    policy = _mapping(_mapping(spec.get("template")).get("spec")).get("restartPolicy")
    if policy is not None and policy not in allowed:
        names = ", ".join(f'"{name}"' for name in allowed)
        text = f'Unsupported value: "{policy}": supported values: {names}'
        yield ScenarioError("E0214", text, "spec.template.spec.restartPolicy")


def _job(spec: Document) -> Iterator[ScenarioError]:
    policy = _mapping(_mapping(spec.get("template")).get("spec")).get("restartPolicy")
    if policy in (None, "Always"):
        text = 'Required value: valid values: "OnFailure", "Never"'
        yield ScenarioError("E0214", text, "spec.template.spec.restartPolicy")
    if policy == "OnFailure" and spec.get("podFailurePolicy"):
        text = 'Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified'
        yield ScenarioError("E0214", text, "spec.template.spec.restartPolicy")
    for field in ("parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"):
        value = spec.get(field)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            yield ScenarioError("E0213", f"{value!r} is not an integer", f"spec.{field}")
        elif isinstance(value, int) and value < 0:
            yield ScenarioError("E0214", f"Invalid value: {value}: must be greater than or equal to 0", f"spec.{field}")
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is None:
        yield ScenarioError("E0214", "Required value: when completion mode is Indexed", "spec.completions")


def _priority_class(document: Document) -> Iterator[ScenarioError]:
    name, value = str(_mapping(document.get("metadata")).get("name") or ""), document.get("value") or 0
    known = SYSTEM_CLASSES.get(name)
    if known is not None and known.value == value:
        return
    if name.startswith("system-"):
        text = "Forbidden: priority class names with 'system-' prefix are reserved for system use only"
        yield ScenarioError("E0214", text, "metadata.name")
    if isinstance(value, int) and value > HIGHEST_PRIORITY:
        text = f"Forbidden: maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}"
        yield ScenarioError("E0214", text, "value")


def _mapping(value: object) -> Document:
    return value if isinstance(value, Mapping) else {}


def _without(spec: Document, fields: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in fields}


def _short(value: object) -> str:
    """A value in a message; Go prints whole structs there, which says less."""
    text = str(value).replace("'", '"')
    return text if len(text) <= 120 else f"{text[:117]}..."
