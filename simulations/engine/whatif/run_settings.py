"""Scheduler, costs, kubelets, faults and the run itself, as a what-if changes them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.whatif.model import PRESETS, SCORING, Change, WhatIf
from simulations.engine.whatif.texts import MAX_SEED, WEEK, check_duration

MINUTE: Final = 60 * 10**9
Spec = dict[str, Any]
Changes = list[Change]


def check(wanted: WhatIf) -> Iterable[ScenarioError]:
    """What is out of its limits."""
    if wanted.seed is not None and not 0 <= wanted.seed <= MAX_SEED:
        yield ScenarioError("E0710", f"the seed must be between 0 and {MAX_SEED}", "seed")
    yield from check_duration("apiLatency", wanted.api_latency, 0, MINUTE)
    yield from check_duration("kubeletStartup", wanted.kubelet_startup, 0, 60 * MINUTE)
    yield from check_duration("kubeletStop", wanted.kubelet_stop, 0, 60 * MINUTE)
    yield from check_duration("duration", wanted.duration, 1, WEEK)
    share = wanted.percentage_of_nodes_to_score
    if share is not None and not 0 <= share <= 100:
        yield ScenarioError("E0713", "the share of nodes must be between 0 and 100", "percentageOfNodesToScore")
    for path, value, allowed in (("scoring", wanted.scoring, SCORING), ("preset", wanted.preset, PRESETS)):
        if value and value not in allowed:
            yield ScenarioError("E0723", f"{value!r} is not one of {', '.join(allowed)}", path)
    if wanted.qps is not None and not -1 <= wanted.qps <= 1e6:
        yield ScenarioError("E0713", "calls a second must be between -1 (no limit) and 1000000", "qps")
    if wanted.burst is not None and not 1 <= wanted.burst <= 1_000_000:
        yield ScenarioError("E0713", "the burst must be between 1 and 1000000", "burst")
    for name, weight in wanted.weights.items():
        if not 1 <= weight <= 1000:
            yield ScenarioError("E0713", "a weight must be between 1 and 1000", f"weights.{name}")


def apply(spec: Spec, wanted: WhatIf, changes: Changes) -> None:
    """Write the settings into the scenario's spec."""
    if wanted.async_preemption is not None:
        gates = spec.setdefault("featureGates", {})
        before = gates.get("SchedulerAsyncPreemption", True)
        gates["SchedulerAsyncPreemption"] = wanted.async_preemption
        if before is not wanted.async_preemption:
            changes.append(Change("asynchronous preemption", _on_off(before), _on_off(wanted.async_preemption)))
    _simple(spec, "kubernetesVersion", wanted.kubernetes_version, ("Kubernetes version", "1.36"), changes)
    _scheduler(spec, wanted, changes)
    _costs(spec, wanted, changes)
    kubelet = (("startup", wanted.kubelet_startup, "1s"), ("stop", wanted.kubelet_stop, "2s"))
    for field, value, default in kubelet:
        if value:
            own = spec.setdefault("kubelet", {})
            _simple(own, field, value, (f"kubelet {field}", default), changes)
    for fault in wanted.faults:
        spec.setdefault("faults", []).append(dict(fault))
        changes.append(Change("fault", "", f"{fault.get('match')} is answered with {fault.get('code')}"))
    _run(spec, wanted, changes)


def _simple(where: Spec, field: str, value: Any, words: tuple[str, str], changes: Changes) -> None:
    before = str(where.get(field, words[1]))
    if value in (None, "") or str(value) == before:
        return
    changes.append(Change(words[0], before, str(value)))
    where[field] = value


def _on_off(value: bool) -> str:
    return "on" if value else "off"


def _costs(spec: Spec, wanted: WhatIf, changes: Changes) -> None:
    """With a latency every call costs the same: costs of single verbs would hide what was asked for."""
    if wanted.preset:
        _simple(spec.setdefault("costs", {}), "preset", wanted.preset, ("costs", "lab"), changes)
    if wanted.api_latency:
        costs = spec.setdefault("costs", {})
        before = (costs.get("apiServer") or {}).get("default", f"as in preset {costs.get('preset', 'lab')}")
        costs["apiServer"] = {"default": wanted.api_latency}
        changes.append(Change("API latency", str(before), wanted.api_latency))


def _scheduler(spec: Spec, wanted: WhatIf, changes: Changes) -> None:
    """Settings of the first scheduler; those of its first profile where they belong to one."""
    has_any = (wanted.percentage_of_nodes_to_score, wanted.qps, wanted.burst)
    if all(value is None for value in has_any) and not wanted.scoring and not wanted.weights:
        return
    schedulers = spec.setdefault("schedulers", [])
    if not schedulers:
        schedulers.append({})
    config = schedulers[0]
    _simple(config, "percentageOfNodesToScore", wanted.percentage_of_nodes_to_score, ("nodes to score", "0"), changes)
    for field, value, default in (("qps", wanted.qps, "50"), ("burst", wanted.burst, "100")):
        if value is not None:
            _simple(config.setdefault("clientConnection", {}), field, value, (f"scheduler {field}", default), changes)
    if wanted.scoring or wanted.weights:
        profiles = config.setdefault("profiles", [])
        if not profiles:
            profiles.append({"schedulerName": "default-scheduler"})
        _scoring(profiles[0], wanted.scoring, changes)
        _weights(profiles[0], wanted.weights, changes)


def _scoring(profile: Spec, strategy: str, changes: Changes) -> None:
    if not strategy:
        return
    plugins = profile.setdefault("pluginConfig", [])
    own = next((item for item in plugins if item.get("name") == "NodeResourcesFit"), None)
    if own is None:
        plugins.append(own := {"name": "NodeResourcesFit", "args": {}})
    args = own.setdefault("args", {})
    before = (args.get("scoringStrategy") or {}).get("type", "LeastAllocated")
    resources = (args.get("scoringStrategy") or {}).get("resources") or [{"name": name, "weight": 1} for name in ("cpu", "memory")]
    args["scoringStrategy"] = {"type": strategy, "resources": resources}
    if before != strategy:
        changes.append(Change("scoring", before, strategy))


def _weights(profile: Spec, weights: Mapping[str, int], changes: Changes) -> None:
    for name, weight in weights.items():
        enabled = profile.setdefault("plugins", {}).setdefault("score", {}).setdefault("enabled", [])
        enabled[:] = [item for item in enabled if item.get("name") != name]
        enabled.append({"name": name, "weight": weight})
        changes.append(Change(f"weight of {name}", "", str(weight)))


def _run(spec: Spec, wanted: WhatIf, changes: Changes) -> None:
    if wanted.seed is not None and wanted.seed != spec.get("seed", 1):
        changes.append(Change("seed", str(spec.get("seed", 1)), str(wanted.seed)))
        spec["seed"] = wanted.seed
    if wanted.until_settled is not None and wanted.until_settled != (spec.get("until") == "Settled"):
        changes.append(
            Change("ends", *(("at its duration", "when settled") if wanted.until_settled else ("when settled", "at its duration")))
        )
        spec.pop("until", None)
        if wanted.until_settled:
            spec["until"] = "Settled"
    if wanted.duration and wanted.duration != str(spec.get("duration", "")):
        changes.append(Change("duration", str(spec.get("duration", spec.get("until", "<none>"))), wanted.duration))
        spec["duration"] = wanted.duration
        if wanted.until_settled is None:
            spec.pop("until", None)
