"""NodeResourcesBalancedAllocation: likes Nodes whose resources are used evenly.

Source: pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go, v1.36
"""

import math

import numpy as np
from numpy.typing import NDArray

from simulations.engine.api.pod import Pod
from simulations.engine.kernel.clock import truncated_div
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.plugin import CycleState, Plugin, Scope
from simulations.engine.scheduler.framework.status import SKIP, Status
from simulations.engine.scheduler.plugins.node_resources.allocation import column_usage, left_out, node_usage
from simulations.engine.scheduler.plugins.node_resources.args import BalancedAllocationArgs

Fractions = NDArray[np.float64]


class NodeResourcesBalancedAllocation(Plugin):
    """Scores how much more even the use becomes with the Pod; 75 is no change."""

    NAME = "NodeResourcesBalancedAllocation"
    SCORE_SCOPE = Scope.NODE_AND_PODS

    def __init__(self, args: BalancedAllocationArgs) -> None:
        self.resources = tuple(resource for resource, _weight in args.resources)

    def pre_score(self, state: CycleState, pod: Pod, rows: Ints) -> Status | None:
        """Skip for a Pod that asks for none of the resources."""
        return None if any(pod.spec.requests.get(r) for r in self.resources) else SKIP

    def score(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """The score of one Node."""
        with_pod, without = [], []
        for resource in self.resources:
            allocatable, requested = node_usage(pod, info, resource, nonzero=False)
            if allocatable and not left_out(pod, resource):
                with_pod.append(min(requested / allocatable, 1.0))
                without.append(min((requested - pod.spec.requests.get(resource, 0)) / allocatable, 1.0))
        return 50 + truncated_div(50 + int((1.0 - deviation(with_pod)) * 100.0) - int((1.0 - deviation(without)) * 100.0), 2)

    def score_columns(self, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        """The scores of these rows."""
        wanted = [r for r in self.resources if not left_out(pod, r)]
        return _balance(pod, [(r, *column_usage(pod, columns, rows, r, nonzero=False)) for r in wanted], len(rows))


def _balance(pod: Pod, usage: list[tuple[str, Ints, Ints]], size: int) -> Ints:
    present = [allocatable > 0 for _resource, allocatable, _requested in usage]
    with_pod, without = [], []
    for (resource, allocatable, requested), there in zip(usage, present, strict=True):
        safe = np.where(there, allocatable, 1)
        with_pod.append(np.minimum(requested / safe, 1.0))
        without.append(np.minimum((requested - pod.spec.requests.get(resource, 0)) / safe, 1.0))
    gain = _evenness(with_pod, present, size) - _evenness(without, present, size)
    half = 50 + gain
    return 50 + np.where(half >= 0, half // 2, -(-half // 2))


def _evenness(fractions: list[Fractions], present: list[NDArray[np.bool_]], size: int) -> Ints:
    """int((1 - std) * 100) with the standard deviation over the resources that a Node has."""
    if len(fractions) < 2:
        return np.full(size, 100, dtype=np.int64)
    if len(fractions) == 2:
        spread = np.where(present[0] & present[1], np.abs((fractions[0] - fractions[1]) / 2), 0.0)
    else:
        kept = ([float(f[i]) for f, there in zip(fractions, present, strict=True) if there[i]] for i in range(size))
        spread = np.fromiter((deviation(values) for values in kept), dtype=np.float64, count=size)
    return ((1.0 - spread) * 100.0).astype(np.int64)


def deviation(values: list[float]) -> float:
    """The population standard deviation, summed in the order of the resources; of two values half their distance."""
    if len(values) < 2:
        return 0.0
    if len(values) == 2:
        return abs((values[0] - values[1]) / 2)
    mean = sum(values) / len(values)
    return math.sqrt(sum((v - mean) * (v - mean) for v in values) / len(values))
