"""What happens to a Pod's manifest before it is stored.

Source: pkg/kubeapiserver/options/plugins.go; plugin/pkg/admission/{priority,defaulttolerationseconds,runtimeclass};
pkg/registry/core/pod/strategy.go (applyMatchLabelKeysAndMismatchLabelKeys); pkg/apis/core/v1/defaults.go, v1.36
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from simulations.engine.api import shapes
from simulations.engine.api.labels import intern_labels
from simulations.engine.api.priority import admit_priority
from simulations.engine.api.workloads import PriorityClass, RuntimeClass
from simulations.engine.kernel.errors import ScenarioError

TOLERATION_SECONDS: Final = 300
NOT_READY: Final = "node.kubernetes.io/not-ready"
_KEYS: Final = (NOT_READY, "node.kubernetes.io/unreachable")


def with_default_tolerations(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Add the 300 s tolerations for not-ready and unreachable, where the Pod has none for that key and NoExecute."""
    own = list(spec.get("tolerations") or [])
    for key in _KEYS:
        if not any(_covers(toleration, key) for toleration in own):
            own.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION_SECONDS})
    return {**spec, "tolerations": own}


def _covers(toleration: Mapping[str, Any], key: str) -> bool:
    return toleration.get("key") in (key, None, "") and toleration.get("effect") in ("NoExecute", None, "")


def with_label_keys(spec: Mapping[str, Any], labels: Mapping[str, Any]) -> dict[str, Any]:
    """Write the Pod's own values for matchLabelKeys and mismatchLabelKeys into the selectors: they stay when its labels change.

    Keys that the Pod has no label for, terms without a selector and keys that a selector names already are left alone.
    """
    changed: dict[str, Any] = json.loads(json.dumps(spec))
    for term in _keyed_terms(changed):
        selector = term.get("labelSelector")
        if not isinstance(selector, dict):
            continue
        known = {(e.get("key"), e.get("operator")) for e in selector.get("matchExpressions") or []}
        new = [
            {"key": key, "operator": operator, "values": [labels[key]]}
            for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
            for key in term.get(field) or []
            if key in labels and (key, operator) not in known
        ]
        if new:
            selector["matchExpressions"] = [*(selector.get("matchExpressions") or []), *new]
    return changed


def _keyed_terms(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The affinity terms and spread constraints that have such keys."""
    affinity = spec.get("affinity") or {}
    kinds = [affinity.get(kind) or {} for kind in ("podAffinity", "podAntiAffinity")] if isinstance(affinity, Mapping) else []
    found: list[Any] = list(spec.get("topologySpreadConstraints") or [])
    for kind in kinds:
        found += kind.get("requiredDuringSchedulingIgnoredDuringExecution") or []
        preferred = kind.get("preferredDuringSchedulingIgnoredDuringExecution") or []
        found += [item.get("podAffinityTerm") for item in preferred if isinstance(item, Mapping)]
    return [term for term in found if isinstance(term, dict) and (term.get("matchLabelKeys") or term.get("mismatchLabelKeys"))]


def with_runtime_class(spec: Mapping[str, Any], found: RuntimeClass | None) -> tuple[Mapping[str, Any], str]:
    """The spec with its RuntimeClass's overhead, node selector and tolerations; and why it is forbidden (empty: it is not)."""
    name, own = spec.get("runtimeClassName"), spec.get("overhead")
    if name and found is None:
        return spec, f'pod rejected: RuntimeClass "{name}" not found'
    if found is None or not found.overhead:
        return spec, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead" if own else ""
    if own and dict(own) != found.overhead:
        return spec, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in found.node_selector.items():
        if selector.setdefault(key, value) != value:
            text = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {selector[key]}"
            return spec, f"conflict: {text}"
    tolerations = list(spec.get("tolerations") or [])
    tolerations += [toleration for toleration in found.tolerations if toleration not in tolerations]
    more = {"nodeSelector": selector, "tolerations": tolerations}
    return {**spec, "overhead": dict(found.overhead), **{key: value for key, value in more.items() if value}}, ""


def with_not_ready_taint(document: Mapping[str, Any]) -> dict[str, Any]:
    """A new Node takes no Pods until the node lifecycle controller has seen that it is ready (TaintNodesByCondition)."""
    spec = dict(document.get("spec") or {})
    taints = [taint for taint in spec.get("taints") or [] if taint.get("key") != NOT_READY or taint.get("effect") != "NoSchedule"]
    return {**document, "spec": {**spec, "taints": [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]}}


class PodAdmission:
    """Admits specs; Pods that share one spec (a template) are admitted once, with label keys once for each set of labels."""

    def __init__(self, classes: dict[str, PriorityClass]) -> None:
        self._classes = classes
        self._known: dict[int, tuple[Mapping[str, Any], dict[str, Any], bool]] = {}
        self._shaped: dict[int, tuple[object, ScenarioError | None]] = {}
        self._keyed: dict[tuple[int, int], tuple[Mapping[str, Any], dict[str, Any]]] = {}

    def forget(self) -> None:
        """Priority classes changed."""
        self._known.clear()
        self._keyed.clear()

    def misshapen(self, spec: object) -> ScenarioError | None:
        """The first field of a Pod's spec that has another type than it should; specs that Pods share are looked at once."""
        known = self._shaped.get(id(spec))
        if known is not None and known[0] is spec:
            return known[1]
        found = shapes.of_spec(spec)
        self._shaped[id(spec)] = (spec, found)
        return found

    def admit(self, spec: Mapping[str, Any], labels: Mapping[str, Any]) -> dict[str, Any]:
        """The spec as it is stored.

        Raises:
            ScenarioError: E0212, the priority class does not exist or the Pod's own priority differs from it.
        """
        known = self._known.get(id(spec))
        if known is None or known[0] is not spec:
            admitted = with_default_tolerations(admit_priority(spec, self._classes))
            known = self._known[id(spec)] = (spec, admitted, bool(_keyed_terms(spec)))
        return self._with_label_keys(known[1], labels) if known[2] else known[1]

    def _with_label_keys(self, spec: dict[str, Any], labels: Mapping[str, Any]) -> dict[str, Any]:
        texts = {key: value for key, value in labels.items() if isinstance(key, str) and isinstance(value, str)}
        key = (id(spec), intern_labels(texts).id)
        known = self._keyed.get(key)
        if known is None or known[0] is not spec:
            known = self._keyed[key] = (spec, with_label_keys(spec, texts))
        return known[1]
