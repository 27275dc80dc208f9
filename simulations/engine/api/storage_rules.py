"""What the API server refuses of volumes, claims and classes, new or changed, and of a Pod's volumes.

Source: pkg/apis/{core,storage}/validation/validation.go, v1.36
Differs: upstream shows the difference of the specs where a claim's spec may not change; here the rule alone is named.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from simulations.engine.api.quantity import parse_quantity
from simulations.engine.kernel.errors import ScenarioError

Document = Mapping[str, Any]
_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ALONE: Final = "ReadWriteOncePod"
_VOLUME_MODES: Final = ("Block", "Filesystem")
_BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")
_VOLUME_FIELDS: Final = frozenset(
    {
        "capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName", "mountOptions", "volumeMode",
        "nodeAffinity", "volumeAttributesClassName",
    }
)  # fmt: skip
"""What a volume's spec has beside its source."""
_CLAIM_FIXED: Final = (
    "Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)


def new_storage(kind: str, document: Document) -> Iterator[ScenarioError]:
    """What is wrong with a new object of these kinds."""
    spec = _mapping(document.get("spec"))
    if kind == "Pod":
        yield from _pod_volumes(spec)
    elif kind == "PersistentVolumeClaim":
        yield from _claim(spec, "spec")
    elif kind == "PersistentVolume":
        yield from _volume(spec)
    elif kind == "StorageClass":
        yield from _class(document)
    elif kind == "VolumeAttachment":
        for field in ("attacher", "nodeName"):
            if not spec.get(field):
                yield _error("Required value", f"spec.{field}")
    elif kind == "CSIStorageCapacity" and not document.get("storageClassName"):
        yield _error("Required value", "storageClassName")


def changed_storage(kind: str, before: Document, after: Document) -> Iterator[ScenarioError]:
    """What of an object may not be changed and is."""
    old, new = _mapping(before.get("spec")), _mapping(after.get("spec"))
    if kind == "PersistentVolumeClaim" and _fixed_of_claim(old, new) != _fixed_of_claim(new, old):
        yield _error(_CLAIM_FIXED, "spec")
    elif kind == "PersistentVolume":
        yield from _changed_volume(old, new)
    elif kind == "StorageClass":
        yield from _changed_class(before, after)
    elif kind in ("VolumeAttachment", "CSIStorageCapacity"):
        for field in ("spec", "nodeTopology", "storageClassName"):
            if before.get(field) != after.get(field):
                yield _error(f"Invalid value: {_short(after.get(field))}: field is immutable", field)


def _changed_volume(old: Document, new: Document) -> Iterator[ScenarioError]:
    if {k: old[k] for k in _sources(old)} != {k: new[k] for k in _sources(new)}:
        text = "Forbidden: spec.persistentvolumesource is immutable after creation"
        yield _error(text, "spec.persistentvolumesource")
    for field in ("volumeMode", "nodeAffinity"):
        if old.get(field) is not None and old.get(field) != new.get(field):
            yield _error(f"Invalid value: {_short(new.get(field))}: field is immutable", f"spec.{field}")


def _changed_class(before: Document, after: Document) -> Iterator[ScenarioError]:
    for field in ("parameters", "provisioner", "reclaimPolicy"):
        if (before.get(field) or None) != (after.get(field) or None):
            yield _error(f"Forbidden: updates to {field} are forbidden.", field)
    if (before.get("volumeBindingMode") or "Immediate") != (after.get("volumeBindingMode") or "Immediate"):
        yield _error(f'Invalid value: "{after.get("volumeBindingMode")}": field is immutable', "volumeBindingMode")


def _fixed_of_claim(spec: Document, other: Document) -> dict[str, Any]:
    """What stays of a claim's spec; the name of its volume may be filled in once."""
    left_out = ["volumeAttributesClassName"]
    if not spec.get("volumeName") or not other.get("volumeName"):
        left_out.append("volumeName")
    else:
        left_out.append("resources")
    return {key: value for key, value in spec.items() if key not in left_out}


def _claim(spec: Document, path: str) -> Iterator[ScenarioError]:
    modes = _texts(spec.get("accessModes"))
    if not modes:
        yield _error("Required value: at least 1 access mode is required", f"{path}.accessModes")
    yield from _access_modes(modes, f"{path}.accessModes")
    amount = _mapping(_mapping(spec.get("resources")).get("requests")).get("storage")
    if amount is None:
        yield _error("Required value", f"{path}.resources[storage]")
    else:
        yield from _above_zero(amount, f"{path}.resources[storage]")
    yield from _one_of(spec.get("volumeMode"), _VOLUME_MODES, f"{path}.volumeMode")


def _volume(spec: Document) -> Iterator[ScenarioError]:
    modes, capacity = _texts(spec.get("accessModes")), _mapping(spec.get("capacity"))
    if not modes:
        yield _error("Required value", "spec.accessModes")
    yield from _access_modes(modes, "spec.accessModes")
    if not capacity:
        yield _error("Required value", "spec.capacity")
    elif list(capacity) != ["storage"]:
        yield _error(f'Unsupported value: {_short(dict(capacity))}: supported values: "storage"', "spec.capacity")
    if capacity.get("storage") is not None:
        yield from _above_zero(capacity["storage"], "spec.capacity[storage]")
    yield from _source(spec)
    yield from _one_of(
        spec.get("persistentVolumeReclaimPolicy"), ("Delete", "Recycle", "Retain"), "spec.persistentVolumeReclaimPolicy"
    )
    yield from _one_of(spec.get("volumeMode"), _VOLUME_MODES, "spec.volumeMode")


def _source(spec: Document) -> Iterator[ScenarioError]:
    """Where the volume's data is: in one place."""
    sources = _sources(spec)
    if not sources:
        yield _error("Required value: must specify a volume type", "spec")
    for name in sources[1:]:
        yield _error("Forbidden: may not specify more than 1 volume type", f"spec.{name}")
    affinity = spec.get("nodeAffinity")
    if affinity is not None and not _mapping(affinity).get("required"):
        yield _error("Required value: must specify required node constraints", "spec.nodeAffinity.required")
    if "local" in sources and affinity is None:
        yield _error("Required value: Local volume requires node affinity", "metadata.annotations")
    if "csi" in sources:
        for field in ("driver", "volumeHandle"):
            if not _mapping(spec["csi"]).get(field):
                yield _error("Required value", f"spec.csi.{field}")


def _sources(spec: Document) -> list[str]:
    return [name for name, value in spec.items() if name not in _VOLUME_FIELDS and isinstance(value, Mapping)]


def _class(document: Document) -> Iterator[ScenarioError]:
    if not document.get("provisioner"):
        yield _error("Required value", "provisioner")
    yield from _one_of(document.get("reclaimPolicy"), ("Delete", "Retain"), "reclaimPolicy")
    yield from _one_of(document.get("volumeBindingMode"), _BINDING_MODES, "volumeBindingMode")
    for i, term in enumerate(_items(document.get("allowedTopologies"))):
        for j, expression in enumerate(_items(term.get("matchLabelExpressions"))):
            path = f"allowedTopologies[{i}].matchLabelExpressions[{j}]"
            if not expression.get("values"):
                yield _error("Required value", f"{path}.values")


def _pod_volumes(spec: Document) -> Iterator[ScenarioError]:
    seen: list[str] = []
    for i, volume in enumerate(_items(spec.get("volumes"))):
        path, name = f"spec.volumes[{i}]", volume.get("name")
        if not name:
            yield _error("Required value", f"{path}.name")
        elif name in seen:
            yield _error(f'Duplicate value: "{name}"', f"{path}.name")
        seen.append(str(name))
        claim, ephemeral = volume.get("persistentVolumeClaim"), volume.get("ephemeral")
        if isinstance(claim, Mapping) and not claim.get("claimName"):
            yield _error("Required value", f"{path}.persistentVolumeClaim.claimName")
        if isinstance(ephemeral, Mapping):
            template = ephemeral.get("volumeClaimTemplate")
            if not isinstance(template, Mapping):
                yield _error("Required value", f"{path}.ephemeral.volumeClaimTemplate")
            else:
                yield from _claim(_mapping(template.get("spec")), f"{path}.ephemeral.volumeClaimTemplate.spec")


def _access_modes(modes: list[str], path: str) -> Iterator[ScenarioError]:
    for mode in modes:
        yield from _one_of(mode, _MODES, path)
    if _ALONE in modes and len(modes) > 1:
        yield _error(f"Forbidden: may not use {_ALONE} with other access modes", path)


def _above_zero(amount: object, path: str) -> Iterator[ScenarioError]:
    try:
        positive = parse_quantity(amount, path) > 0
    except ScenarioError as error:
        yield error
        return
    if not positive:
        yield _error(f'Invalid value: "{amount}": must be greater than zero', path)


def _one_of(value: object, allowed: tuple[str, ...], path: str) -> Iterator[ScenarioError]:
    if value is not None and value not in allowed:
        names = ", ".join(f'"{name}"' for name in allowed)
        yield _error(f'Unsupported value: "{value}": supported values: {names}', path)


def _error(text: str, path: str) -> ScenarioError:
    return ScenarioError("E0214", text, path)


def _mapping(value: object) -> Document:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> list[Document]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [str(text) for text in value] if isinstance(value, list) else []


def _short(value: object) -> str:
    text = str(value).replace("'", '"')
    return text if len(text) <= 120 else f"{text[:117]}..."
