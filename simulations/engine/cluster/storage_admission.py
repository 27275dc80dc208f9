"""What admission adds to a new claim: the default class.

Differs: the finalizers that keep volumes and claims in use from being deleted are not added.

Source: plugin/pkg/admission/storage/storageclass/setdefault; pkg/volume/util/storageclass.go, v1.36
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simulations.engine.api.storage import CLASS_ANNOTATION, PersistentVolumeClaim, StorageClass

if TYPE_CHECKING:
    from simulations.engine.cluster.api_server import ApiServer


def default_class(api: "ApiServer") -> StorageClass | None:
    """The class of claims that name none: of several the newest, then the first by name."""
    found = [item for item in api.list("StorageClass") if item.default]
    return min(found, key=lambda item: (-item.created, item.name)) if found else None


def names_no_class(claim: PersistentVolumeClaim) -> bool:
    """Whether a claim leaves its class open; an empty class is a choice."""
    return _names_no_class(claim.raw)


def with_default_class(api: "ApiServer", document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A new claim as it is stored."""
    found = default_class(api) if _names_no_class(document) else None
    if found is None:
        return document
    return {**document, "spec": {**(document.get("spec") or {}), "storageClassName": found.name}}


def _names_no_class(document: Mapping[str, Any]) -> bool:
    annotations = (document.get("metadata") or {}).get("annotations") or {}
    return (document.get("spec") or {}).get("storageClassName") is None and CLASS_ANNOTATION not in annotations
