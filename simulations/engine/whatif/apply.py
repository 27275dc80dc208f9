"""From a base and changes to a new scenario document."""

import copy
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.whatif import nodes, pods, run_settings, workloads
from simulations.engine.whatif import objects as manifests
from simulations.engine.whatif.model import Change, Changed, WhatIf
from simulations.engine.whatif.texts import when

DEFAULT_DURATION: Final = "60s"
Document = Mapping[str, Any]


def import_document(name: str, start_time: str) -> dict[str, Any]:
    """Return the scenario document of an imported cluster; its objects are put in front of `spec.initial` later.

    Args:
        name: what the cluster is called.
        start_time: what T+0 is called, RFC 3339.
    """
    return {
        "apiVersion": "schedscope/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:240] or "imported"},
        "spec": {
            "description": f"The cluster {name} as it was imported.",
            "startTime": start_time,
            "seed": 1,
            "duration": DEFAULT_DURATION,
            "initial": [],
        },
    }


def compose(document: Document, objects: Sequence[Document]) -> dict[str, Any]:
    """Return the document with the objects in front of its own initial objects, of which some stand in for one of the objects."""
    whole = dict(document)
    spec = dict(whole.get("spec") or {})
    initial = list(spec.get("initial") or [])
    stand_ins = {manifests.key_of(item): item for item in initial if isinstance(item, Mapping)}
    present = [stand_ins.get(manifests.key_of(item), item) for item in objects] if stand_ins else list(objects)
    taken = {id(item) for item in present}
    spec["initial"] = [*present, *(item for item in initial if id(item) not in taken)]
    whole["spec"] = spec
    return whole


def present_objects(document: Document, objects: Sequence[Document]) -> list[Document]:
    """The objects that the base starts with; of generated ones the first of each kind, under its name."""
    spec = document.get("spec") or {}
    generated = []
    for entry in spec.get("generate") or []:
        manifest = entry.get("object") or {}
        metadata = {**(manifest.get("metadata") or {}), "name": f"{entry.get('namePrefix', '')}0"}
        generated.append({**manifest, "metadata": metadata})
    return [*objects, *(spec.get("initial") or []), *generated]


def apply_what_if(document: Document, what_if: WhatIf, objects: Sequence[Document] = ()) -> Changed:
    """Return a copy of the document with the changes in it.

    Args:
        document: a scenario document.
        what_if: the changes.
        objects: initial objects that the document leaves out (those of its snapshot); only looked at.

    Raises:
        ScenarioErrors: all values that are out of their limits, or else everything that the base lacks, with the path of the field.
    """
    errors = list(_check(what_if))
    if errors:
        raise ScenarioErrors(errors)
    changed = copy.deepcopy(dict(document))
    spec = changed["spec"] = {key: value for key, value in (changed.get("spec") or {}).items() if value is not None}
    present = present_objects(changed, objects)
    changes: list[Change] = []
    run_settings.apply(spec, what_if, changes)
    steps: list[Callable[[Sequence[Document], list[Change]], None]] = [
        partial(_change_objects, spec, what_if, objects),
        partial(nodes.change, spec, what_if.nodes),
        partial(workloads.apply, spec, what_if.workloads),
    ]
    if what_if.add_nodes is not None:
        steps.insert(0, partial(nodes.add, spec, what_if.add_nodes))
    if what_if.add_pods is not None:
        steps.append(partial(pods.apply, spec, what_if.add_pods))
    for step in steps:
        try:
            step(present, changes)
        except ScenarioErrors as found:
            errors.extend(found.errors)
    if errors:
        raise ScenarioErrors(errors)
    for field, value in what_if.patch.items():
        spec[field] = manifests.merged(spec.get(field), value)
        changes.append(Change(f"spec.{field}", "", "changed as written"))
    if "operations" in spec:
        spec["operations"].sort(key=lambda operation: when(operation.get("at", 0)))
    return Changed(changed, tuple(changes))


def _change_objects(
    spec: dict[str, Any], what_if: WhatIf, objects: Sequence[Document], _present: Sequence[Document], changes: list[Change]
) -> None:
    manifests.apply(spec, what_if.objects, objects, changes)


def _check(what_if: WhatIf) -> Iterable[ScenarioError]:
    yield from run_settings.check(what_if)
    if what_if.add_pods is not None:
        yield from pods.check(what_if.add_pods)
    yield from nodes.check(what_if.add_nodes, what_if.nodes)
    yield from workloads.check(what_if.workloads)
    yield from manifests.check(what_if.objects)
