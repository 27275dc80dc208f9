"""What the API server refuses of the fields of a Pod that say where it may run.

Source: pkg/apis/core/validation/validation.go (validateTopologySpreadConstraints, validateAffinity, ValidateTolerations,
validateSchedulingGates, validatePodResourceConsistency), v1.36
Differs: a label key of `matchLabelKeys` that a selector's expression names as well is let through: in a dump that expression is the
server's own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from simulations.engine.api.quantity import parse_quantity
from simulations.engine.kernel.errors import ScenarioError

Document = Mapping[str, Any]
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_LABEL_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?\Z")
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_WHEN: Final = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES: Final = ("Honor", "Ignore")
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS: Final = ("Equal", "Exists")
_PREEMPTION: Final = ("Never", "PreemptLowerPriority")
_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_NAMESPACE_TEXT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)


def where_it_may_run(spec: Document) -> Iterator[ScenarioError]:
    """All findings in a Pod's spec about tolerations, spread, affinity, gates, preemption and Pod-level resources."""
    for i, toleration in enumerate(_items(spec, "tolerations")):
        yield from _toleration(toleration, f"spec.tolerations[{i}]")
    yield from _spread(_items(spec, "topologySpreadConstraints"))
    affinity = _mapping(spec.get("affinity"))
    yield from _node_affinity(_mapping(affinity.get("nodeAffinity")), "spec.affinity.nodeAffinity")
    for kind in ("podAffinity", "podAntiAffinity"):
        yield from _pod_affinity(_mapping(affinity.get(kind)), f"spec.affinity.{kind}")
    yield from _gates(spec)
    policy = spec.get("preemptionPolicy")
    if policy is not None and policy not in _PREEMPTION:
        yield _unsupported(policy, _PREEMPTION, "spec.preemptionPolicy")
    yield from _pod_level(spec)


def _toleration(toleration: Document, path: str) -> Iterator[ScenarioError]:
    key, operator, effect = (str(toleration.get(field) or "") for field in ("key", "operator", "effect"))
    if not key and operator != "Exists":
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield _invalid(operator, text, f"{path}.operator")
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield _invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set", f"{path}.effect")
    value = str(toleration.get("value") or "")
    if operator in ("", "Equal"):
        if not _LABEL_VALUE.match(value):
            yield _invalid(value, _VALUE_TEXT, f"{path}.operator")
    elif operator == "Exists":
        if value:
            yield _invalid(value, "value must be empty when `operator` is 'Exists'", f"{path}.operator")
    else:
        yield _unsupported(operator, _OPERATORS, f"{path}.operator")
    if effect and effect not in _EFFECTS:
        yield _unsupported(effect, _EFFECTS, f"{path}.effect")


def _spread(constraints: Sequence[Document]) -> Iterator[ScenarioError]:
    for i, constraint in enumerate(constraints):
        path = f"spec.topologySpreadConstraints[{i}]"
        if not _positive(constraint.get("maxSkew")):
            yield _error(f"Invalid value: {constraint.get('maxSkew') or 0}: must be greater than zero", f"{path}.maxSkew")
        if not constraint.get("topologyKey"):
            yield _error("Required value: can not be empty", f"{path}.topologyKey")
        when = constraint.get("whenUnsatisfiable")
        if when not in _WHEN:
            yield _unsupported(when or "", _WHEN, f"{path}.whenUnsatisfiable")
        pair = (constraint.get("topologyKey"), when)
        if pair in [(other.get("topologyKey"), other.get("whenUnsatisfiable")) for other in constraints[i + 1 :]]:
            yield _error(f'Duplicate value: "{{{pair[0]}, {pair[1]}}}"', f"{path}.{{topologyKey, whenUnsatisfiable}}")
        yield from _min_domains(constraint.get("minDomains"), when, f"{path}.minDomains")
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if constraint.get(field) is not None and constraint[field] not in _POLICIES:
                yield _unsupported(constraint[field], _POLICIES, f"{path}.{field}")
        yield from _label_keys(constraint, "matchLabelKeys", f"{path}.matchLabelKeys")
        yield from _keys_in_selector(constraint, f"{path}.matchLabelKeys")


def _min_domains(number: object, when: object, path: str) -> Iterator[ScenarioError]:
    if number is None:
        return
    if not _positive(number):
        yield _error(f"Invalid value: {number}: must be greater than zero", path)
    if when != "DoNotSchedule":
        yield _error(f"Invalid value: {number}: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when or ''}", path)


