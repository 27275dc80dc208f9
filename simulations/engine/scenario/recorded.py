"""Recorded timelines of the real components as scenarios."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from simulations.engine.cluster.faults import Fault
from simulations.engine.controllers.kubelet import RECORDED_POLL
from simulations.engine.controllers.registry import CONTROLLERS
from simulations.engine.scenario.descheduler import BACKGROUND
from simulations.engine.scenario.model import Scenario
from simulations.engine.scenario.parse import LATER, parse_scenario

_SAME: Final = ("warmup", "duration", "featureGates", "controllers", "kubelet", "initial", "operations", "evictionWebhook")
_NO_LIMITS: Final = {"qps": 5000, "burst": 5000}


def is_recorded(document: Mapping[str, Any]) -> bool:
    """Whether a document is a recorded timeline."""
    return "timeline" in document and "initial" in document


def from_recorded(document: Mapping[str, Any]) -> Scenario:
    """Turn a recorded timeline into a scenario; what is not modelled is left out and named in `not_modelled`.

    Raises:
        ScenarioErrors: something else in it cannot be read.
    """
    spec: dict[str, Any] = {k: document[k] for k in _SAME if document.get(k) is not None}
    left_out = [LATER[k] for k in LATER if document.get(k)]
    descheduler, beyond = _descheduler(document)
    left_out += beyond
    if descheduler is not None:
        spec["descheduler"] = descheduler
    spec["description"] = str(document.get("description") or "")
    spec["kubernetesVersion"] = ".".join(str(document.get("kubernetes", "v1.36")).lstrip("v").split(".")[:2])
    config = dict(document.get("schedulerConfig") or {})
    config["clientConnection"] = document.get("clientConnection") or _NO_LIMITS
    spec["schedulers"] = [config]
    left_out += [c for c in document.get("controllers") or [] if c not in CONTROLLERS]
    spec["controllers"] = [c for c in document.get("controllers") or [] if c in CONTROLLERS]
    refused = _refused_deletions(spec.get("initial") or [])
    spec["initial"] = [o for o in spec.get("initial") or [] if not str(o.get("kind")).startswith("ValidatingAdmissionPolicy")]
    name = str(document.get("name") or "recorded")
    scenario = parse_scenario({"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": name}, "spec": spec})
    stand_in = replace(scenario.kubelet, poll=RECORDED_POLL, cleanup=0)
    left = tuple(dict.fromkeys(left_out))
    return replace(scenario, faults=refused, kubelet=stand_in, names=_generated_names(document), not_modelled=left)


def _generated_names(document: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """What the Pods of each ReplicaSet were called, in the order in which they were made: chance that is taken over, so that operations
    that pick Pods by name pick the same ones.
    """
    calls = document.get("timeline") or []
    made = [str(c["note"]).rpartition(" ")[2] for c in calls if c.get("reason") == "SuccessfulCreate" and c.get("code") == 201]
    seen = sorted(
        {str(c["name"]) for c in calls if str(c["resource"]).startswith("pods") and c.get("name")}
        | set(document.get("final") or {})
    )
    sets = [str(o["metadata"]["name"]) for o in document.get("initial") or [] if o.get("kind") == "ReplicaSet"]
    found = {}
    for name in sets:
        own = [pod for pod in seen if pod.rpartition("-")[0] == name]
        found[f"{name}-"] = (*(pod for pod in own if pod not in made), *(pod for pod in made if pod in own))
    return found


def _descheduler(document: Mapping[str, Any]) -> tuple[dict[str, Any] | None, list[str]]:
    """The descheduler of a timeline, its gates as a mapping, and what of it is left out."""
    recorded = document.get("descheduler")
    if recorded is None:
        return None, []
    gates = dict(part.split("=") for part in str(recorded.get("featureGates") or "").split(",") if part)
    if gates.get(BACKGROUND) == "true":
        return None, ["evictions in background"]
    return {"interval": recorded["interval"], "policy": recorded["policy"]}, []


def _refused_deletions(initial: list[Mapping[str, Any]]) -> tuple[Fault, ...]:
    """An admission policy that refuses the scheduler's DELETE of named Pods, read as a fault."""
    found = []
    for item in initial:
        if item.get("kind") != "ValidatingAdmissionPolicy":
            continue
        text = str(item)
        names = tuple(
            str(o["metadata"]["name"]) for o in initial if o.get("kind") == "Pod" and f"'{o['metadata']['name']}'" in text
        ) or tuple(str(o["metadata"]["name"]) for o in initial if o.get("kind") == "Pod" and str(o["metadata"]["name"]) in text)
        found.append(Fault("delete pods", 422, "denied request: deletion refused", names, "kube-scheduler"))
    return tuple(found)
