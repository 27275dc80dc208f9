"""Arguments of the node resources plugins, with the defaults of upstream.

Source: pkg/scheduler/apis/config/{types_pluginargs.go,v1/defaults.go}, v1.36
"""

from dataclasses import dataclass

LEAST_ALLOCATED = "LeastAllocated"
MOST_ALLOCATED = "MostAllocated"
REQUESTED_TO_CAPACITY_RATIO = "RequestedToCapacityRatio"

DEFAULT_RESOURCES = (("cpu", 1), ("memory", 1))


@dataclass(frozen=True, slots=True)
class ScoringStrategy:
    """How NodeResourcesFit scores: type, (resource, weight) pairs, and for the ratio its shape as (utilization %, score 0-10)."""

    type: str = LEAST_ALLOCATED
    resources: tuple[tuple[str, int], ...] = DEFAULT_RESOURCES
    shape: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class FitArgs:
    """`ignored_resources` and `ignored_groups` (prefixes before the slash) leave extended resources out of Filter."""

    ignored_resources: tuple[str, ...] = ()
    ignored_groups: tuple[str, ...] = ()
    strategy: ScoringStrategy = ScoringStrategy()


@dataclass(frozen=True, slots=True)
class BalancedAllocationArgs:
    """The resources to balance, as (resource, weight)."""

    resources: tuple[tuple[str, int], ...] = DEFAULT_RESOURCES
