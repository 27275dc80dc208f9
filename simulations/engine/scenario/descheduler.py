"""Reads the descheduler of a scenario: how often it runs, its policy, its gates."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from simulations.engine.api.priority import SYSTEM_CLASSES
from simulations.engine.descheduler.descheduler import DEFAULT_BURST, DEFAULT_QPS, DeschedulerSettings
from simulations.engine.descheduler.policy import parse_policy
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.scenario.fields import Fields
from simulations.engine.scheduler.attempt_data import NONE

BACKGROUND: Final = "EvictionsInBackground"
_FIELDS: Final = ("interval", "policy", "dryRun", "featureGates", "clientConnection")
Document = Mapping[str, Any]


def parse_descheduler(spec: Fields, initial: Iterable[Document], explanations: str) -> DeschedulerSettings | None:
    """The descheduler, None where the scenario has none; what is wrong is noted."""
    if spec.value.get("descheduler") is None:
        return None
    fields = spec.sub("descheduler")
    fields.only(_FIELDS)
    if fields.value.get("policy") is None:
        fields.wrong("policy", "E0302", "Required value")
        return None
    try:
        policy = parse_policy(fields.value["policy"], fields.at("policy"))
    except ScenarioErrors as errors:
        fields.findings.extend(errors.errors)
        return None
    _check_classes(fields, policy.priority_classes, initial)
    _check_gates(fields.sub("featureGates"))
    connection = fields.sub("clientConnection")
    connection.only(("qps", "burst"))
    qps, burst = connection.number("qps", -1, 1e6), connection.integer("burst", DEFAULT_BURST, 0, 1_000_000)
    return DeschedulerSettings(
        policy,
        fields.duration("interval", 0),
        fields.flag("dryRun"),
        DEFAULT_QPS if qps is None else qps,
        burst,
        explanations != NONE,
    )


def _check_classes(fields: Fields, used: Mapping[str, str], initial: Iterable[Document]) -> None:
    """A policy whose threshold names a class that is not there ends the real descheduler at its start."""
    there = {str((item.get("metadata") or {}).get("name")) for item in initial if item.get("kind") == "PriorityClass"}
    for path, name in used.items():
        if name not in there and name not in SYSTEM_CLASSES:
            text = f'unable to get priority value from the priority class: priorityclasses.scheduling.k8s.io "{name}" not found'
            fields.wrong(f"policy.{path}", "E0804", text)


def _check_gates(gates: Fields) -> None:
    for name, value in gates.value.items():
        if name != BACKGROUND:
            gates.wrong(str(name), "E0306", f"{name} is not a feature gate of the descheduler that is modelled ({BACKGROUND})")
        elif not isinstance(value, bool):
            gates.wrong(str(name), "E0302", f"{value!r} is not true or false")
        elif value:
            gates.wrong(str(name), "E0307", "evictions in background are not modelled yet")
