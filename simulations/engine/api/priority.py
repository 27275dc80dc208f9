"""Priority admission: from a class's name to a number.

Source: plugin/pkg/admission/priority/admission.go, v1.36
"""

from collections.abc import Mapping
from typing import Any, Final

from simulations.engine.api.workloads import PriorityClass
from simulations.engine.kernel.errors import ScenarioError

SYSTEM_CLASSES: Final = {
    "system-cluster-critical": PriorityClass(name="system-cluster-critical", value=2_000_000_000),
    "system-node-critical": PriorityClass(name="system-node-critical", value=2_000_001_000),
}


def admit_priority(spec: Mapping[str, Any], classes: Mapping[str, PriorityClass]) -> dict[str, Any]:
    """Return the Pod spec with priority, preemptionPolicy and priorityClassName as admission sets them.

    Raises:
        ScenarioError: E0212, the class does not exist, or priority or policy differ from what the class gives.
    """
    name = spec.get("priorityClassName")
    if name:
        found = SYSTEM_CLASSES.get(name) or classes.get(name)
        if found is None:
            raise ScenarioError("E0212", f"no PriorityClass with name {name} was found", "spec.priorityClassName")
    else:
        defaults = sorted((c for c in classes.values() if c.global_default), key=lambda c: (c.value, c.name))
        found = defaults[0] if defaults else PriorityClass(name="")
    for field, own, computed in (
        ("priority", spec.get("priority"), found.value),
        ("preemptionPolicy", spec.get("preemptionPolicy"), found.preemption_policy),
    ):
        if own is not None and own != computed:
            kind = "integer value of priority" if field == "priority" else "string value of preemptionPolicy"
            text = f"the {kind} ({own}) must not be provided in pod spec; priority admission controller computed {computed}"
            raise ScenarioError("E0212", f"{text} from the given PriorityClass name", f"spec.{field}")
    admitted = {**spec, "priority": found.value, "preemptionPolicy": found.preemption_policy}
    if found.name:
        admitted["priorityClassName"] = found.name
    return admitted
