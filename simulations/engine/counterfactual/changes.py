"""From changes that were found to a what-if that makes them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.api.pod import Pod
from simulations.engine.api.workloads import PriorityClass
from simulations.engine.counterfactual.model import Fit, Part
from simulations.engine.counterfactual.node_edits import NEW_NODE
from simulations.engine.kernel.clock import SECOND, SimTime
from simulations.engine.whatif import AddNodes, NodeChange, ObjectChange, WhatIf
from simulations.engine.whatif.objects import difference

Find = Callable[[str, str, str], Any]
"""An object by kind, namespace and name; None: it is not there."""
_OF_NODES: Final = ("uncordon", "recover", "label", "addNode", "free")


@dataclass(frozen=True, slots=True)
class Target:
    """What has to be written differently for the Pod to be another: itself, or the workload that makes it (by its Pod template)."""

    object: str
    template: bool = False


def target_of(pod: Pod, written: frozenset[str], find: Find) -> Target:
    """The Pod where the base writes it out; else the highest of its owners that is there."""
    own = f"Pod/{pod.namespace}/{pod.name}"
    owner, found = pod.controller, ""
    while owner is not None:
        item = find(owner.kind, pod.namespace, owner.name)
        if item is None:
            break
        found = f"{owner.kind}/{pod.namespace}/{owner.name}"
        owner = next((each for each in item.owners if each.controller), None)
    return Target(own) if own in written or not found else Target(found, template=True)


def what_if_of(fit: Fit, pod: Pod, target: Target, now: SimTime, classes: list[PriorityClass]) -> WhatIf:
    """The changes to the base: of the Pod from the start, of Nodes at the instant of the attempt."""
    at = _text_of(max(0, now))
    objects: list[ObjectChange] = []
    if fit.spec is not None and any(part.kind not in _OF_NODES for part in fit.parts):
        objects = _of_pod(fit, pod, target, classes)
    if any(part.kind == "free" for part in fit.parts):
        objects += [ObjectChange(f"Pod/{victim}", delete=True, at=at) for victim in fit.landing.victims]
    for part in fit.parts:
        if part.kind == "label":
            labels = dict(each.split("=", 1) for each in part.like.split(", "))
            objects.append(ObjectChange(f"Node/{part.target}", {"metadata": {"labels": labels}}, at=at))
    added = next((part for part in fit.parts if part.kind == "addNode"), None)
    return WhatIf(
        objects=tuple(objects),
        nodes=tuple(NodeChange(part.target, part.kind, at=at) for part in fit.parts if part.kind in ("uncordon", "recover")),
        add_nodes=AddNodes(like=added.like, name_prefix=NEW_NODE.removesuffix("-1"), at=at) if added is not None else None,
    )


def _text_of(time: SimTime) -> str:
    whole, rest = divmod(time, SECOND)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".") + "s"


def _of_pod(fit: Fit, pod: Pod, target: Target, classes: list[PriorityClass]) -> list[ObjectChange]:
    assert fit.spec is not None, "only called with a spec"
    patch = difference(pod.spec.raw, fit.spec)
    found: list[ObjectChange] = []
    raised = next((part for part in fit.parts if part.kind == "priority"), None)
    if raised is not None:
        found, patch["priorityClassName"] = _class_of(raised, classes)
    whole = {"spec": {"template": {"spec": patch}}} if target.template else {"spec": patch}
    return [*found, ObjectChange(target.object, whole)]


def _class_of(raised: Part, classes: list[PriorityClass]) -> tuple[list[ObjectChange], str]:
    """A class of the value that may preempt, made where there is none."""
    for known in sorted(classes, key=lambda c: c.name):
        if known.value == raised.value and known.preemption_policy == "PreemptLowerPriority":
            return [], known.name
    name = f"priority-{raised.value}" if raised.value >= 0 else f"priority-minus-{-raised.value}"
    while any(known.name == name for known in classes):
        name += "-preempting"
    manifest = {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": raised.value,
    }  # fmt: skip
    return [ObjectChange(f"PriorityClass/{name}", manifest)], name
