"""From a scenario document to a `Scenario`. Nothing is silently ignored: a field works, or it is refused by name."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from simulations.engine.api.decode import CLUSTER_SCOPED
from simulations.engine.cluster.api_server import RESOURCES
from simulations.engine.cluster.deletion import POLICIES
from simulations.engine.cluster.versions import DEFAULT_VERSION, feature_gates
from simulations.engine.controllers.kubelet import KubeletSettings
from simulations.engine.controllers.registry import ALIASES, CONTROLLERS
from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.scenario import evictions
from simulations.engine.scenario.costs import parse_costs, parse_faults
from simulations.engine.scenario.descheduler import parse_descheduler
from simulations.engine.scenario.fields import Fields
from simulations.engine.scenario.model import DEFAULT_CONTROLLERS, DEFAULT_EPOCH, Operation, Scenario, SchedulerSpec
from simulations.engine.scenario.objects import check_objects, check_shape, expand_generate
from simulations.engine.scheduler.attempt_data import EXPLANATIONS, USUAL
from simulations.engine.scheduler.config import parse_config
from simulations.engine.scheduler.preemption.executor import ASYNC_PREEMPTION_FAILURES, OBSERVED

LAST_YEAR: Final = 9000
"""A run may last a year and an object's grace 68; times must stay what four digits can write."""
API_VERSION: Final = "schedscope/v1alpha1"
Document = Mapping[str, Any]
_SPEC: Final = (
    "description", "kubernetesVersion", "startTime", "seed", "warmup", "duration", "until", "featureGates", "schedulers",
    "controllers", "kubelet", "costs", "asyncPreemptionFailure", "explanations", "faults", "initial", "generate", "operations",
    "descheduler", "evictionWebhook",
)  # fmt: skip
LATER: Final = {
    "kubevirt": "KubeVirt",
    "responders": "eviction responders",
    "autoscaler": "the cluster autoscaler",
    "assertions": "assertions",
}
"""Parts of the format that are not modelled yet, with how to call them."""


def parse_scenario(document: Document, *, line_of: Callable[[str], int] | None = None, file: str = "") -> Scenario:
    """Read a scenario.

    Args:
        document: the YAML or JSON document.
        line_of: gives the line of a field's path, for messages.
        file: the name of the input, for messages.

    Raises:
        ScenarioErrors: everything that is wrong, each with code, path and line.
    """
    findings: list[ScenarioError] = []
    scenario = _Parser(document, findings).scenario()
    if findings:
        located = [e.located(line=line_of(e.path) if line_of is not None and e.path else None, file=file) for e in findings]
        raise ScenarioErrors(located)
    return scenario


