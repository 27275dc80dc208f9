"""The status of a PodDisruptionBudget: its condition, as a manifest writes it, as records carry it, and who may change it.

Source: staging/src/k8s.io/component-helpers/apps/poddisruptionbudget/helpers.go; pkg/registry/policy/poddisruptionbudget/strategy.go, v1.36
"""

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from simulations.engine.api.encode import condition_manifest, format_time
from simulations.engine.api.pod import Condition
from simulations.engine.api.workloads import PodDisruptionBudget

DISRUPTION_ALLOWED: Final = "DisruptionAllowed"
SUFFICIENT: Final = "SufficientPods"
INSUFFICIENT: Final = "InsufficientPods"
SYNC_FAILED: Final = "SyncFailed"


def with_condition(budget: PodDisruptionBudget, status: str, reason: str, message: str = "") -> PodDisruptionBudget:
    """The budget with this condition DisruptionAllowed."""
    new = Condition(DISRUPTION_ALLOWED, status, reason, message, budget.observed_generation)
    others = tuple(c for c in budget.conditions if c.type != DISRUPTION_ALLOWED)
    return replace(budget, conditions=(*others, new))


def with_allowed_condition(budget: PodDisruptionBudget) -> PodDisruptionBudget:
    """The budget with the condition that its disruptionsAllowed asks for."""
    return (
        with_condition(budget, "True", SUFFICIENT) if budget.disruptions_allowed else with_condition(budget, "False", INSUFFICIENT)
    )


def condition_is_current(budget: PodDisruptionBudget) -> bool:
    """Whether the condition is the one that disruptionsAllowed and the generation ask for."""
    found = budget.condition(DISRUPTION_ALLOWED)
    if found is None or budget.observed_generation != budget.generation:
        return False
    wanted = ("True", SUFFICIENT) if budget.disruptions_allowed else ("False", INSUFFICIENT)
    return (found.status, found.reason) == wanted


def budget_status(budget: PodDisruptionBudget, epoch: datetime) -> dict[str, Any]:
    """The status as a manifest writes it; times in whole seconds."""
    status: dict[str, Any] = {
        "observedGeneration": budget.observed_generation,
        "disruptionsAllowed": budget.disruptions_allowed or 0,
        "currentHealthy": budget.current_healthy,
        "desiredHealthy": budget.desired_healthy,
        "expectedPods": budget.expected_pods,
    }
    if budget.disrupted_pods:
        status["disruptedPods"] = {name: format_time(when, epoch) for name, when in budget.disrupted_pods.items()}
    if budget.conditions:
        status["conditions"] = [condition_manifest(c) for c in budget.conditions]
    return status


def budget_state(budget: PodDisruptionBudget) -> dict[str, Any]:
    """The state of a budget as records carry it; `allowed` is null before anybody has counted."""
    found = budget.condition(DISRUPTION_ALLOWED)
    return {
        "allowed": budget.disruptions_allowed,
        "healthy": budget.current_healthy,
        "desired": budget.desired_healthy,
        "expected": budget.expected_pods,
        "disrupted": list(budget.disrupted_pods),
        "generation": budget.generation,
        "observed": budget.observed_generation,
        "condition": [found.status, found.reason, found.message] if found is not None else None,
    }


def new_budget(item: PodDisruptionBudget) -> PodDisruptionBudget:
    """As one that is created is stored: nobody has counted for it, whatever its manifest says."""
    fresh = PodDisruptionBudget(name=item.name)
    return _with_status(replace(item, generation=1), fresh, {})


def changed_budget(item: PodDisruptionBudget, old: PodDisruptionBudget) -> PodDisruptionBudget:
    """As one that is changed is stored: the status stays, another spec is another generation."""
    same = item.raw.get("spec") == old.raw.get("spec")
    return _with_status(replace(item, generation=old.generation + (0 if same else 1)), old, old.raw.get("status") or {})


def _with_status(item: PodDisruptionBudget, source: PodDisruptionBudget, status: dict[str, Any]) -> PodDisruptionBudget:
    raw = {**{key: value for key, value in item.raw.items() if key != "status"}, **({"status": status} if status else {})}
    return replace(
        item,
        observed_generation=source.observed_generation,
        disruptions_allowed=source.disruptions_allowed,
        current_healthy=source.current_healthy,
        desired_healthy=source.desired_healthy,
        expected_pods=source.expected_pods,
        disrupted_pods=source.disrupted_pods,
        conditions=source.conditions,
        raw=raw,
    )
