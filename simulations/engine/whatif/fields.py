"""The one table of what a what-if can change: names on the command line and in YAML, and how their values are read."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

Reader = Callable[[Any], Any]


def integer(value: object) -> int:
    """A whole number, also from text.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, bool) or not re.fullmatch(r"[+-]?\d{1,20}", str(value)):
        raise ValueError("must be a whole number")
    return int(str(value))


def decimal(value: object) -> float:
    """A number, also from text.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, bool) or not re.fullmatch(r"[+-]?\d{1,15}(\.\d{1,9})?", str(value)):
        raise ValueError("must be a number")
    return float(str(value))


def boolean(value: object) -> bool:
    """true or false, on or off.

    Raises:
        ValueError: it is neither.
    """
    try:
        return {"true": True, "false": False, "on": True, "off": False}[str(value).lower()]
    except KeyError:
        raise ValueError("must be true or false") from None


def text(value: object) -> str:
    """Text; numbers are written out.

    Raises:
        ValueError: it is a list or a mapping.
    """
    if isinstance(value, Mapping | list | bool):
        raise ValueError("must be text")
    return str(value)


TOP: Final[dict[str, Reader]] = {
    "async_preemption": boolean,
    "kubernetes_version": text,
    "percentage_of_nodes_to_score": integer,
    "scoring": text,
    "qps": decimal,
    "burst": integer,
    "api_latency": text,
    "preset": text,
    "kubelet_startup": text,
    "kubelet_stop": text,
    "seed": integer,
    "duration": text,
    "until_settled": boolean,
}
PODS: Final[dict[str, Reader]] = {
    "count": integer, "name_prefix": text, "namespace": text, "cpu": text, "memory": text, "priority": integer,
    "priority_class": text, "at": text,
}  # fmt: skip
NODES: Final[dict[str, Reader]] = {"count": integer, "like": text, "name_prefix": text, "cpu": text, "memory": text, "at": text}
NODE_CHANGE: Final[dict[str, Reader]] = {"node": text, "action": text, "taint": text, "at": text}
WORKLOAD_CHANGE: Final[dict[str, Reader]] = {
    "workload": text, "replicas": integer, "cpu": text, "memory": text, "priority_class": text, "at": text,
}  # fmt: skip
OBJECT_CHANGE: Final[dict[str, Reader]] = {"object": text, "delete": boolean, "at": text}


def snake(key: str) -> str:
    """`addPods` and `add-pods` as `add_pods`."""
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: "_" + match.group(1).lower(), key).replace("-", "_")


def camel(key: str) -> str:
    """`add_pods` as `addPods`."""
    head, *rest = key.split("_")
    return head + "".join(part.capitalize() for part in rest)
