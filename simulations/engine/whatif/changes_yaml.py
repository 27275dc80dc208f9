"""The changes as YAML, both ways: what the form shows is this document, and what is written in it fills the form.

addPods: {count: 20, cpu: "3", priority: 100000}
nodes: [{node: node-1, action: cordon, at: 10s}]
workloads: [{workload: Deployment/shop/cart, replicas: 20}]
objects: [{object: Pod/shop/cart-1, patch: {spec: {priority: 1000}}}]
asyncPreemption: false
patch: {costs: {watchDelay: 20ms}}
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final, TypeVar

import yaml

from simulations.engine.documents import load_documents
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.whatif.fields import (
    NODE_CHANGE,
    NODES,
    OBJECT_CHANGE,
    PODS,
    TOP,
    WORKLOAD_CHANGE,
    Reader,
    camel,
    integer,
    snake,
    text,
)
from simulations.engine.whatif.model import AddNodes, AddPods, NodeChange, ObjectChange, WhatIf, WorkloadChange

FILE: Final = "changes"
_OTHER: Final = ("add_pods", "add_nodes", "nodes", "workloads", "objects", "weights", "faults", "patch")
T = TypeVar("T")


def write_changes(what_if: WhatIf) -> str:
    """The changes as YAML; only what differs from nothing. Empty when nothing is changed."""
    document: dict[str, Any] = {}
    for name, table, default in (("add_pods", PODS, AddPods()), ("add_nodes", NODES, AddNodes())):
        part = getattr(what_if, name)
        if part is not None:
            keep = {"count", "at", *(("cpu",) if name == "add_pods" else ())}
            values = {camel(f): getattr(part, f) for f in table if f in keep or getattr(part, f) != getattr(default, f)}
            if name == "add_pods" and part.labels:
                values["labels"] = dict(part.labels)
            document[camel(name)] = values
    for name, empty in (("nodes", NodeChange("")), ("workloads", WorkloadChange(""))):
        items = getattr(what_if, name)
        if items:
            document[name] = [
                {camel(k): v for k, v in asdict(i).items() if v != getattr(empty, k) or k in ("at", "action")} for i in items
            ]
    if what_if.objects:
        document["objects"] = [
            {k: _plain(v) for k, v in asdict(i).items() if v or k == "object"} for i in what_if.objects
        ]  # fmt: skip
    document |= {camel(name): value for name in TOP if (value := getattr(what_if, name)) not in (None, "")}
    document |= {name: value for name in ("weights", "faults", "patch") if (value := _plain(getattr(what_if, name)))}
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100) if document else ""


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def read_changes(content: str) -> WhatIf:
    """Read the YAML.

    Raises:
        ScenarioErrors: everything that is wrong, with field and line.
    """
    if not content.strip():
        return WhatIf()
    documents = load_documents(content.encode(), FILE)
    if not documents:
        return WhatIf()
    document = documents[0]
    errors: list[ScenarioError] = []
    what_if = _Reading(errors).what_if(document.value)
    if errors:
        raise ScenarioErrors([e.located(line=document.position(e.path) if e.path else None, file=FILE) for e in errors])
    return what_if


class _Reading:
    """Reads one document; what is wrong is collected."""

    def __init__(self, errors: list[ScenarioError]) -> None:
        self.errors = errors

    def what_if(self, document: Mapping[str, Any]) -> WhatIf:
        top: dict[str, Any] = {}
        for key, value in document.items():
            name = snake(str(key))
            if name in TOP:
                self._value(name, value, TOP, top, str(key))
            elif name not in _OTHER:
                allowed = ", ".join(camel(each) for each in (*_OTHER, *TOP))
                self.errors.append(ScenarioError("E0702", f"there is no change {key!r}; there are: {allowed}", str(key)))
        of = {snake(str(key)): value for key, value in document.items()}
        found = WhatIf(**top, nodes=self._items(of, "nodes", NODE_CHANGE, NodeChange, "node"))
        return replace(
            found,
            workloads=self._items(of, "workloads", WORKLOAD_CHANGE, WorkloadChange, "workload"),
            objects=self._objects(of),
            add_pods=self._part(of, "add_pods", PODS, AddPods),
            add_nodes=self._part(of, "add_nodes", NODES, AddNodes),
            weights=self._weights(of.get("weights")),
            faults=tuple(self._mappings(of.get("faults"), "faults")),
            patch=self._mapping(of.get("patch"), "patch"),
        )

    def _value(self, name: str, value: Any, table: Mapping[str, Reader], target: dict[str, Any], path: str) -> None:
        if value is None:
            return
        try:
            target[name] = table[name](value)
        except ValueError as error:
            self.errors.append(ScenarioError("E0703", f"{str(value)[:60]!r}: {error}", path))

    def _mapping(self, value: Any, path: str) -> Mapping[str, Any]:
        if value is None or isinstance(value, Mapping):
            return value or {}
        self.errors.append(ScenarioError("E0703", "expected a mapping", path))
        return {}

    def _mappings(self, value: Any, path: str) -> list[Mapping[str, Any]]:
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
            self.errors.append(ScenarioError("E0703", "expected a list of mappings", path))
            return []
        return value

    def _fields(self, document: Mapping[str, Any], table: Mapping[str, Reader], path: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in document.items():
            name = snake(str(key))
            if name in table:
                self._value(name, value, table, values, f"{path}.{key}")
            else:
                allowed = ", ".join(camel(each) for each in table)
                self.errors.append(ScenarioError("E0702", f"there is no field {key!r}; there are: {allowed}", f"{path}.{key}"))
        return values

    def _part(self, of: Mapping[str, Any], name: str, table: Mapping[str, Reader], make: Callable[..., T]) -> T | None:
        if of.get(name) is None:
            return None
        document = dict(self._mapping(of[name], camel(name)))
        labels = self._mapping(document.pop("labels", None), f"{camel(name)}.labels") if name == "add_pods" else {}
        values = self._fields(document, table, camel(name))
        return make(**values, **({"labels": {str(k): str(v) for k, v in labels.items()}} if labels else {}))

    def _items(
        self, of: Mapping[str, Any], name: str, table: Mapping[str, Reader], make: Callable[..., T], needed: str
    ) -> tuple[T, ...]:
        found = []
        for i, item in enumerate(self._mappings(of.get(name), name)):
            values = self._fields(item, table, f"{name}[{i}]")
            if values.get(needed):
                found.append(make(**values))
            else:
                self.errors.append(ScenarioError("E0703", "Required value", f"{name}[{i}].{needed}"))
        return tuple(found)

    def _objects(self, of: Mapping[str, Any]) -> tuple[ObjectChange, ...]:
        items = self._mappings(of.get("objects"), "objects")
        patches = [self._mapping(item.get("patch"), f"objects[{i}].patch") for i, item in enumerate(items)]
        plain = {**of, "objects": [{k: v for k, v in item.items() if k != "patch"} for item in items]}
        errors = len(self.errors)
        found = self._items(plain, "objects", OBJECT_CHANGE, ObjectChange, "object")
        return found if len(self.errors) > errors else tuple(replace(o, patch=p) for o, p in zip(found, patches, strict=True))

    def _weights(self, value: Any) -> dict[str, int]:
        found: dict[str, Any] = {}
        for key, weight in self._mapping(value, "weights").items():
            self._value(text(key), weight, {text(key): integer}, found, f"weights.{key}")
        return found
