"""Every plugin by name, in the default order with its default weight. Nothing else imports a plugin.

Source: pkg/scheduler/apis/config/v1/default_plugins.go, v1.36
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.scheduler import plugin_args
from simulations.engine.scheduler.framework.plugin import Handle, Plugin
from simulations.engine.scheduler.plugins import marker
from simulations.engine.scheduler.plugins.default_preemption import DefaultPreemption, DefaultPreemptionArgs
from simulations.engine.scheduler.plugins.image_locality import ImageLocality
from simulations.engine.scheduler.plugins.inter_pod_affinity import InterPodAffinity, InterPodAffinityArgs
from simulations.engine.scheduler.plugins.node_affinity import NodeAffinity, NodeAffinityArgs
from simulations.engine.scheduler.plugins.node_name import NodeName
from simulations.engine.scheduler.plugins.node_ports import NodePorts
from simulations.engine.scheduler.plugins.node_resources import NodeResourcesBalancedAllocation, NodeResourcesFit
from simulations.engine.scheduler.plugins.node_resources.args import BalancedAllocationArgs, FitArgs, ScoringStrategy
from simulations.engine.scheduler.plugins.node_unschedulable import NodeUnschedulable
from simulations.engine.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from simulations.engine.scheduler.plugins.pod_topology_spread import PodTopologySpread, PodTopologySpreadArgs
from simulations.engine.scheduler.plugins.scheduling_gates import SchedulingGates
from simulations.engine.scheduler.plugins.taint_toleration import TaintToleration
from simulations.engine.scheduler.plugins.volume_binding import VolumeBinding, VolumeBindingArgs
from simulations.engine.scheduler.plugins.volume_restrictions import VolumeRestrictions
from simulations.engine.scheduler.plugins.volume_zone import VolumeZone

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """A plugin: how to make it from its arguments, the points it extends, its default Score weight, whether it is modelled."""

    make: Callable[[Document, Handle], Plugin]
    points: tuple[str, ...]
    weight: int = 0
    modelled: bool = True


def _fit(args: Document, _handle: Handle) -> Plugin:
    strategy = ScoringStrategy(*plugin_args.scoring_strategy(args))
    return NodeResourcesFit(FitArgs(*plugin_args.ignored_resources(args), strategy))


def _balanced(args: Document, _handle: Handle) -> Plugin:
    plugin_args.known_only(args, "resources")
    return NodeResourcesBalancedAllocation(BalancedAllocationArgs(plugin_args.resources(args.get("resources"), "resources")))


def _spread(args: Document, handle: Handle) -> Plugin:
    return PodTopologySpread(PodTopologySpreadArgs(*plugin_args.spread_defaults(args)), handle)


def _inter_pod(args: Document, handle: Handle) -> Plugin:
    return InterPodAffinity(InterPodAffinityArgs(*plugin_args.inter_pod(args)), handle)


def _volume_binding(args: Document, handle: Handle) -> Plugin:
    return VolumeBinding(VolumeBindingArgs(plugin_args.volume_binding(args)), handle)


def _preemption(args: Document, handle: Handle) -> Plugin:
    return DefaultPreemption(DefaultPreemptionArgs(*plugin_args.preemption(args)), handle)


def _plain(cls: Callable[[], Plugin], *known: str) -> Callable[[Document, Handle], Plugin]:
    """A plugin that reads nothing; `known` are arguments that upstream has for a part that is not modelled."""

    def make(args: Document, _handle: Handle) -> Plugin:
        plugin_args.known_only(args, *known)
        return cls()

    return make


def _with_handle(cls: Callable[[Handle], Plugin]) -> Callable[[Document, Handle], Plugin]:
    def make(args: Document, handle: Handle) -> Plugin:
        plugin_args.known_only(args)
        return cls(handle)

    return make


_FILTER = ("preFilter", "filter")
_FILTER_AND_SCORE = ("preFilter", "filter", "preScore", "score")

REGISTRY: Final[dict[str, Entry]] = {
    "SchedulingGates": Entry(_plain(SchedulingGates), ("preEnqueue",)),
    "PrioritySort": Entry(_plain(marker.PrioritySort), ("queueSort",)),
    "NodeUnschedulable": Entry(_plain(NodeUnschedulable), ("filter",)),
    "NodeName": Entry(_plain(NodeName), ("filter",)),
    "TaintToleration": Entry(_plain(TaintToleration), ("filter", "preScore", "score"), weight=3),
    "NodeAffinity": Entry(lambda a, _h: NodeAffinity(NodeAffinityArgs(plugin_args.added_affinity(a))), _FILTER_AND_SCORE, weight=2),
    "NodePorts": Entry(_with_handle(NodePorts), _FILTER),
    "NodeResourcesFit": Entry(_fit, _FILTER_AND_SCORE, weight=1),
    "VolumeRestrictions": Entry(_with_handle(VolumeRestrictions), _FILTER),
    "NodeVolumeLimits": Entry(_with_handle(NodeVolumeLimits), _FILTER),
    "VolumeBinding": Entry(_volume_binding, (*_FILTER_AND_SCORE, "reserve", "preBind"), weight=1),
    "VolumeZone": Entry(_with_handle(VolumeZone), _FILTER),
    "PodTopologySpread": Entry(_spread, _FILTER_AND_SCORE, weight=2),
    "InterPodAffinity": Entry(_inter_pod, _FILTER_AND_SCORE, weight=2),
    "DynamicResources": Entry(
        _plain(marker.DynamicResources, "filterTimeout", "bindingTimeout"),
        ("preEnqueue", *_FILTER, "postFilter", "score", "reserve", "preBind"),
        weight=2,
        modelled=False,
    ),
    "DefaultPreemption": Entry(_preemption, ("preEnqueue", "postFilter")),
    "NodeResourcesBalancedAllocation": Entry(_balanced, ("preScore", "score"), weight=1),
    "ImageLocality": Entry(_with_handle(ImageLocality), ("score",), weight=1),
    "DefaultBinder": Entry(_plain(marker.DefaultBinder), ("bind",)),
    "NodeDeclaredFeatures": Entry(_plain(marker.NodeDeclaredFeatures), _FILTER, modelled=False),
}
"""In the order in which they run at every extension point."""