class _Parser:
    """Reads one document; findings are collected."""

    def __init__(self, document: Document, findings: list[ScenarioError]) -> None:
        self.root = Fields(document, "", findings)
        self.spec = self.root.sub("spec")
        self.findings = findings

    def scenario(self) -> Scenario:
        self._head()
        spec = self.spec
        version = spec.text("kubernetesVersion", DEFAULT_VERSION)
        gates = {str(k): v for k, v in spec.sub("featureGates").value.items()}
        for name, value in gates.items():
            if not isinstance(value, bool):
                spec.wrong(f"featureGates.{name}", "E0302", f"{value!r} is not true or false")
        epoch = self._epoch()
        initial = self._initial()
        explanations = self._word("explanations", EXPLANATIONS, USUAL)
        duration = spec.duration("duration", 60 * SECOND)
        if duration == 0:
            spec.wrong("duration", "E0303", "a run of no duration shows nothing")
        return Scenario(
            name=str(self.root.sub("metadata").value.get("name") or "scenario"),
            description=spec.text("description"),
            epoch=epoch,
            kubernetes_version=version,
            feature_gates=spec.attempt(lambda: feature_gates(version, gates), {}),
            seed=spec.integer("seed", 1, 0, 2**63 - 1),
            warmup=spec.duration("warmup", 0),
            duration=duration,
            until_settled=self._until(),
            schedulers=self._schedulers(),
            controllers=self._controllers(),
            kubelet=self._kubelet(),
            costs=parse_costs(spec.sub("costs")),
            faults=parse_faults(spec),
            initial=initial,
            operations=self._operations(),
            eviction_webhook=evictions.webhook(spec),
            async_preemption_failure=self._word("asyncPreemptionFailure", ASYNC_PREEMPTION_FAILURES, OBSERVED),
            explanations=explanations,
            descheduler=parse_descheduler(spec, initial, explanations),
        )

    def _head(self) -> None:
        self.root.only(("apiVersion", "kind", "metadata", "spec"))
        if self.root.value.get("apiVersion") != API_VERSION:
            self.root.wrong("apiVersion", "E0304", f"expected {API_VERSION}")
        if self.root.value.get("kind") != "Scenario":
            self.root.wrong("kind", "E0304", "expected Scenario")
        name = self.root.sub("metadata").value.get("name")
        if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", name):
            self.root.wrong("metadata.name", "E0302", "a name has small letters, digits, '-' and '.', at most 253 characters")
        for field, words in LATER.items():
            if self.spec.value.get(field):
                self.spec.wrong(field, "E0307", f"{words} is not modelled yet")
        self.spec.only((*_SPEC, *LATER))

    def _epoch(self) -> datetime:
        value = self.spec.value.get("startTime")
        if value is None:
            return DEFAULT_EPOCH
        try:
            moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        except ValueError:
            self.spec.wrong("startTime", "E0302", f"{value!r} is not a time such as 2026-01-01T00:00:00Z")
            return DEFAULT_EPOCH
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if not 1970 <= moment.year <= LAST_YEAR:
            self.spec.wrong("startTime", "E0302", f"{value} is not between the years 1970 and {LAST_YEAR}")
            return DEFAULT_EPOCH
        return moment

    def _until(self) -> bool:
        value = self.spec.value.get("until")
        if value not in (None, "Settled"):
            self.spec.wrong("until", "E0302", f"{value!r} is not known; Settled is")
        return value == "Settled"

    def _word(self, field: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.spec.text(field, default)
        if value not in allowed:
            self.spec.wrong(field, "E0302", f"{value!r} is not one of {', '.join(allowed)}")
        return value

    def _schedulers(self) -> tuple[SchedulerSpec, ...]:
        found = []
        for i, item in enumerate(self.spec.items("schedulers")):
            path = f"spec.schedulers[{i}]"
            fields = Fields(item, path, self.findings)
            connection = fields.sub("clientConnection")
            try:
                config = parse_config(item if isinstance(item, Mapping) else None)
            except ScenarioError as error:
                self.findings.append(error.located(prefix=path))
                continue
            qps, burst = connection.number("qps", -1, 1e6), connection.integer("burst", 0, 0, 1_000_000)
            found.append(SchedulerSpec(config, qps, burst or None))
        return tuple(found) or (SchedulerSpec(),)

    def _controllers(self) -> tuple[str, ...]:
        if self.spec.value.get("controllers") is None:
            return DEFAULT_CONTROLLERS
        names = self.spec.items("controllers")
        for i, name in enumerate(names):
            if ALIASES.get(name, name) not in CONTROLLERS:
                self.spec.wrong(f"controllers[{i}]", "E0307", f"{name!r} is not modelled ({', '.join(CONTROLLERS)})")
        return tuple(ALIASES.get(str(n), str(n)) for n in names)

    def _kubelet(self) -> KubeletSettings:
        fields = self.spec.sub("kubelet")
        fields.only(("startup", "stop", "poll", "cleanup"))
        usual = KubeletSettings()
        return KubeletSettings(*(fields.duration(name, getattr(usual, name)) for name in ("startup", "stop", "poll", "cleanup")))

    def _initial(self) -> tuple[Document, ...]:
        generated = expand_generate(self.spec)
        initial = [*self.spec.items("initial"), *generated]
        check_objects(self.spec, initial)
        return tuple(item for item in initial if isinstance(item, Mapping))

    def _operations(self) -> tuple[Operation, ...]:
        items = self.spec.items("operations")
        found = [o for o in (self._operation(item, f"spec.operations[{i}]") for i, item in enumerate(items)) if o is not None]
        return tuple(sorted(found, key=lambda o: o.at))

    def _operation(self, item: object, path: str) -> Operation | None:
        fields = Fields(item, path, self.findings)
        words = [k for k in fields.value if k != "at"]
        if len(words) != 1 or words[0] not in _OPERATIONS:
            fields.wrong("", "E0308", f"an operation has `at` and one of {', '.join(_OPERATIONS)}")
            return None
        at = fields.duration("at", 0)
        return _OPERATIONS[words[0]](fields.sub(words[0]), at)


def _create(fields: Fields, at: int) -> Operation | None:
    fields.only(("object",))
    manifest = fields.value.get("object")
    if not check_shape(fields, manifest, fields.at("object")) or not isinstance(manifest, Mapping):
        return None
    metadata = manifest["metadata"]
    name = str(metadata.get("name") or metadata["generateName"])
    return Operation(at, "create", manifest["kind"], str(metadata.get("namespace") or ""), name, manifest)


def _target(fields: Fields, kind: str) -> tuple[str, str, str] | None:
    if kind not in RESOURCES:
        fields.wrong("kind", "E0201", f"{kind!r} is not a kind that is modelled ({', '.join(RESOURCES)})")
        return None
    name = fields.text("name")
    if not name:
        fields.wrong("name", "E0302", "Required value")
        return None
    return kind, "" if kind in CLUSTER_SCOPED else fields.text("namespace", "default"), name


def _delete(fields: Fields, at: int) -> Operation | None:
    fields.only(("kind", "namespace", "name", "gracePeriodSeconds", "propagationPolicy"))
    target = _target(fields, fields.text("kind", "Pod"))
    grace = fields.integer("gracePeriodSeconds", -1, 0, 2**31)
    policy = fields.text("propagationPolicy")
    if policy and policy not in POLICIES:
        fields.wrong("propagationPolicy", "E0302", f"{policy!r} is not a policy ({', '.join(POLICIES)})")
    if target is None:
        return None
    return Operation(at, "delete", *target, grace_seconds=None if grace < 0 else grace, propagation=policy)


def _patch(fields: Fields, at: int) -> Operation | None:
    fields.only(("kind", "namespace", "name", "patch"))
    target = _target(fields, fields.text("kind", "Pod"))
    patch = fields.value.get("patch")
    if not isinstance(patch, Mapping):
        fields.wrong("patch", "E0302", "expected a mapping: a JSON merge patch")
        return None
    return None if target is None else Operation(at, "patch", *target, manifest=patch)


def _on_node(fields: Fields, at: int, verb: str) -> Operation | None:
    fields.only(("node",))
    name = fields.text("node")
    if not name:
        fields.wrong("node", "E0302", "Required value")
        return None
    return Operation(at, verb, "Node", "", name)


_OPERATIONS: Final[dict[str, Callable[[Fields, int], Operation | None]]] = {
    "createOperation": _create,
    "deleteOperation": _delete,
    "patchOperation": _patch,
    "failNodeOperation": lambda fields, at: _on_node(fields, at, "fail"),
    "evictOperation": evictions.evict,
    "evictNth": evictions.evict_nth,
    "drainOperation": evictions.drain,
    "cordonOperation": lambda fields, at: _on_node(fields, at, "cordon"),
    "uncordonOperation": lambda fields, at: _on_node(fields, at, "uncordon"),
    "recoverNodeOperation": lambda fields, at: _on_node(fields, at, "recover"),
}
