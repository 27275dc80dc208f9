"""The changes that would have let a pod fit, in words."""

from collections.abc import Callable
from typing import Final

_TEXTS: Final[dict[str, Callable[[str, str, str], str]]] = {
    "request": lambda target, before, after: f"request {target} {after} instead of {before}",
    "toleration": lambda target, _before, _after: f"tolerate the taint {target}",
    "nodeSelector": lambda target, _before, _after: f"drop {target} from the node selector",
    "nodeAffinity": lambda target, _before, _after: f"drop from the required node affinity: {target}",
    "podAffinity": lambda target, _before, _after: f"drop {target}, of the required pod affinity",
    "podAntiAffinity": lambda target, _before, _after: f"drop {target}, of the required pod anti-affinity",
    "maxSkew": lambda target, before, after: f"allow a skew of {after} instead of {before} over {target}",
    "spread": lambda target, _before, _after: f"spread over {target} only where it can (ScheduleAnyway)",
    "hostPort": lambda target, _before, _after: f"give up the host port {target}",
    "priority": lambda _target, before, after: f"have priority {after} instead of {before}",
    "uncordon": lambda target, _before, _after: f"uncordon {target}",
    "label": lambda target, _before, after: f"label {target} with {after}",
    "recover": lambda target, _before, _after: f"bring {target} back",
    "addNode": lambda _target, _before, after: f"one more node like {after}",
    "free": lambda target, _before, _after: f"delete pods from {target}",
}


def part_text(kind: str, target: str, before: str, after: str) -> str:
    """One change, without its subject: `request cpu 500m instead of 2`, `uncordon node-3`."""
    return _TEXTS[kind](target, before, after)
