"""Label selectors and node selector terms, parsed once and compared by value.

Source: staging/src/k8s.io/apimachinery/pkg/labels/selector.go and
staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go, v1.36
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.api.labels import Labels
from simulations.engine.kernel.errors import ScenarioError

SET_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")
NODE_OPERATORS: Final = (*SET_OPERATORS, "Gt", "Lt")
_INT64 = re.compile(r"[+-]?\d+\Z", re.ASCII)


def parse_int64(text: str) -> int | None:
    """The integer that Go's ParseInt(text, 10, 64) reads, or None."""
    if not _INT64.match(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


@dataclass(frozen=True, slots=True)
class Requirement:
    """`key operator values`. NotIn and DoesNotExist hold where the key is absent; Gt and Lt need one int64 on both sides."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy the requirement."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
        return value is not None and self._compares(value)

    def _compares(self, value: str) -> bool:
        ours = parse_int64(value)
        theirs = parse_int64(self.values[0]) if len(self.values) == 1 else None
        if ours is None or theirs is None:
            return False
        return ours > theirs if self.operator == "Gt" else ours < theirs

    def to_manifest(self) -> dict[str, Any]:
        """The requirement as a manifest writes it."""
        manifest: dict[str, Any] = {"key": self.key, "operator": self.operator}
        if self.values:
            manifest["values"] = list(self.values)
        return manifest


class LabelSelector:
    """A conjunction of requirements. `{}` matches everything; a selector that is nil is None in the object that has it.

    Equal selectors have equal `requirements`, which are sorted. Matches are remembered per interned label set.
    """

    __slots__ = ("_known", "requirements")

    def __init__(self, requirements: tuple[Requirement, ...]) -> None:
        self.requirements: Final = tuple(sorted(requirements, key=lambda r: (r.key, r.operator, r.values)))
        self._known: dict[int, bool] = {}

    @property
    def empty(self) -> bool:
        """Whether the selector is `{}`."""
        return not self.requirements

    def matches(self, labels: Labels) -> bool:
        """Whether all requirements hold for the labels."""
        known = self._known.get(labels.id)
        if known is None:
            known = self._known[labels.id] = all(r.holds(labels) for r in self.requirements)
        return known

    def with_requirements(self, extra: tuple[Requirement, ...]) -> "LabelSelector":
        """The selector that asks for `extra` as well."""
        return LabelSelector(tuple(dict.fromkeys(self.requirements + extra))) if extra else self

    def to_manifest(self) -> dict[str, Any]:
        """The selector as a manifest writes it: single values under matchLabels, the rest as expressions."""
        labels = {r.key: r.values[0] for r in self.requirements if r.operator == "In" and len(r.values) == 1}
        rest = [r for r in self.requirements if not (r.operator == "In" and len(r.values) == 1 and labels[r.key] == r.values[0])]
        manifest: dict[str, Any] = {"matchLabels": labels} if labels else {}
        if rest:
            manifest["matchExpressions"] = [r.to_manifest() for r in rest]
        return manifest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelSelector) and self.requirements == other.requirements

    def __hash__(self) -> int:
        return hash(self.requirements)

    def __repr__(self) -> str:
        return f"LabelSelector({self.to_manifest()!r})"


@dataclass(frozen=True, slots=True)
class NodeSelectorTerm:
    """Requirements on labels and on the field `metadata.name`, all of which must hold; a term without any matches nothing.

    `valid` is False for a term that does not parse (an operator or a field that does not exist): it matches nothing.
    """

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    valid: bool = True

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node of this name and these labels is meant."""
        if not self.valid or not (self.expressions or self.fields):
            return False
        return all(r.holds(labels) for r in self.expressions) and all(r.holds({"metadata.name": name}) for r in self.fields)

    def pinned_names(self) -> tuple[str, ...] | None:
        """The names that `metadata.name In` allows, in order; None when the term has no such requirement."""
        names: tuple[str, ...] | None = None
        for requirement in self.fields:
            if requirement.key == "metadata.name" and requirement.operator == "In":
                names = requirement.values if names is None else tuple(n for n in names if n in requirement.values)
        return names

    @property
    def keys(self) -> tuple[str, ...]:
        """The label keys that the term looks at."""
        return tuple(r.key for r in self.expressions)


def parse_selector(document: object, path: str) -> LabelSelector | None:
    """Read a `LabelSelector` manifest; None stays None.

    Raises:
        ScenarioError: E0209, an operator, key or value list is not allowed.
    """
    if document is None:
        return None
    if not isinstance(document, Mapping):
        raise ScenarioError("E0209", "a selector is a mapping with matchLabels or matchExpressions", path)
    unknown = sorted(str(k) for k in document if k not in ("matchLabels", "matchExpressions"))
    if unknown:
        raise ScenarioError("E0209", f"{unknown[0]} is no part of a selector (matchLabels, matchExpressions)", path)
    found: list[Requirement] = []
    match_labels = document.get("matchLabels") or {}
    if not isinstance(match_labels, Mapping):
        raise ScenarioError("E0209", "matchLabels is a mapping from key to value", f"{path}.matchLabels")
    for key, value in match_labels.items():
        if not isinstance(value, str):
            raise ScenarioError("E0209", f"the value of {key} must be text (put it in quotes)", f"{path}.matchLabels[{key}]")
        found.append(Requirement(str(key), "In", (value,)))
    expressions = document.get("matchExpressions") or []
    found.extend(parse_requirements(expressions, f"{path}.matchExpressions", SET_OPERATORS))
    return LabelSelector(tuple(dict.fromkeys(found)))


def parse_requirements(items: object, path: str, operators: tuple[str, ...]) -> list[Requirement]:
    """Read a list of `{key, operator, values}`.

    Raises:
        ScenarioError: E0209 with the path of the item at fault.
    """
    if not isinstance(items, list):
        raise ScenarioError("E0209", "expected a list of requirements", path)
    return [_parse_requirement(item, f"{path}[{i}]", operators) for i, item in enumerate(items)]


def _parse_requirement(item: object, path: str, operators: tuple[str, ...]) -> Requirement:
    if not isinstance(item, Mapping) or not isinstance(item.get("key"), str) or not item["key"]:
        raise ScenarioError("E0209", "a requirement has a key and an operator", path)
    operator = item.get("operator")
    if operator not in operators:
        raise ScenarioError("E0209", f'Invalid value: "{operator}": not a valid selector operator', f"{path}.operator")
    values = item.get("values") or []
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise ScenarioError("E0209", "values is a list of texts", f"{path}.values")
    if operator in ("In", "NotIn") and not values:
        raise ScenarioError("E0209", "Required value: must be specified when `operator` is 'In' or 'NotIn'", f"{path}.values")
    if operator in ("Exists", "DoesNotExist") and values:
        text = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        raise ScenarioError("E0209", text, f"{path}.values")
    if operator in ("Gt", "Lt") and len(values) != 1:
        text = "Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"
        raise ScenarioError("E0209", text, f"{path}.values")
    return Requirement(item["key"], operator, tuple(values))


def parse_node_term(document: object, path: str) -> NodeSelectorTerm:
    """Read a `NodeSelectorTerm`.

    Raises:
        ScenarioError: E0209.
    """
    if not isinstance(document, Mapping):
        raise ScenarioError("E0209", "a node selector term has matchExpressions or matchFields", path)
    expressions = parse_requirements(document.get("matchExpressions") or [], f"{path}.matchExpressions", NODE_OPERATORS)
    fields = parse_requirements(document.get("matchFields") or [], f"{path}.matchFields", ("In", "NotIn"))
    for i, requirement in enumerate(fields):
        if requirement.key != "metadata.name":
            text = f'Invalid value: "{requirement.key}": not a valid field selector key'
            raise ScenarioError("E0209", text, f"{path}.matchFields[{i}].key")
        if len(requirement.values) != 1:
            text = "Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            raise ScenarioError("E0209", text, f"{path}.matchFields[{i}].values")
    return NodeSelectorTerm(tuple(expressions), tuple(fields))
