"""What nodes are used by, in amounts and in percent, and the amounts up to which they may be used.

Percentages are floating point numbers, as upstream's are, worked out in the same order of operations.

Source: pkg/framework/plugins/nodeutilization/{nodeutilization.go,normalizer/normalizer.go,usageclients.go}, descheduler v0.36
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.descheduler.framework.cluster import ClusterView

BASIC: Final = ("cpu", "memory", "pods")
Amounts = dict[str, int]
Percents = dict[str, float]


@dataclass(slots=True, eq=False)
class NodeUsage:
    """A node, its pods that have not ended, what they request (and their number), and that in percent of allocatable."""

    node: Node
    pods: Sequence[Pod]
    used: Amounts
    percent: Percents

    @property
    def size(self) -> int:
        """The sum of all amounts as they are, milliCPU and bytes and pods: nodes are sorted by it."""
        return sum(self.used.values())


def resource_names(thresholds: Iterable[str]) -> tuple[str, ...]:
    """The resources that are looked at: those with a threshold, and the basic ones."""
    return tuple(sorted({*thresholds, *BASIC}))


def usage_of(view: ClusterView, nodes: Sequence[Node], resources: Sequence[str]) -> list[NodeUsage]:
    """The usage of each node by what its pods request."""
    found = []
    for node in nodes:
        pods = view.unfinished_on(node.name)
        used = dict.fromkeys(resources, 0)
        for pod in pods:
            requests = pod.spec.requests
            for name in resources:
                used[name] += requests.get(name, 0)
        used["pods"] = len(pods)
        found.append(NodeUsage(node, pods, used, _percent(used, node.allocatable)))
    return found


def _percent(used: Amounts, allocatable: Mapping[str, int]) -> Percents:
    return {
        name: amount / allocatable[name] * 100 if allocatable[name] > 0 else 0.0
        for name, amount in used.items()
        if name in allocatable
    }


def deviating(usages: Sequence[NodeUsage], low: Mapping[str, float], high: Mapping[str, float]) -> tuple[Percents, Percents]:
    """Thresholds around the mean of the nodes' percentages, within 0 and 100."""
    means: Percents = {}
    for name in low:
        found = [usage.percent[name] for usage in usages if name in usage.percent]
        if found:
            means[name] = sum(found) / len(found)
    return (
        {name: _clamped(mean - low.get(name, 0.0)) for name, mean in means.items()},
        {name: _clamped(mean + high.get(name, 0.0)) for name, mean in means.items()},
    )


def _clamped(percent: float) -> float:
    return min(max(percent, 0.0), 100.0)


def is_under(usage: NodeUsage, thresholds: Mapping[str, float]) -> bool:
    """Whether no resource with a threshold is used above it."""
    return all(usage.percent.get(name, 0.0) <= percent for name, percent in thresholds.items())


def is_over(usage: NodeUsage, thresholds: Mapping[str, float]) -> bool:
    """Whether any resource with a threshold is used above it."""
    return any(usage.percent.get(name, 0.0) > percent for name, percent in thresholds.items())


def caps(node: Node, thresholds: Mapping[str, float], resources: Sequence[str]) -> Amounts:
    """Up to what amount the node may be used: that percentage of allocatable, all of it for a resource without a threshold."""
    return {name: _cap(node.allocatable.get(name, 0), thresholds.get(name)) for name in resources}


def _cap(allocatable: int, percent: float | None) -> int:
    return allocatable if percent is None else int(percent * 0.01 * float(allocatable))


def grouped(usages: Sequence[NodeUsage], group_of: Callable[[NodeUsage], str], groups: Sequence[str]) -> dict[str, list[NodeUsage]]:
    """The nodes by group."""
    found: dict[str, list[NodeUsage]] = {group: [] for group in groups}
    for usage in usages:
        found[group_of(usage)].append(usage)
    return found


def node_notes(groups: Mapping[str, Sequence[NodeUsage]], low: Mapping[str, float], high: Mapping[str, float]) -> dict[str, Any]:
    """How nodes were sorted, for the records: the thresholds, and each node with its group and its percentages."""
    names = sorted({name for usages in groups.values() for usage in usages for name in usage.percent})
    rows = [
        [usage.node.name, group, [round(usage.percent.get(name, 0.0), 2) for name in names]]
        for group, usages in groups.items()
        for usage in usages
    ]
    return {"resources": names, "low": _rounded(low), "high": _rounded(high), "nodes": sorted(rows)}


def _rounded(thresholds: Mapping[str, float]) -> Percents:
    return {name: round(thresholds[name], 2) for name in sorted(thresholds)}
