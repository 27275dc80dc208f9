"""What is read, but will not behave as it did in the cluster; said once per reason on the receipt."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulations.engine.documents import Document
from simulations.importers.receipt import Receipt

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
    missing = [claim for claim in _claims(spec) if claim not in names.get("PersistentVolumeClaim", ())]
    if missing:
        text = f"its claim {missing[0]} is not in the input: it stays where it is; a pod like it does not schedule"
        warn("W0203", text, "spec.volumes")
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


def _claims(spec: Mapping[str, Any]) -> list[str]:
    """The names of the claims that a Pod's volumes name."""
    sources = (volume.get("persistentVolumeClaim") for volume in spec.get("volumes") or () if isinstance(volume, Mapping))
    return [str(source.get("claimName")) for source in sources if isinstance(source, Mapping)]
