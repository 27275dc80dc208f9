"""From manifests to the objects of `storage`. Decoders get what all objects have (`common`) ready."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from simulations.engine.api.pod_spec import parse_node_affinity
from simulations.engine.api.quantity import parse_quantity
from simulations.engine.api.scheduling import NodeAffinity
from simulations.engine.api.selectors import parse_selector
from simulations.engine.api.storage import (
    CLASS_ANNOTATION,
    IMMEDIATE,
    ClaimRef,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    NodeDriver,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    StorageObject,
    VolumeAttachment,
)
from simulations.engine.kernel.errors import ScenarioError

Document = Mapping[str, Any]
Common = dict[str, Any]
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def _volume(document: Document, common: Common) -> PersistentVolume:
    spec = _mapping(document, "spec")
    ref, csi = spec.get("claimRef"), spec.get("csi")
    return PersistentVolume(
        **common,
        capacity=_amount(_mapping(spec, "capacity"), "storage", "spec.capacity[storage]") or 0,
        access_modes=_texts(spec, "accessModes"),
        storage_class=_class_of(spec, common),
        volume_mode=str(spec.get("volumeMode") or "Filesystem"),
        reclaim_policy=str(spec.get("persistentVolumeReclaimPolicy") or "Retain"),
        claim_ref=_claim_ref(ref) if ref else None,
        node_affinity=_node_affinity(_mapping(spec, "nodeAffinity").get("required")),
        attributes_class=str(spec.get("volumeAttributesClassName") or ""),
        csi=(str(csi.get("driver") or ""), str(csi.get("volumeHandle") or "")) if isinstance(csi, Mapping) else None,
    )


def _claim(document: Document, common: Common) -> PersistentVolumeClaim:
    spec = _mapping(document, "spec")
    requests = _mapping(_mapping(spec, "resources"), "requests")
    return PersistentVolumeClaim(
        **common,
        request=_amount(requests, "storage", "spec.resources.requests[storage]"),
        access_modes=_texts(spec, "accessModes"),
        storage_class=_class_of(spec, common),
        volume_mode=str(spec.get("volumeMode") or "Filesystem"),
        volume_name=str(spec.get("volumeName") or ""),
        selector=parse_selector(spec.get("selector"), "spec.selector"),
        attributes_class=str(spec.get("volumeAttributesClassName") or ""),
    )


def _class(document: Document, common: Common) -> StorageClass:
    terms = [_items(term, "matchLabelExpressions") for term in _items(document, "allowedTopologies")]
    return StorageClass(
        **common,
        provisioner=str(document.get("provisioner") or ""),
        binding_mode=str(document.get("volumeBindingMode") or IMMEDIATE),
        reclaim_policy=str(document.get("reclaimPolicy") or "Delete"),
        allowed_topologies=tuple(tuple((str(e.get("key") or ""), _texts(e, "values")) for e in term) for term in terms),
    )


def _csi_node(document: Document, common: Common) -> CSINode:
    drivers = {}
    for item in _items(_mapping(document, "spec"), "drivers"):
        count = _mapping(item, "allocatable").get("count")
        drivers[str(item.get("name") or "")] = NodeDriver(count if isinstance(count, int) else None, _texts(item, "topologyKeys"))
    return CSINode(**common, drivers=drivers)


def _csi_driver(document: Document, common: Common) -> CSIDriver:
    return CSIDriver(**common, storage_capacity=bool(_mapping(document, "spec").get("storageCapacity")))


def _capacity(document: Document, common: Common) -> CSIStorageCapacity:
    largest = _amount(document, "maximumVolumeSize", "maximumVolumeSize")
    return CSIStorageCapacity(
        **common,
        storage_class=str(document.get("storageClassName") or ""),
        topology=parse_selector(document.get("nodeTopology"), "nodeTopology"),
        limit=_amount(document, "capacity", "capacity") if largest is None else largest,
    )


def _attachment(document: Document, common: Common) -> VolumeAttachment:
    spec = _mapping(document, "spec")
    return VolumeAttachment(
        **common,
        attacher=str(spec.get("attacher") or ""),
        node_name=str(spec.get("nodeName") or ""),
        volume_name=str(_mapping(spec, "source").get("persistentVolumeName") or ""),
    )


DECODERS: Final[dict[str, Callable[[Document, Common], StorageObject]]] = {
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "StorageClass": _class,
    "CSINode": _csi_node,
    "CSIDriver": _csi_driver,
    "CSIStorageCapacity": _capacity,
    "VolumeAttachment": _attachment,
}


def _class_of(spec: Document, common: Common) -> str:
    """The class of a volume or claim; the old annotation comes first."""
    named: str | None = common["annotations"].get(CLASS_ANNOTATION)
    return str(spec.get("storageClassName") or "") if named is None else named


def _claim_ref(ref: Document) -> ClaimRef:
    return ClaimRef(str(ref.get("namespace") or ""), str(ref.get("name") or ""), str(ref.get("uid") or ""))


def _node_affinity(required: object) -> NodeAffinity | None:
    if required is None:
        return None
    try:
        return parse_node_affinity({_REQUIRED: required}, "")
    except ScenarioError as error:
        path = error.path.partition(_REQUIRED)[2]
        raise ScenarioError(error.code, error.message, f"spec.nodeAffinity.required{path}") from None


def _amount(amounts: Document, name: str, path: str) -> int | None:
    value = amounts.get(name)
    return None if value is None else parse_quantity(value, path)


def _mapping(document: Document, name: str) -> Document:
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def _items(document: Document, name: str) -> Iterable[Document]:
    value = document.get(name)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _texts(document: Document, name: str) -> tuple[str, ...]:
    value = document.get(name)
    return tuple(str(text) for text in value) if isinstance(value, list) else ()
