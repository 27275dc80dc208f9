"""What is read, but will not behave as it did in the cluster; said once per reason on the receipt."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulations.engine.documents import Document
from simulations.importers.receipt import Receipt

# Volumes of these kinds are part of the pod or the node and bind it to nothing.
_HARMLESS_VOLUMES = frozenset({"name", "configMap", "secret", "emptyDir", "projected", "downwardAPI", "hostPath", "image", "nfs"})
DEFAULT_SCHEDULER = "default-scheduler"
_SYSTEM_CLASSES = frozenset({"system-cluster-critical", "system-node-critical"})


def note_reservations(documents: Sequence[Document], receipt: Receipt) -> None:
    """Note on the receipt what holds for objects that are otherwise fine."""
    names: dict[str, set[str]] = {}
    for document in documents:
        names.setdefault(document.value["kind"], set()).add(document.value["metadata"]["name"])
    if not names.get("Node"):
        message = "the input has no Node: the cluster is empty and every pod without a node stays Pending"
        file = documents[0].file if documents else ""
        receipt.warn("W0201", message, "", file, documents[0].line if documents else 1)
    for document in documents:
        if document.value["kind"] == "Pod":
            _note_pod(document, names, receipt)


def _note_pod(document: Document, names: Mapping[str, set[str]], receipt: Receipt) -> None:
    value = document.value
    metadata, spec = value["metadata"], value.get("spec") or {}
    name = f"{metadata.get('namespace') or 'default'}/{metadata['name']}"

    def warn(code: str, message: str, path: str) -> None:
        receipt.warn(code, message, name, document.file, document.position(path))

    node = spec.get("nodeName")
    if node and names.get("Node") and node not in names["Node"]:
        warn("W0202", "bound to a node that the input does not have: kept as it is, takes room on no node", "spec.nodeName")
    if any(_is_modelled_elsewhere(volume) for volume in spec.get("volumes") or ()):
        warn("W0203", "volumes are not modelled: the pod is scheduled as if it had none", "spec.volumes")
    scheduler = spec.get("schedulerName") or DEFAULT_SCHEDULER
    if not node and scheduler != DEFAULT_SCHEDULER:
        warn(
            "W0207",
            f"waits for the scheduler {scheduler}: stays Pending unless the scenario has such a profile",
            "spec.schedulerName",
        )
    class_name = spec.get("priorityClassName")
    if class_name and class_name not in names.get("PriorityClass", ()) and class_name not in _SYSTEM_CLASSES:
        warn("W0204", "its PriorityClass is not in the input: the priority that the pod carries counts", "spec.priorityClassName")
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("controller") and owner.get("kind") == "ReplicaSet" and owner.get("name") not in names.get("ReplicaSet", ()):
            warn("W0205", "its ReplicaSet is not in the input: the pod stays, but is not replaced", "metadata.ownerReferences")
    if spec.get("resourceClaims"):
        warn("W0206", "dynamic resources are not modelled: the pod is scheduled as if it had none", "spec.resourceClaims")


def _is_modelled_elsewhere(volume: Any) -> bool:
    return isinstance(volume, Mapping) and not _HARMLESS_VOLUMES.issuperset(volume)
