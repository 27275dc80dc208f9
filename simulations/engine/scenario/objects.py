"""The initial objects of a scenario: checked one by one, and generated in numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulations.engine.api.decode import CLUSTER_SCOPED, decode_object
from simulations.engine.api.validation import validate
from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.scenario.fields import Fields
from simulations.engine.scenario.model import DEFAULT_EPOCH

MAX_GENERATED = 1_000_000


def check_objects(fields: Fields, items: Sequence[Any]) -> None:
    """Note what is wrong with manifests, and names that are taken twice. Objects that share a spec are checked once."""
    seen: dict[tuple[str, str, str], int] = {}
    known: set[tuple[int, int]] = set()
    for i, item in enumerate(items):
        path = fields.at(f"initial[{i}]")
        if not isinstance(item, Mapping):
            fields.findings.append(ScenarioError("E0302", "expected a Kubernetes object", path))
            continue
        metadata = item.get("metadata")
        alike = (id(item.get("spec")), id(metadata.get("labels")) if isinstance(metadata, Mapping) else 0)
        if item.get("kind") != "Pod" or alike not in known or not item.get("spec"):
            known.add(alike)
            _check(fields, item, path)
        if isinstance(metadata, Mapping):
            _once(fields, item, metadata, seen, path)


def check_shape(fields: Fields, item: Any, path: str) -> bool:
    """Note what keeps an object from being sent at all; what the API server thinks of the rest it says in the run."""
    if not isinstance(item, Mapping):
        fields.findings.append(ScenarioError("E0302", "expected a Kubernetes object", path))
        return False
    before = len(fields.findings)
    metadata = item.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    stand_in = {"apiVersion": item.get("apiVersion"), "kind": item.get("kind"), "metadata": {"name": "x"}}
    fields.attempt(lambda: decode_object(stand_in, epoch=DEFAULT_EPOCH, path=path), None)
    names = [name for name in (metadata.get("name"), metadata.get("generateName")) if name is not None]
    if not names or not all(isinstance(name, str) and name for name in names):
        text = "Required value: name or generateName is required"
        fields.findings.append(ScenarioError("E0203", text, f"{path}.metadata.name"))
    if item.get("spec") is not None and not isinstance(item["spec"], Mapping):
        fields.findings.append(ScenarioError("E0213", "expected a mapping", f"{path}.spec"))
    return len(fields.findings) == before


def _check(fields: Fields, item: Mapping[str, Any], path: str) -> None:
    try:
        decode_object(item, epoch=DEFAULT_EPOCH)
    except ScenarioError as error:
        fields.findings.append(error.located(prefix=path))
        return
    fields.findings.extend(e.located(prefix=path) for e in validate(item))


def _once(
    fields: Fields, item: Mapping[str, Any], metadata: Mapping[str, Any], seen: dict[tuple[str, str, str], int], path: str
) -> None:
    kind = str(item.get("kind"))
    namespace = "" if kind in CLUSTER_SCOPED else str(metadata.get("namespace") or "default")
    key = (kind, namespace, str(metadata.get("name")))
    if key in seen:
        text = f'{kind} "{key[2]}" is there twice; the first is initial[{seen[key]}]'
        fields.findings.append(ScenarioError("E0210", text, f"{path}.metadata.name"))
    seen[key] = len(seen)


def expand_generate(spec: Fields) -> list[dict[str, Any]]:
    """The objects of `generate`: `count` copies of an object named `namePrefix` plus a number; copies share spec and labels."""
    found: list[dict[str, Any]] = []
    for i, item in enumerate(spec.items("generate")):
        fields = Fields(item, f"{spec.path}.generate[{i}]", spec.findings)
        fields.only(("count", "namePrefix", "object"))
        count = fields.integer("count", 0, 1, MAX_GENERATED)
        prefix = fields.text("namePrefix")
        manifest = fields.value.get("object")
        if not prefix:
            fields.wrong("namePrefix", "E0302", "Required value")
        if not isinstance(manifest, Mapping):
            fields.wrong("object", "E0302", "expected a Kubernetes object")
            continue
        metadata = manifest.get("metadata") if isinstance(manifest.get("metadata"), Mapping) else {}
        found.extend({**manifest, "metadata": {**(metadata or {}), "name": f"{prefix}{n}"}} for n in range(count))
    return found
