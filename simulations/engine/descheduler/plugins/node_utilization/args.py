"""The arguments of the two utilization plugins.

Source: pkg/framework/plugins/nodeutilization/{types.go,validation.go}, descheduler v0.36
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from simulations.engine.descheduler.framework.args import MISSHAPEN, ArgReader

REAL_USE: Final = "E0806"
ONLY_THRESHOLDING: Final = "OnlyThresholdingResources"
_NO_INCLUDE: Final = "only Exclude namespaces can be set, inclusion is not supported"
_DIFFERENT: Final = "thresholds and targetThresholds configured different resources"
_MOST_NODES: Final = 2**31
Thresholds = Mapping[str, float]
"""Percentages by resource, in the order of names."""


@dataclass(frozen=True, slots=True)
class LowNodeUtilizationArgs:
    """`per_node` is evictionLimits.node: how many pods the plugin evicts per node (None: any number)."""

    thresholds: Thresholds = field(default_factory=dict)
    target_thresholds: Thresholds = field(default_factory=dict)
    use_deviation: bool = False
    number_of_nodes: int = 0
    excluded_namespaces: tuple[str, ...] = ()
    per_node: int | None = None


@dataclass(frozen=True, slots=True)
class HighNodeUtilizationArgs:
    """With `only_thresholding` just pods that request a resource with a threshold are evicted."""

    thresholds: Thresholds = field(default_factory=dict)
    number_of_nodes: int = 0
    only_thresholding: bool = False
    excluded_namespaces: tuple[str, ...] = ()


def read_low(args: ArgReader) -> LowNodeUtilizationArgs:
    """Read the arguments of LowNodeUtilization; what is wrong is noted."""
    args.only(
        "useDeviationThresholds", "thresholds", "targetThresholds", "numberOfNodes", "metricsUtilization", "evictableNamespaces",
        "evictionLimits",
    )  # fmt: skip
    excluded = _excluded(args)
    deviation = args.flag("useDeviationThresholds")
    low = _thresholds(args, "thresholds", "thresholds config is not valid: ")
    high = _thresholds(args, "targetThresholds", "targetThresholds config is not valid: ")
    if low and high:
        _compare(args, low, high, deviation)
    if args.has("metricsUtilization"):
        text = "a simulated cluster has no figures of real use; leave it out, and requests are counted"
        args.wrong("metricsUtilization", text, REAL_USE)
    limits = args.sub("evictionLimits")
    limits.only("node")
    return LowNodeUtilizationArgs(low, high, deviation, _number_of_nodes(args), excluded, limits.unsigned("node"))


def read_high(args: ArgReader) -> HighNodeUtilizationArgs:
    """Read the arguments of HighNodeUtilization; what is wrong is noted."""
    args.only("thresholds", "numberOfNodes", "evictionModes", "evictableNamespaces")
    excluded = _excluded(args)
    thresholds = _thresholds(args, "thresholds", "")
    modes = args.texts("evictionModes")
    for i, mode in enumerate(modes):
        if mode != ONLY_THRESHOLDING:
            args.wrong(f"evictionModes[{i}]", f"invalid eviction mode {mode}")
    return HighNodeUtilizationArgs(thresholds, _number_of_nodes(args), ONLY_THRESHOLDING in modes, excluded)


def _number_of_nodes(args: ArgReader) -> int:
    return args.integer("numberOfNodes", -_MOST_NODES, _MOST_NODES) or 0


def _excluded(args: ArgReader) -> tuple[str, ...]:
    part = args.sub("evictableNamespaces")
    part.only("include", "exclude")
    if part.texts("include"):
        part.wrong("include", _NO_INCLUDE)
    return part.texts("exclude")


def _thresholds(args: ArgReader, name: str, said: str) -> dict[str, float]:
    part = args.sub(name)
    found: dict[str, float] = {}
    for resource in sorted(part.value, key=str):
        percent = part.value[resource]
        if isinstance(percent, bool) or not isinstance(percent, int | float):
            part.wrong(str(resource), f"{percent!r} is not a percentage", MISSHAPEN)
        elif not 0 <= percent <= 100:
            part.wrong(str(resource), f"{said}{resource} threshold not in [0, 100] range")
        else:
            found[str(resource)] = float(percent)
    if not part.value:
        args.wrong(name, f"{said}no resource threshold is configured")
    return found


def _compare(args: ArgReader, low: Thresholds, high: Thresholds, deviation: bool) -> None:
    given, targets = args.sub("thresholds").value, args.sub("targetThresholds").value
    if {*given} != {*targets}:
        for resource in sorted({str(name) for name in given} ^ {str(name) for name in targets}):
            args.wrong(f"{'targetThresholds' if resource in given else 'thresholds'}.{resource}", _DIFFERENT)
        return
    for resource, percent in low.items():
        if not deviation and percent > high.get(resource, 100):
            args.wrong(f"thresholds.{resource}", f"thresholds' {resource} percentage is greater than targetThresholds'")
