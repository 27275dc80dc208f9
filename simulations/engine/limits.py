"""What a run models, ignores, and how far it can be trusted: the run's stated limits."""

from collections.abc import Mapping
from typing import Any, Final

from simulations.engine.scenario import Scenario
from simulations.engine.scheduler.registry import REGISTRY

_CONTROLLERS: Final = {
    "ReplicaSet": "replicaset-controller",
    "Deployment": "deployment-controller",
    "StatefulSet": "statefulset-controller",
    "DaemonSet": "daemonset-controller",
    "Job": "job-controller",
}

_SHARED_CARDS: Final = "alibabacloud.com/gpu-milli"


def stated_limits(scenario: Scenario) -> dict[str, list[str]]:
    """`modelled`, `ignored` and `limits` of a scenario, for the record `begin`."""
    modelled = ["kube-apiserver (objects, watches, admission)", "kube-scheduler", "kubelet (start and stop)", *scenario.controllers]
    modelled += [name for name, entry in REGISTRY.items() if entry.modelled]
    ignored = [name for name, entry in REGISTRY.items() if not entry.modelled]
    return {"modelled": modelled, "ignored": ignored, "limits": _limits(scenario)}


def _limits(scenario: Scenario) -> list[str]:
    found = [f"{part} is not modelled" for part in scenario.not_modelled]
    objects = [*scenario.initial, *(o.manifest for o in scenario.operations if o.verb == "create")]
    specs = [_spec(o) for o in objects if o.get("kind") == "Pod"]
    volumes = sum(1 for s in specs if any("persistentVolumeClaim" in v for v in s.get("volumes") or []))
    if volumes:
        found.append(f"volumes are not modelled ({volumes} pods use claims; they are scheduled without looking at them)")
    claims = sum(1 for s in specs if s.get("resourceClaims"))
    if claims:
        found.append(f"resource claims are not modelled ({claims} pods have some)")
    if any(_SHARED_CARDS in _allocatable(o) for o in objects if o.get("kind") == "Node"):
        found.append(f"{_SHARED_CARDS} is a sum per node: whether a single card has room for a pod's share is not modelled")
    for kind, name in _CONTROLLERS.items():
        number = sum(1 for o in objects if o.get("kind") == kind)
        if number and name not in scenario.controllers:
            found.append(f"{name} does not run here: {number} objects of kind {kind} change nothing by themselves")
    if any(_spec(o).get("volumeClaimTemplates") for o in objects if o.get("kind") == "StatefulSet"):
        found.append("volumeClaimTemplates make no claims; the pods of StatefulSets are scheduled without them")
    if any(o.verb == "fail" for o in scenario.operations):
        found.append("NoExecute taints are set on silent nodes, but nothing is evicted for them")
    if any(o.get("kind") == "PodDisruptionBudget" for o in objects):
        found.append("budgets keep the disruptionsAllowed that they start with")
    for spec in scenario.schedulers:
        name = spec.config.profiles[0].scheduler_name
        found += [f"{field} of {name} is read and changes nothing here" for field in spec.config.ignored]
    return found + _shared_names(scenario)


def _shared_names(scenario: Scenario) -> list[str]:
    """Names that more than one process answers to: no leader is elected, all of them work."""
    names = [profile.scheduler_name for spec in scenario.schedulers for profile in spec.config.profiles]
    shared = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    return [f"{names.count(name)} schedulers answer to {name}: no leader is elected, all of them decide" for name in shared]


def _allocatable(document: Mapping[str, Any]) -> Mapping[str, Any]:
    status = document.get("status")
    found = status.get("allocatable") if isinstance(status, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _spec(document: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = document.get("spec")
    return spec if isinstance(spec, Mapping) else {}
