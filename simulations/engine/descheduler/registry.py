"""Every plugin of the descheduler by name: how its arguments are read, how it is made, at which points it can be enabled.

Source: pkg/descheduler/setupplugins.go, descheduler v0.36
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.descheduler.framework.args import ArgReader
from simulations.engine.descheduler.framework.plugin import AnyPlugin, Handle
from simulations.engine.descheduler.plugins import default_evictor, node_utilization
from simulations.engine.descheduler.plugins.pod_life_time import PodLifeTime, PodLifeTimeArgs
from simulations.engine.descheduler.plugins.remove_duplicates import RemoveDuplicates, RemoveDuplicatesArgs
from simulations.engine.descheduler.plugins.remove_failed_pods import RemoveFailedPods, RemoveFailedPodsArgs
from simulations.engine.descheduler.plugins.remove_pods_having_too_many_restarts import (
    RemovePodsHavingTooManyRestarts,
    RemovePodsHavingTooManyRestartsArgs,
)
from simulations.engine.descheduler.plugins.remove_pods_violating_inter_pod_anti_affinity import (
    RemovePodsViolatingInterPodAntiAffinity,
    RemovePodsViolatingInterPodAntiAffinityArgs,
)
from simulations.engine.descheduler.plugins.remove_pods_violating_node_affinity import (
    RemovePodsViolatingNodeAffinity,
    RemovePodsViolatingNodeAffinityArgs,
)
from simulations.engine.descheduler.plugins.remove_pods_violating_node_taints import (
    RemovePodsViolatingNodeTaints,
    RemovePodsViolatingNodeTaintsArgs,
)
from simulations.engine.descheduler.plugins.remove_pods_violating_topology_spread_constraint import (
    RemovePodsViolatingTopologySpreadConstraint,
    RemovePodsViolatingTopologySpreadConstraintArgs,
)

DESCHEDULE, BALANCE, FILTER, PRE_EVICTION_FILTER = "deschedule", "balance", "filter", "preEvictionFilter"
POINTS: Final = (DESCHEDULE, BALANCE, FILTER, PRE_EVICTION_FILTER)
DEFAULT_EVICTOR: Final = default_evictor.DefaultEvictor.NAME


@dataclass(frozen=True, slots=True)
class Entry:
    """A plugin: reads its arguments (noting what is wrong), is made of them, and can be enabled at these points."""

    read: Callable[[ArgReader], Any]
    make: Callable[[Any, Handle], AnyPlugin]
    points: tuple[str, ...]


REGISTRY: Final[dict[str, Entry]] = {
    DEFAULT_EVICTOR: Entry(default_evictor.read_args, default_evictor.DefaultEvictor, (FILTER, PRE_EVICTION_FILTER)),
    "HighNodeUtilization": Entry(node_utilization.read_high, node_utilization.HighNodeUtilization, (BALANCE,)),
    "LowNodeUtilization": Entry(node_utilization.read_low, node_utilization.LowNodeUtilization, (BALANCE,)),
    PodLifeTime.NAME: Entry(PodLifeTimeArgs.read, PodLifeTime, (DESCHEDULE,)),
    RemoveDuplicates.NAME: Entry(RemoveDuplicatesArgs.read, RemoveDuplicates, (BALANCE,)),
    RemoveFailedPods.NAME: Entry(RemoveFailedPodsArgs.read, RemoveFailedPods, (DESCHEDULE,)),
    RemovePodsHavingTooManyRestarts.NAME: Entry(
        RemovePodsHavingTooManyRestartsArgs.read, RemovePodsHavingTooManyRestarts, (DESCHEDULE,)
    ),
    RemovePodsViolatingInterPodAntiAffinity.NAME: Entry(
        RemovePodsViolatingInterPodAntiAffinityArgs.read, RemovePodsViolatingInterPodAntiAffinity, (DESCHEDULE,)
    ),
    RemovePodsViolatingNodeAffinity.NAME: Entry(
        RemovePodsViolatingNodeAffinityArgs.read, RemovePodsViolatingNodeAffinity, (DESCHEDULE,)
    ),
    RemovePodsViolatingNodeTaints.NAME: Entry(RemovePodsViolatingNodeTaintsArgs.read, RemovePodsViolatingNodeTaints, (DESCHEDULE,)),
    RemovePodsViolatingTopologySpreadConstraint.NAME: Entry(
        RemovePodsViolatingTopologySpreadConstraintArgs.read, RemovePodsViolatingTopologySpreadConstraint, (BALANCE,)
    ),
}
"""In the order of names, as `sets` print them."""
