"""Nodes that a what-if adds, and what it does to those that are there."""

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.whatif.model import MAX_ADDED_NODES, NODE_ACTIONS, AddNodes, Change, NodeChange
from simulations.engine.whatif.pods import created_objects, name_of
from simulations.engine.whatif.texts import WEEK, check_amounts, check_duration, check_prefix, when

_TAINT: Final = re.compile(
    r"([A-Za-z0-9][-A-Za-z0-9_./]{0,252})(?:=([-A-Za-z0-9_.]{0,63}))?:(NoSchedule|PreferNoSchedule|NoExecute)"
)
_WORDS: Final = {
    "cordon": "cordoned",
    "uncordon": "uncordoned",
    "delete": "deleted",
    "fail": "its kubelet falls silent",
    "recover": "its kubelet is back",
}
Document = Mapping[str, Any]


def check(nodes: AddNodes | None, changes: Sequence[NodeChange]) -> Iterable[ScenarioError]:
    """What is out of its limits."""
    if nodes is not None:
        if not 1 <= nodes.count <= MAX_ADDED_NODES:
            yield ScenarioError("E0713", f"the number of nodes must be between 1 and {MAX_ADDED_NODES}", "addNodes.count")
        yield from check_prefix("addNodes", nodes.name_prefix)
        yield from check_amounts("addNodes", nodes.cpu, nodes.memory)
        yield from check_duration("addNodes.at", nodes.at, 0, WEEK)
    for i, change in enumerate(changes):
        path = f"nodes[{i}]"
        if change.action not in NODE_ACTIONS:
            yield ScenarioError("E0723", f"{change.action!r} is not one of {', '.join(NODE_ACTIONS)}", f"{path}.action")
        if change.action == "taint" and not _TAINT.fullmatch(change.taint):
            yield ScenarioError("E0723", f"{change.taint!r} is not a taint such as key=value:NoSchedule", f"{path}.taint")
        yield from check_duration(f"{path}.at", change.at, 0, WEEK)


def add(spec: dict[str, Any], wanted: AddNodes, present: Sequence[Document], changes: list[Change]) -> None:
    """Create the Nodes at their time.

    Raises:
        ScenarioErrors: E0724, the Node to copy is not there; E0721, a name is taken.
    """
    nodes = {name_of(item): item for item in present if item.get("kind") == "Node"}
    pattern = nodes.get(wanted.like) if wanted.like else next(iter(nodes.values()), None)
    if pattern is None:
        text = (
            f"there is no node {wanted.like!r} to copy" if wanted.like else "the base has no node to copy: give the base one first"
        )
        raise ScenarioErrors([ScenarioError("E0724", text, "addNodes.like")])
    prefix = wanted.name_prefix.rstrip("-")
    names = [f"{prefix}-{number}" for number in range(1, wanted.count + 1)]
    taken = [name for name in names if name in nodes]
    if taken:
        raise ScenarioErrors(
            [ScenarioError("E0721", f"the base already has a node {taken[0]}; choose another prefix", "addNodes.namePrefix")]
        )
    for name in names:
        spec.setdefault("operations", []).append({"at": wanted.at, "createOperation": {"object": _copy(pattern, name, wanted)}})
    own = ", ".join(f"{key} {value}" for key, value in (("cpu", wanted.cpu), ("memory", wanted.memory)) if value)
    changes.append(
        Change("nodes", "", f"{wanted.count} more like {name_of(pattern)}{f' with {own}' if own else ''} at {wanted.at}")
    )


def _copy(pattern: Document, name: str, wanted: AddNodes) -> dict[str, Any]:
    metadata, status = pattern.get("metadata") or {}, copy.deepcopy(dict(pattern.get("status") or {}))
    labels = {**(metadata.get("labels") or {}), "kubernetes.io/hostname": name}
    own = {key: value for key, value in (("cpu", wanted.cpu), ("memory", wanted.memory)) if value}
    for field in ("allocatable", "capacity"):
        status[field] = {**(status.get(field) or status.get("capacity") or {}), **own}
    status["conditions"] = [{"type": "Ready", "status": "True"}]
    spec = {k: v for k, v in (pattern.get("spec") or {}).items() if k == "taints"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def change(spec: dict[str, Any], wanted: Sequence[NodeChange], present: Sequence[Document], changes: list[Change]) -> None:
    """Do to Nodes what is asked for, also to those that come later.

    Raises:
        ScenarioErrors: E0724, Nodes are not there; E0712, they come later than what befalls them.
    """
    nodes = {name_of(item): item for item in [*created_objects(spec), *present] if item.get("kind") == "Node"}
    errors = list(_missing(wanted, nodes, _coming(spec, present)))
    if errors:
        raise ScenarioErrors(errors)
    taints = _taints_after(wanted, nodes)
    for i, one in enumerate(wanted):
        spec.setdefault("operations", []).append({"at": one.at, **_operation(one, taints.get(i, []))})
        words = _WORDS.get(one.action, f"tainted {one.taint}")
        changes.append(Change(f"node {one.node}", "", f"{words} at {one.at}"))


def _coming(spec: Mapping[str, Any], present: Sequence[Document]) -> dict[str, object]:
    """When the Nodes come that are not there from the start."""
    there = {name_of(item) for item in present if item.get("kind") == "Node"}
    found: dict[str, object] = {}
    for operation in spec.get("operations") or []:
        created = (operation.get("createOperation") or {}).get("object") or {}
        if created.get("kind") == "Node" and name_of(created) not in there:
            found.setdefault(name_of(created), operation.get("at", 0))
    return found


def _missing(wanted: Sequence[NodeChange], nodes: Mapping[str, Document], coming: Mapping[str, object]) -> Iterable[ScenarioError]:
    for i, one in enumerate(wanted):
        if one.node not in nodes:
            yield ScenarioError("E0724", f"there is no node {one.node!r}", f"nodes[{i}].node")
        elif one.node in coming and when(one.at) < when(coming[one.node]):
            yield ScenarioError("E0712", f"the node {one.node} comes at {coming[one.node]}: not before that", f"nodes[{i}].at")


def _taints_after(wanted: Sequence[NodeChange], nodes: Mapping[str, Document]) -> dict[int, list[dict[str, Any]]]:
    """The whole list of taints that each taint leaves, by its index: a merge patch replaces lists, so earlier ones are in it.

    A taint of the same key and effect takes the older one's place, as with `kubectl taint --overwrite`.
    """
    now = {name: list((node.get("spec") or {}).get("taints") or []) for name, node in nodes.items()}
    after: dict[int, list[dict[str, Any]]] = {}
    for i, one in sorted(enumerate(wanted), key=lambda item: (when(item[1].at), item[0])):
        if one.action != "taint":
            continue
        found = _TAINT.fullmatch(one.taint)
        assert found is not None, "it was checked"
        taint = {"key": found[1], "value": found[2] or "", "effect": found[3]}
        others = [each for each in now[one.node] if (each.get("key"), each.get("effect")) != (found[1], found[3])]
        now[one.node] = after[i] = [*others, taint]
    return after


def _operation(one: NodeChange, taints: list[dict[str, Any]]) -> dict[str, Any]:
    if one.action == "delete":
        return {"deleteOperation": {"kind": "Node", "name": one.node}}
    if one.action in ("fail", "recover"):
        return {f"{one.action}NodeOperation": {"node": one.node}}
    spec: dict[str, Any] = {"taints": taints}
    if one.action != "taint":
        spec = {"unschedulable": True if one.action == "cordon" else None}
    return {"patchOperation": {"kind": "Node", "name": one.node, "patch": {"spec": spec}}}