def _node_affinity(affinity: Document, path: str) -> Iterator[ScenarioError]:
    required = affinity.get(_REQUIRED)
    if isinstance(required, Mapping) and not required.get("nodeSelectorTerms"):
        yield _error("Required value: must have at least one node selector term", f"{path}.{_REQUIRED}.nodeSelectorTerms")
    for i, term in enumerate(_items(affinity, _PREFERRED)):
        yield from _weight(term, f"{path}.{_PREFERRED}[{i}]")


def _pod_affinity(affinity: Document, path: str) -> Iterator[ScenarioError]:
    for i, term in enumerate(_items(affinity, _REQUIRED)):
        yield from _affinity_term(term, f"{path}.{_REQUIRED}[{i}]")
    for i, weighted in enumerate(_items(affinity, _PREFERRED)):
        yield from _weight(weighted, f"{path}.{_PREFERRED}[{i}]")
        yield from _affinity_term(_mapping(weighted.get("podAffinityTerm")), f"{path}.{_PREFERRED}[{i}].podAffinityTerm")


def _affinity_term(term: Document, path: str) -> Iterator[ScenarioError]:
    for name in term.get("namespaces") or ():
        if not _NAMESPACE.match(str(name)):
            yield _invalid(name, _NAMESPACE_TEXT, f"{path}.namespace")
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        yield from _label_keys(term, field, f"{path}.{field}")
    yield from _keys_in_selector(term, path)
    other = term.get("mismatchLabelKeys") or ()
    for i, key in enumerate(term.get("matchLabelKeys") or ()):
        if key in other:
            yield _invalid(key, "exists in both matchLabelKeys and mismatchLabelKeys", f"{path}.matchLabelKeys[{i}]")
    if not term.get("topologyKey"):
        yield _error("Required value: can not be empty", f"{path}.topologyKey")


def _label_keys(term: Document, field: str, path: str) -> Iterator[ScenarioError]:
    if term.get(field) and term.get("labelSelector") is None:
        yield _error("Forbidden: must not be specified when labelSelector is not set", path)


def _keys_in_selector(term: Document, path: str) -> Iterator[ScenarioError]:
    labels = _mapping(_mapping(term.get("labelSelector")).get("matchLabels"))
    for i, key in enumerate(term.get("matchLabelKeys") or ()):
        if key in labels:
            yield _invalid(key, "exists in both matchLabelKeys and labelSelector", f"{path}[{i}]")


def _weight(term: Document, path: str) -> Iterator[ScenarioError]:
    weight = term.get("weight")
    if not _positive(weight) or int(str(weight)) > 100:
        yield _error(f"Invalid value: {weight if weight is not None else 0}: must be in the range 1-100", f"{path}.weight")


def _gates(spec: Document) -> Iterator[ScenarioError]:
    seen: set[str] = set()
    for i, gate in enumerate(_items(spec, "schedulingGates")):
        name = str(gate.get("name") or "")
        if name in seen:
            yield _error(f'Duplicate value: "{name}"', f"spec.schedulingGates[{i}]")
        seen.add(name)


def _pod_level(spec: Document) -> Iterator[ScenarioError]:
    """Requests of a Pod may not be less than those of its containers together."""
    own = _mapping(_mapping(spec.get("resources")).get("requests"))
    for resource, value in own.items():
        try:
            whole = sum(_request(container, resource) for container in _items(spec, "containers"))
            if parse_quantity(value) < whole:
                text = f"must be greater than or equal to aggregate container requests of {_shown(spec, resource)}"
                yield _invalid(value, text, f"spec.resources.requests[{resource}]")
        except ScenarioError:
            return  # the amounts are looked at elsewhere


def _request(container: Document, resource: str) -> int:
    requests = _mapping(_mapping(container.get("resources")).get("requests"))
    return parse_quantity(requests[resource]) if resource in requests else 0


def _shown(spec: Document, resource: str) -> str:
    """The sum of the containers' requests as people write it, where there is but one; else the parts."""
    values = [_mapping(_mapping(c.get("resources")).get("requests")).get(resource) for c in _items(spec, "containers")]
    return " + ".join(str(value) for value in values if value is not None)


def _positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _mapping(value: object) -> Document:
    return value if isinstance(value, Mapping) else {}


def _items(document: Document, field: str) -> list[Document]:
    value = document.get(field) or []
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _error(text: str, path: str) -> ScenarioError:
    return ScenarioError("E0214", text, path)


def _invalid(value: object, text: str, path: str) -> ScenarioError:
    return _error(f'Invalid value: "{value}": {text}', path)


def _unsupported(value: object, known: Sequence[str], path: str) -> ScenarioError:
    shown = ", ".join(f'"{name}"' for name in known)
    return _error(f'Unsupported value: "{value}": supported values: {shown}', path)
