"""What the API server refuses of a manifest, in its words.

Source: pkg/apis/{core,policy}/validation/validation.go, v1.36
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from simulations.engine.api.labels import intern_labels
from simulations.engine.api.pod_spec import intern_pod_spec
from simulations.engine.api.quantity import NANOS, parse_quantity
from simulations.engine.api.scheduling_rules import where_it_may_run
from simulations.engine.api.storage_rules import new_storage
from simulations.engine.api.workload_rules import new_object
from simulations.engine.kernel.errors import ScenarioError

_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_LABEL_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?\Z")
_LABEL_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")
_NAME_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_STANDARD: Final = ("cpu", "memory", "ephemeral-storage")
_WITH_TEMPLATE: Final = ("ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "ReplicationController", "Job")


def validate(document: Mapping[str, Any]) -> list[ScenarioError]:
    """All findings in a manifest, in the order of its fields; empty when it would be accepted."""
    kind = document.get("kind")
    findings = list(_metadata(document.get("metadata") or {}))
    spec = document.get("spec") or {}
    if not isinstance(spec, Mapping):
        return [*findings, ScenarioError("E0213", "expected a mapping", "spec")]
    if kind == "Pod":
        findings.extend(_pod(spec))
    elif kind == "Node":
        findings.extend(_taints(spec.get("taints") or []))
    elif kind in _WITH_TEMPLATE:
        findings.extend(_template(spec))
    return [*findings, *new_object(str(kind), document), *new_storage(str(kind), document)]


def _metadata(metadata: Mapping[str, Any]) -> Iterator[ScenarioError]:
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        yield ScenarioError("E0203", "Required value: name or generateName is required", "metadata.name")
        return
    if len(name) > 253:
        yield ScenarioError("E0203", f'Invalid value: "{name[:40]}...": must be no more than 253 characters', "metadata.name")
    elif not _SUBDOMAIN.match(name):
        yield ScenarioError("E0203", f'Invalid value: "{name}": {_NAME_TEXT}', "metadata.name")
    for key, value in (metadata.get("labels") or {}).items():
        yield from _label(str(key), value)


def _label(key: str, value: object) -> Iterator[ScenarioError]:
    prefix, _, name = key.rpartition("/")
    if not _LABEL_NAME.match(name) or len(name) > 63 or (prefix and not _SUBDOMAIN.match(prefix)):
        yield ScenarioError("E0205", f'Invalid value: "{key}": not a valid label key', "metadata.labels")
    if not isinstance(value, str):
        yield ScenarioError("E0205", f"the value of {key} must be text (put it in quotes)", "metadata.labels")
    elif len(value) > 63:
        yield ScenarioError("E0205", f'Invalid value: "{value[:40]}...": must be no more than 63 bytes', "metadata.labels")
    elif not _LABEL_VALUE.match(value):
        yield ScenarioError("E0205", f'Invalid value: "{value}": {_VALUE_TEXT}', "metadata.labels")


def _template(spec: Mapping[str, Any]) -> Iterator[ScenarioError]:
    """The Pod template of a workload, as a Pod; and the selector must select what it makes."""
    template = spec.get("template") or {}
    pod = template.get("spec") if isinstance(template, Mapping) else None
    if not isinstance(pod, Mapping):
        return
    labels = _mapping(_mapping(template.get("metadata")).get("labels"))
    texts = {str(k): v for k, v in labels.items() if isinstance(v, str)}
    for key, value in labels.items():
        yield from (error.located(prefix="spec.template") for error in _label(str(key), value))
    try:
        intern_pod_spec(pod, "default", intern_labels(texts))
    except ScenarioError as error:
        yield error.located(prefix="spec.template")
        return
    yield from (error.located(prefix="spec.template") for error in _pod(pod))
    wanted = _mapping(_mapping(spec.get("selector")).get("matchLabels"))
    if any(texts.get(str(key)) != value for key, value in wanted.items()):
        shown = ", ".join(f'"{key}":"{value}"' for key, value in texts.items())
        text = f"Invalid value: {{{shown}}}: `selector` does not match template `labels`"
        yield ScenarioError("E0214", text, "spec.template.metadata.labels")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(spec: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    value = spec.get(field) or []
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _pod(spec: Mapping[str, Any]) -> Iterator[ScenarioError]:
    containers = _items(spec, "containers")
    if not containers:
        yield ScenarioError("E0213", "Required value", "spec.containers")
    ports: set[tuple[str, str, int]] = set()
    for field in ("initContainers", "containers"):
        for i, container in enumerate(_items(spec, field)):
            path = f"spec.{field}[{i}]"
            yield from _resources(container.get("resources") or {}, f"{path}.resources")
            if field == "containers":
                yield from _host_ports(container, path, ports)
    yield from where_it_may_run(spec)


def _resources(resources: Mapping[str, Any], path: str) -> Iterator[ScenarioError]:
    if not isinstance(resources, Mapping):
        yield ScenarioError("E0213", "expected a mapping with requests and limits", path)
        return
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, amounts in (("limits", limits), ("requests", requests)):
        if not isinstance(amounts, Mapping):
            yield ScenarioError("E0213", "expected a mapping from resource to quantity", f"{path}.{name}")
            return
        for resource, value in amounts.items():
            try:
                negative = parse_quantity(value, f"{path}.{name}[{resource}]") < 0
            except ScenarioError as error:
                yield error
                return
            if negative:
                text = f'Invalid value: "{value}": must be greater than or equal to 0'
                yield ScenarioError("E0207", text, f"{path}.{name}[{resource}]")
                continue
            yield from _resource_name(str(resource), value, f"{path}.{name}[{resource}]")
    for resource in requests:
        yield from _request_within_limit(str(resource), requests, limits, path)


def _resource_name(resource: str, value: object, path: str) -> Iterator[ScenarioError]:
    """Names without a domain are Kubernetes' own; what is counted in whole numbers must be one."""
    if "/" not in resource:
        if resource not in _STANDARD and not resource.startswith("hugepages-"):
            yield ScenarioError("E0214", f'Invalid value: "{resource}": must be a standard resource type or fully qualified', path)
    elif _extended(resource) and parse_quantity(value) % NANOS:
        yield ScenarioError("E0214", f'Invalid value: "{value}": must be an integer', path)


