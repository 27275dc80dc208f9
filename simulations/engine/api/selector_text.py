"""Label selectors as one text, such as `zone in (a, b), disk=ssd, !spot`.

Source: staging/src/k8s.io/apimachinery/pkg/labels/selector.go, Parse, v1.36
"""

import re
from typing import Final

from simulations.engine.api.selectors import LabelSelector, Requirement, parse_int64
from simulations.engine.kernel.errors import ScenarioError

_KEY: Final = r"(?P<key>[A-Za-z0-9][-A-Za-z0-9_./]*)"
_PART: Final = re.compile(
    rf"\s*(?:(?P<not>!)\s*)?{_KEY}\s*"
    r"(?:(?P<set>in|notin)\s*\((?P<values>[^()]*)\)|(?P<operator>==|=|!=|>|<)\s*(?P<value>[-A-Za-z0-9_.]*))?\s*(?:,|\Z)"
)
_OPERATORS: Final = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt", "in": "In", "notin": "NotIn"}


def parse_selector_text(text: str, path: str) -> LabelSelector:
    """Read a selector; an empty text selects everything.

    Raises:
        ScenarioError: E0209, with the place where it stops making sense.
    """
    found: list[Requirement] = []
    at = 0
    while at < len(text.rstrip()):
        part = _PART.match(text, at)
        requirement = _requirement(part) if part is not None else None
        if part is None or requirement is None:
            raise ScenarioError("E0209", f"unable to parse the selector {text!r} at {text[at:].strip()!r}", path)
        found.append(requirement)
        at = part.end()
    if text.rstrip().endswith(","):
        raise ScenarioError("E0209", f"unable to parse the selector {text!r}: nothing after the last comma", path)
    return LabelSelector(tuple(dict.fromkeys(found)))


def _requirement(part: re.Match[str]) -> Requirement | None:
    key, operator = part["key"], part["set"] or part["operator"]
    if part["not"] or operator is None:
        return None if part["not"] and operator else Requirement(key, "DoesNotExist" if part["not"] else "Exists")
    if part["set"]:
        return Requirement(key, _OPERATORS[operator], tuple(sorted({value.strip() for value in part["values"].split(",")})))
    if operator in "<>" and parse_int64(part["value"]) is None:
        return None
    return Requirement(key, _OPERATORS[operator], (part["value"],))
