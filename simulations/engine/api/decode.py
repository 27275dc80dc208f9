"""From manifests to typed objects, and back.

Times are read against `epoch`, the instant that T+0 is called (spec.startTime of the scenario).
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from simulations.engine.api import shapes, storage_decode
from simulations.engine.api.labels import intern_labels
from simulations.engine.api.node import Node
from simulations.engine.api.pod import NO_DETAILS, Condition, ContainerStatus, OwnerReference, Pod, StatusDetails
from simulations.engine.api.pod_spec import intern_pod_spec
from simulations.engine.api.quantity import parse_quantity, resource_value
from simulations.engine.api.scheduling import Taint
from simulations.engine.api.selectors import LabelSelector, Requirement, parse_selector
from simulations.engine.api.workloads import (
    ApiObject,
    DaemonSet,
    Deployment,
    Job,
    LimitRange,
    Namespace,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    RuntimeClass,
    Service,
    StatefulSet,
    Workload,
)
from simulations.engine.kernel.clock import SECOND, SimTime
from simulations.engine.kernel.errors import ScenarioError

AnyObject = Pod | Node | ApiObject
Document = Mapping[str, Any]

API_VERSIONS: Final = {
    "Pod": "v1",
    "Node": "v1",
    "Namespace": "v1",
    "Service": "v1",
    "ReplicationController": "v1",
    "PersistentVolume": "v1",
    "PersistentVolumeClaim": "v1",
    "StorageClass": "storage.k8s.io/v1",
    "CSINode": "storage.k8s.io/v1",
    "CSIDriver": "storage.k8s.io/v1",
    "CSIStorageCapacity": "storage.k8s.io/v1",
    "VolumeAttachment": "storage.k8s.io/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "PodDisruptionBudget": "policy/v1",
    "ReplicaSet": "apps/v1",
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "ResourceQuota": "v1",
    "LimitRange": "v1",
    "RuntimeClass": "node.k8s.io/v1",
}
"""The kinds that are read, with the apiVersion that they are written in."""

CLUSTER_SCOPED: Final = frozenset(
    {"Node", "Namespace", "PriorityClass", "RuntimeClass"}
    | {"PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment"}
)


def decode_object(document: Document, *, epoch: datetime, path: str = "") -> AnyObject:
    """Return the typed object for a manifest.

    Raises:
        ScenarioError: E0201 to E0213 with the field; `path` is put in front of it.
    """
    try:
        return _decode(document, epoch)
    except ScenarioError as error:
        raise error.located(prefix=path) from None


def _decode(document: Document, epoch: datetime) -> AnyObject:
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in API_VERSIONS:
        raise ScenarioError("E0201", f"{kind!r} is not a kind that is read ({', '.join(sorted(API_VERSIONS))})", "kind")
    version = document.get("apiVersion")
    if version != API_VERSIONS[kind]:
        raise ScenarioError("E0202", f"{kind} is read as {API_VERSIONS[kind]}, not {version!r}", "apiVersion")
    wrong = shapes.misshapen(document)
    if wrong is not None:
        raise wrong
    metadata = _mapping(document, "metadata")
    if not isinstance(metadata.get("name"), str) or not metadata["name"]:
        raise ScenarioError("E0203", "Required value: name or generateName is required", "metadata.name")
    if kind == "Pod":
        return decode_pod(document, epoch)
    if kind == "Node":
        return decode_node(document, epoch)
    common = _common(document, kind, epoch)
    return _budget(document, common, epoch) if kind == "PodDisruptionBudget" else _DECODERS[kind](document, common)


def parse_time(value: object, epoch: datetime, path: str) -> SimTime | None:
    """Read an RFC 3339 time as ns since the epoch; None stays None.

    Raises:
        ScenarioError: E0211.
    """
    if value is None:
        return None
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise ScenarioError("E0211", f'"{value}" is not a time such as 2026-01-01T00:00:00Z', path) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    gap = moment - epoch
    return (gap.days * 86_400 + gap.seconds) * SECOND + gap.microseconds * 1000


def _mapping(document: Document, field: str) -> Mapping[str, Any]:
    value = document.get(field)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ScenarioError("E0213", "expected a mapping", field)
    return value


def _texts(metadata: Document, field: str) -> dict[str, str]:
    value = metadata.get(field)
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(k, str) and isinstance(v, str) for k, v in value.items()):
        raise ScenarioError("E0205", "keys and values must be text (put numbers and booleans in quotes)", f"metadata.{field}")
    return dict(value)


def _owners(metadata: Document) -> tuple[OwnerReference, ...]:
    owners = metadata.get("ownerReferences") or []
    if not isinstance(owners, list) or not all(isinstance(o, Mapping) for o in owners):
        raise ScenarioError("E0213", "expected a list of mappings", "metadata.ownerReferences")
    return tuple(
        OwnerReference(
            str(o.get("kind") or ""),
            str(o.get("name") or ""),
            str(o.get("uid") or ""),
            bool(o.get("controller")),
            str(o.get("apiVersion") or ""),
        )
        for o in owners
    )


def _conditions(status: Document, epoch: datetime) -> tuple[Condition, ...]:
    conditions = status.get("conditions") or []
    if not isinstance(conditions, list) or not all(isinstance(c, Mapping) for c in conditions):
        raise ScenarioError("E0213", "expected a list of mappings", "status.conditions")
    return tuple(
        Condition(
            str(c.get("type") or ""),
            str(c.get("status") or "Unknown"),
            str(c.get("reason") or ""),
            str(c.get("message") or ""),
            since=parse_time(c.get("lastTransitionTime"), epoch, f"status.conditions[{i}].lastTransitionTime"),
        )
        for i, c in enumerate(conditions)
    )


_DETAILS: Final = ("reason", "qosClass", "containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")


def _details(status: Document) -> StatusDetails:
    raw = {name: status[name] for name in _DETAILS if status.get(name)}
    if not raw:
        return NO_DETAILS
    regular, init, ephemeral = (tuple(_container(c) for c in raw.get(name) or ()) for name in _DETAILS[2:])
    return StatusDetails(str(raw.get("reason") or ""), str(raw.get("qosClass") or ""), regular, init, ephemeral, raw)


def _container(status: Document) -> ContainerStatus:
    state = status.get("state") or {}
    waiting, terminated = state.get("waiting") or {}, state.get("terminated")
    return ContainerStatus(
        str(status.get("name") or ""),
        status.get("restartCount") or 0,
        str(waiting.get("reason") or ""),
        str((terminated or {}).get("reason") or ""),
        None if terminated is None else terminated.get("exitCode") or 0,
    )


def decode_pod(document: Document, epoch: datetime) -> Pod:
    """Read a Pod with its status as it stands in the manifest.

    Raises:
        ScenarioError: with the field.
    """
    metadata, status = _mapping(document, "metadata"), _mapping(document, "status")
    namespace = str(metadata.get("namespace") or "default")
    labels = intern_labels(_texts(metadata, "labels"))
    spec_document = _mapping(document, "spec")
    pod = Pod(namespace, metadata["name"], intern_pod_spec(spec_document, namespace, labels), labels=labels)
    pod.uid = str(metadata.get("uid") or "")
    pod.annotations = _texts(metadata, "annotations")
    pod.owners = _owners(metadata)
    pod.finalizers = tuple(str(f) for f in metadata.get("finalizers") or [])
    pod.created = parse_time(metadata.get("creationTimestamp"), epoch, "metadata.creationTimestamp") or 0
    pod.deletion_time = parse_time(metadata.get("deletionTimestamp"), epoch, "metadata.deletionTimestamp")
    pod.deletion_grace = metadata.get("deletionGracePeriodSeconds")
    pod.node_name = str(spec_document.get("nodeName") or "")
    pod.nominated_node_name = str(status.get("nominatedNodeName") or "")
    pod.phase = str(status.get("phase") or "Pending")
    pod.conditions = _conditions(status, epoch)
    pod.details = _details(status)
    pod.start_time = parse_time(status.get("startTime"), epoch, "status.startTime")
    return pod


def _allocatable(status: Document) -> dict[str, int]:
    amounts = status.get("allocatable") or status.get("capacity") or {}
    if not isinstance(amounts, Mapping):
        raise ScenarioError("E0213", "expected a mapping from resource to quantity", "status.allocatable")
    values = {}
    for resource, value in amounts.items():
        path = f"status.allocatable[{resource}]"
        nanos = parse_quantity(value, path)
        if nanos < 0:
            raise ScenarioError("E0207", f'Invalid value: "{value}": must be greater than or equal to 0', path)
        values[str(resource)] = resource_value(str(resource), nanos)
    return values


def decode_taints(items: object, path: str = "spec.taints") -> tuple[Taint, ...]:
    """Read a Node's taints.

    Raises:
        ScenarioError: E0213.
    """
    if items is None:
        return ()
    if not isinstance(items, list) or not all(isinstance(t, Mapping) for t in items):
        raise ScenarioError("E0213", "expected a list of mappings", path)
    return tuple(Taint(str(t.get("key") or ""), str(t.get("value") or ""), str(t.get("effect") or "")) for t in items)


def _images(status: Document) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for image in status.get("images") or []:
        if isinstance(image, Mapping):
            for name in image.get("names") or []:
                sizes[str(name)] = int(image.get("sizeBytes") or 0)
    return sizes


def decode_node(document: Document, epoch: datetime) -> Node:
    """Read a Node; allocatable is the capacity where it is missing.

    Raises:
        ScenarioError: with the field.
    """
    metadata, spec, status = (_mapping(document, f) for f in ("metadata", "spec", "status"))
    node = Node(metadata["name"], _allocatable(status), labels=intern_labels(_texts(metadata, "labels")))
    node.uid = str(metadata.get("uid") or "")
    node.annotations = _texts(metadata, "annotations")
    node.taints = decode_taints(spec.get("taints"))
    node.unschedulable = bool(spec.get("unschedulable"))
    node.conditions = _conditions(status, epoch)
    node.images = _images(status)
    node.raw_status = dict(status)
    node.created = parse_time(metadata.get("creationTimestamp"), epoch, "metadata.creationTimestamp") or 0
    return node


def _common(document: Document, kind: str, epoch: datetime) -> dict[str, Any]:
    metadata = _mapping(document, "metadata")
    return {
        "name": metadata["name"],
        "namespace": "" if kind in CLUSTER_SCOPED else str(metadata.get("namespace") or "default"),
        "uid": str(metadata.get("uid") or ""),
        "labels": intern_labels(_texts(metadata, "labels")),
        "annotations": _texts(metadata, "annotations"),
        "owners": _owners(metadata),
        "finalizers": tuple(str(f) for f in metadata.get("finalizers") or []),
        "deletion_time": parse_time(metadata.get("deletionTimestamp"), epoch, "metadata.deletionTimestamp"),
        "created": parse_time(metadata.get("creationTimestamp"), epoch, "metadata.creationTimestamp") or 0,
        "raw": dict(document),
    }


def _integer(document: Document, field: str, default: int, path: str) -> int:
    value = document.get(field)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise ScenarioError("E0213", f"{value!r} is not an integer", path)
    return value


def _priority_class(document: Document, common: dict[str, Any]) -> PriorityClass:
    return PriorityClass(
        **common,
        value=_integer(document, "value", 0, "value"),
        global_default=bool(document.get("globalDefault")),
        preemption_policy=str(document.get("preemptionPolicy") or "PreemptLowerPriority"),
    )


def _budget(document: Document, common: dict[str, Any], epoch: datetime) -> PodDisruptionBudget:
    spec, status = _mapping(document, "spec"), _mapping(document, "status")
    generation = _integer(_mapping(document, "metadata"), "generation", 1, "metadata.generation")
    known = any(value is not None for value in status.values())
    return PodDisruptionBudget(
        **common,
        selector=parse_selector(spec.get("selector"), "spec.selector"),
        min_available=spec.get("minAvailable"),
        max_unavailable=spec.get("maxUnavailable"),
        unhealthy_pod_eviction_policy=str(spec.get("unhealthyPodEvictionPolicy") or ""),
        generation=generation,
        observed_generation=_integer(status, "observedGeneration", generation if known else 0, "status.observedGeneration"),
        disruptions_allowed=_integer(status, "disruptionsAllowed", 0, "status.disruptionsAllowed") if known else None,
        current_healthy=_integer(status, "currentHealthy", 0, "status.currentHealthy"),
        desired_healthy=_integer(status, "desiredHealthy", 0, "status.desiredHealthy"),
        expected_pods=_integer(status, "expectedPods", 0, "status.expectedPods"),
        disrupted_pods={
            str(name): parse_time(when, epoch, f"status.disruptedPods[{name}]") or 0
            for name, when in sorted(_mapping(status, "disruptedPods").items())
        },
        conditions=_conditions(status, epoch),
    )


def _workload(cls: type[Workload]) -> Callable[[Document, dict[str, Any]], ApiObject]:
    def decode(document: Document, common: dict[str, Any]) -> ApiObject:
        spec = _mapping(document, "spec")
        if cls is ReplicationController:
            selector: LabelSelector | None = _equality_selector(spec.get("selector"))
        else:
            selector = parse_selector(spec.get("selector"), "spec.selector")
        template = spec.get("template") or {}
        if not isinstance(template, Mapping):
            raise ScenarioError("E0213", "expected a mapping", "spec.template")
        number = "parallelism" if cls is Job else "replicas"
        return cls(
            **common,
            replicas=_integer(spec, number, 1, f"spec.{number}"),
            selector=selector,
            template=dict(template),
        )

    return decode


def _equality_selector(values: object) -> LabelSelector | None:
    if not values:
        return None
    if not isinstance(values, Mapping):
        raise ScenarioError("E0209", "a selector is a mapping from key to value here", "spec.selector")
    return LabelSelector(tuple(Requirement(str(k), "In", (str(v),)) for k, v in values.items()))


def _service(document: Document, common: dict[str, Any]) -> Service:
    return Service(**common, selector=_equality_selector(_mapping(document, "spec").get("selector")))


def _quota(document: Document, common: dict[str, Any]) -> ResourceQuota:
    spec = _mapping(document, "spec")
    scopes = [{"scopeName": name} for name in spec.get("scopes") or []]
    scopes += [dict(item) for item in _mapping(spec, "scopeSelector").get("matchExpressions") or [] if isinstance(item, Mapping)]
    hard = {str(k): parse_quantity(v, f"spec.hard[{k}]") for k, v in _mapping(spec, "hard").items()}
    return ResourceQuota(**common, hard=hard, scopes=tuple(scopes))


def _limit_range(document: Document, common: dict[str, Any]) -> LimitRange:
    items = _mapping(document, "spec").get("limits") or []
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise ScenarioError("E0213", "expected a list of mappings", "spec.limits")
    containers, pods = (tuple(dict(item) for item in items if item.get("type") == kind) for kind in ("Container", "Pod"))
    return LimitRange(**common, containers=containers, pods=pods)


def _runtime_class(document: Document, common: dict[str, Any]) -> RuntimeClass:
    scheduling = _mapping(document, "scheduling")
    return RuntimeClass(
        **common,
        overhead=dict(_mapping(_mapping(document, "overhead"), "podFixed")),
        node_selector=_texts(scheduling, "nodeSelector"),
        tolerations=tuple(dict(item) for item in scheduling.get("tolerations") or [] if isinstance(item, Mapping)),
    )


def _namespace(_document: Document, common: dict[str, Any]) -> Namespace:
    labels = {**common["labels"], "kubernetes.io/metadata.name": common["name"]}
    return Namespace(**{**common, "labels": intern_labels(labels)})


_DECODERS: Final[dict[str, Callable[[Document, dict[str, Any]], ApiObject]]] = {
    "PriorityClass": _priority_class,
    "Service": _service,
    "Namespace": _namespace,
    **{cls.kind: _workload(cls) for cls in (ReplicaSet, ReplicationController, Deployment, StatefulSet, DaemonSet, Job)},
    "ResourceQuota": _quota,
    "LimitRange": _limit_range,
    "RuntimeClass": _runtime_class,
    **storage_decode.DECODERS,
}
