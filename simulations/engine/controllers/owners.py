"""Owner references: read, and written as a manifest has them."""

from typing import Any, Final

from simulations.engine.api.pod import OwnerReference
from simulations.engine.api.workloads import ApiObject

Document = dict[str, Any]
API_GROUP: Final = {"Job": "batch/v1", "ReplicationController": "v1"}


def owner_reference(item: ApiObject, kind: str) -> Document:
    """The reference of what an object manages."""
    return {"apiVersion": API_GROUP.get(kind, "apps/v1"), "kind": kind, "name": item.name, "uid": item.uid, "controller": True}


def reference(owner: OwnerReference) -> Document:
    """An owner reference as a manifest writes it."""
    found = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
    return {**found, "controller": True} if owner.controller else found


def controller_of(item: ApiObject) -> OwnerReference | None:
    """The managing owner of an object, if any."""
    return next((owner for owner in item.owners if owner.controller), None)
