"""The scoring strategies of NodeResourcesFit, for one Node and over columns.

Source: pkg/scheduler/framework/plugins/noderesources/{least_allocated,most_allocated,requested_to_capacity_ratio}.go, v1.36
"""

import math
from collections.abc import Sequence

import numpy as np

from simulations.engine.kernel.clock import truncated_div
from simulations.engine.scheduler.cache.columns import Ints
from simulations.engine.scheduler.plugins.node_resources.args import (
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    ScoringStrategy,
)

Shape = tuple[tuple[int, int], ...]
"""(utilization in percent, score) points."""
Parts = Sequence[tuple[int, int]]
"""(score, weight) of each resource of one Node."""


class Strategy:
    """The score of a resource by use, and of a Node by its resources; for one Node and over columns. Allocatable is never 0."""

    def resource(self, allocatable: int, requested: int) -> int:
        """The score of one resource of one Node."""
        raise NotImplementedError

    def resources(self, allocatable: Ints, requested: Ints) -> Ints:
        """The same for many Nodes."""
        raise NotImplementedError

    def node(self, parts: Parts) -> int:
        """The weighted mean of one Node; 0 without resources."""
        total = sum(weight for _score, weight in parts)
        return sum(score * weight for score, weight in parts) // total if total else 0

    def nodes(self, scores: Ints, weights: Ints) -> Ints:
        """The same for many Nodes: one row per resource, weight 0 where a Node has none of it."""
        total = weights.sum(axis=0)
        means: Ints = (scores * weights).sum(axis=0) // np.maximum(total, 1)
        return means


class LeastAllocated(Strategy):
    """The free part in percent; 0 where more is asked than there is."""

    def resource(self, allocatable: int, requested: int) -> int:
        """For one Node."""
        return 0 if requested > allocatable else (allocatable - requested) * 100 // allocatable

    def resources(self, allocatable: Ints, requested: Ints) -> Ints:
        """For many."""
        return np.where(requested > allocatable, 0, (allocatable - requested) * 100 // allocatable)


class MostAllocated(Strategy):
    """The used part in percent, at most 100."""

    def resource(self, allocatable: int, requested: int) -> int:
        """For one Node."""
        return min(requested, allocatable) * 100 // allocatable

    def resources(self, allocatable: Ints, requested: Ints) -> Ints:
        """For many."""
        scores: Ints = np.minimum(requested, allocatable) * 100 // allocatable
        return scores


class RequestedToCapacityRatio(Strategy):
    """The broken line through a shape's points (scores times 10) at the utilization in percent.

    Resources that score 0 are left out of the mean, and the mean is rounded.
    """

    def __init__(self, shape: Shape) -> None:
        points = tuple((utilization, score * 10) for utilization, score in shape)
        self._line = [broken_line(points, utilization) for utilization in range(101)]
        self._table: Ints = np.array(self._line, dtype=np.int64)

    def resource(self, allocatable: int, requested: int) -> int:
        """For one Node."""
        return self._line[100 if requested > allocatable else requested * 100 // allocatable]

    def resources(self, allocatable: Ints, requested: Ints) -> Ints:
        """For many."""
        found: Ints = self._table[np.where(requested > allocatable, 100, requested * 100 // allocatable)]
        return found

    def node(self, parts: Parts) -> int:
        """For one Node."""
        scored = [(score, weight) for score, weight in parts if score > 0]
        total = sum(weight for _score, weight in scored)
        return math.floor(sum(score * weight for score, weight in scored) / total + 0.5) if total else 0

    def nodes(self, scores: Ints, weights: Ints) -> Ints:
        """For many."""
        shares = np.where(scores > 0, weights, 0)
        total = shares.sum(axis=0)
        means = (scores * shares).sum(axis=0) / np.maximum(total, 1)
        return np.where(total > 0, np.floor(means + 0.5), 0).astype(np.int64)


def broken_line(points: Shape, utilization: int) -> int:
    """The value at a utilization: linear between points in Go's integers, flat outside."""
    for i, (at, score) in enumerate(points):
        if utilization <= at:
            if i == 0:
                return score
            before, low = points[i - 1]
            return low + truncated_div((score - low) * (utilization - before), at - before)
    return points[-1][1]


def strategy_of(strategy: ScoringStrategy) -> Strategy:
    """The strategy that the arguments ask for."""
    if strategy.type == LEAST_ALLOCATED:
        return LeastAllocated()
    return MostAllocated() if strategy.type == MOST_ALLOCATED else RequestedToCapacityRatio(strategy.shape)
