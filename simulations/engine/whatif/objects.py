"""Objects of the base that a what-if changes or deletes, from the start or at a time, and objects that it adds."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import yaml

from simulations.engine.api.decode import CLUSTER_SCOPED
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.scenario.fields import Fields
from simulations.engine.scenario.objects import expand_generate
from simulations.engine.whatif.model import Change, ObjectChange
from simulations.engine.whatif.texts import WEEK, check_duration

Document = Mapping[str, Any]
MOST_FIELDS: Final = 6
"""How many fields of an object are told."""
NOTHING: Final = "<none>"


def check(wanted: Sequence[ObjectChange]) -> Iterable[ScenarioError]:
    """What is out of its limits."""
    for i, one in enumerate(wanted):
        path = f"objects[{i}]"
        kind, _, rest = one.object.partition("/")
        if not rest or rest.count("/") != (0 if kind in CLUSTER_SCOPED else 1):
            text = f"{one.object!r} is not written Kind/namespace/name, or Kind/name where there are no namespaces"
            yield ScenarioError("E0724", text, f"{path}.object")
        if bool(one.patch) == one.delete:
            yield ScenarioError("E0725", "give a patch, or delete: true", path)
        yield from check_duration(f"{path}.at", one.at, 0, WEEK)


def key_of(manifest: Document) -> str:
    """An object as `Kind/namespace/name`."""
    kind, metadata = str(manifest.get("kind")), manifest.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    namespace = () if kind in CLUSTER_SCOPED else (str(metadata.get("namespace") or "default"),)
    return "/".join((kind, *namespace, str(metadata.get("name", ""))))


def written(spec: Document, objects: Sequence[Document]) -> frozenset[str]:
    """Every object that the base writes out, as `Kind/namespace/name`: its initial ones, generated ones, and those of operations."""
    generated = expand_generate(Fields({"generate": spec.get("generate")}, "spec", []))
    created = [(o.get("createOperation") or {}).get("object") for o in spec.get("operations") or []]
    found = [*objects, *(spec.get("initial") or []), *generated, *created]
    return frozenset(key_of(item) for item in found if isinstance(item, Mapping))


def apply(spec: dict[str, Any], wanted: Sequence[ObjectChange], objects: Sequence[Document], changes: list[Change]) -> None:
    """Change the base's own text where no time is given, else patch or delete at that time.

    An object that only the snapshot has is put into the document, changed: there it takes the place of the snapshot's. One that is
    nowhere comes new, where the patch is a whole manifest.

    Raises:
        ScenarioErrors: E0724, objects are not there.
    """
    errors = []
    for i, one in enumerate(wanted):
        before = _present(spec, one.object, objects)
        done = _at_a_time(spec, one) if one.at or one.delete else _from_the_start(spec, one, objects)
        if not done:
            errors.append(ScenarioError("E0724", f"there is no {one.object} in the base", f"objects[{i}].object"))
        changes.append(_told(one, before))
    if errors:
        raise ScenarioErrors(errors)


def _told(one: ObjectChange, before: Document) -> Change:
    """What differs, field by field; of an object that is not there every field that is written."""
    if one.delete:
        return Change(one.object, "", f"deleted at {one.at or '0s'}")
    leaves = list(_leaves(before, merged(before, one.patch)))
    shown = [f"{path} {value}" for path, _own, value in leaves[:MOST_FIELDS]]
    more = [f"{len(leaves) - MOST_FIELDS} more fields"] if len(leaves) > MOST_FIELDS else []
    own = [f"{path} {value}" for path, value, _new in leaves[:MOST_FIELDS] if value != NOTHING] if before else []
    return Change(one.object, ", ".join(own), ", ".join([*shown, *more]) + (f" at {one.at}" if one.at else ""))


def _leaves(before: Any, after: Any, path: str = "") -> Iterable[tuple[str, str, str]]:
    """The fields that differ, with both values; lists of one length are compared item by item, others told whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _leaves(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (own, new) in enumerate(zip(before, after, strict=True)):
            yield from _leaves(own, new, f"{path}[{i}]")
    elif isinstance(after, Mapping) and not before:
        yield from _leaves({}, after, path) if after else ()
    elif before != after:
        yield path, _text(before), _text(after)


def _text(value: Any) -> str:
    if value is None:
        return NOTHING
    return yaml.safe_dump(value, default_flow_style=True, width=10_000).strip() if isinstance(value, list | Mapping) else str(value)


def _at_a_time(spec: dict[str, Any], one: ObjectChange) -> bool:
    """Also for what a controller will have made by then: the API server answers for what is not there."""
    kind, *namespace, name = one.object.split("/")
    target: dict[str, Any] = {"kind": kind, "name": name, **({"namespace": namespace[0]} if namespace else {})}
    operation = (
        {"deleteOperation": target} if one.delete else {"patchOperation": {**target, "patch": copy.deepcopy(dict(one.patch))}}
    )
    spec.setdefault("operations", []).append({"at": one.at or "0s", **operation})
    return True


def _from_the_start(spec: dict[str, Any], one: ObjectChange, objects: Sequence[Document]) -> bool:
    _write_out_generated(spec, one.object)
    for holder in _places(spec):
        for place, manifest in holder:
            if isinstance(manifest, Mapping) and key_of(manifest) == one.object:
                place[0][place[1]] = merged(manifest, one.patch)
                return True
    there = next((item for item in objects if key_of(item) == one.object), None)
    if there is None and not (one.patch.get("apiVersion") and one.patch.get("kind")):
        return False
    spec["initial"] = [*(spec.get("initial") or []), merged(there or {}, one.patch)]
    return True


def _present(spec: dict[str, Any], wanted: str, objects: Sequence[Document]) -> Document:
    """The object as the base has it; empty where it has none."""
    own = [manifest for holder in _places(spec) for _place, manifest in holder]
    generated = expand_generate(Fields({"generate": spec.get("generate")}, "spec", []))
    every = (item for item in (*own, *generated, *objects) if isinstance(item, Mapping))
    return next((item for item in every if key_of(item) == wanted), {})


def _places(spec: dict[str, Any]) -> Iterable[Iterable[tuple[tuple[Any, Any], Any]]]:
    """Where objects stand in the document, each with its container and key."""
    initial = spec.get("initial") or []
    yield [((initial, i), item) for i, item in enumerate(initial)]
    created = [o["createOperation"] for o in spec.get("operations") or [] if isinstance(o.get("createOperation"), dict)]
    yield [((operation, "object"), operation.get("object")) for operation in created]


def _write_out_generated(spec: dict[str, Any], wanted: str) -> None:
    """Turn `generate` into single objects, in their order, where the object is one of them."""
    if not spec.get("generate"):
        return
    generated = expand_generate(Fields({"generate": spec["generate"]}, "spec", []))
    if any(key_of(item) == wanted for item in generated):
        spec["initial"] = [*(spec.get("initial") or []), *copy.deepcopy(generated)]
        del spec["generate"]


def merged(target: Any, patch: Any) -> Any:
    """A JSON merge patch applied (RFC 7386)."""
    if not isinstance(patch, Mapping):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def difference(before: Document, after: Document) -> dict[str, Any]:
    """The merge patch that makes `after` of `before`; lists are taken whole."""
    patch: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        own = before.get(key)
        if isinstance(own, Mapping) and isinstance(value, Mapping):
            deeper = difference(own, value)
            patch |= {key: deeper} if deeper else {}
        elif own != value:
            patch[key] = copy.deepcopy(value)
    return patch