def _extended(resource: str) -> bool:
    return "/" in resource and "kubernetes.io/" not in resource


def _request_within_limit(
    resource: str, requests: Mapping[str, Any], limits: Mapping[str, Any], path: str
) -> Iterator[ScenarioError]:
    extended = _extended(resource) or resource.startswith("hugepages-")
    if resource not in limits:
        if extended:
            text = "Required value: Limit must be set for non overcommitable resources"
            yield ScenarioError("E0214", text, f"{path}.limits")
        return
    if extended and parse_quantity(requests[resource]) != parse_quantity(limits[resource]):
        text = f'Invalid value: "{requests[resource]}": must be equal to {resource} limit of {limits[resource]}'
        yield ScenarioError("E0214", text, f"{path}.requests")
    elif parse_quantity(requests[resource]) > parse_quantity(limits[resource]):
        text = f'Invalid value: "{requests[resource]}": must be less than or equal to {resource} limit of {limits[resource]}'
        yield ScenarioError("E0214", text, f"{path}.requests")


def _host_ports(container: Mapping[str, Any], path: str, seen: set[tuple[str, str, int]]) -> Iterator[ScenarioError]:
    for j, port in enumerate(_items(container, "ports")):
        number = port.get("hostPort")
        if not isinstance(number, int) or number <= 0:
            continue
        key = (str(port.get("protocol") or "TCP"), str(port.get("hostIP") or ""), number)
        if key in seen:
            text = f'Duplicate value: "{key[0]}/{key[1]}/{number}"'
            yield ScenarioError("E0214", text, f"{path}.ports[{j}].hostPort")
        seen.add(key)


def _taints(taints: object) -> Iterator[ScenarioError]:
    seen: set[tuple[object, object]] = set()
    for i, taint in enumerate(taints if isinstance(taints, list) else []):
        key = (taint.get("key"), taint.get("effect"))
        if key in seen:
            shown = ", ".join(f'"{name}":"{value}"' for name, value in taint.items())
            text = f"Duplicate value: {{{shown}}}: taints must be unique by key and effect pair"
            yield ScenarioError("E0214", text, f"metadata.taints[{i}]")
        seen.add(key)
