"""The scoring strategies of NodeResourcesFit, for one Node and over columns.

Source: pkg/scheduler/framework/plugins/noderesources/{least_allocated,most_allocated,requested_to_capacity_ratio}.go, v1.36
"""

from collections.abc import Callable

import numpy as np

from simulations.engine.kernel.clock import truncated_div
from simulations.engine.scheduler.cache.columns import Ints
from simulations.engine.scheduler.plugins.node_resources.args import (
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    ScoringStrategy,
)

Shape = tuple[tuple[int, int], ...]
ResourceScore = Callable[[Ints, Ints], Ints]


def least(allocatable: Ints, requested: Ints) -> Ints:
    """The free part in percent; 0 where more is asked than there is."""
    return np.where(requested > allocatable, 0, (allocatable - requested) * 100 // allocatable)


def most(allocatable: Ints, requested: Ints) -> Ints:
    """The used part in percent, at most 100."""
    scores: Ints = np.minimum(requested, allocatable) * 100 // allocatable
    return scores


def ratio(shape: Shape) -> ResourceScore:
    """The broken line through the shape's points (scores times 10) at the utilization in percent."""
    points = tuple((utilization, score * 10) for utilization, score in shape)
    table = np.array([_broken_line(points, u) for u in range(101)], dtype=np.int64)

    def scores(allocatable: Ints, requested: Ints) -> Ints:
        utilization = np.where(requested > allocatable, 100, requested * 100 // allocatable)
        found: Ints = table[utilization]
        return found

    return scores


def _broken_line(points: Shape, utilization: int) -> int:
    for i, (at, score) in enumerate(points):
        if utilization <= at:
            if i == 0:
                return score
            before, low = points[i - 1]
            return low + truncated_div((score - low) * (utilization - before), at - before)
    return points[-1][1]


def resource_score(strategy: ScoringStrategy) -> ResourceScore:
    """The score of one resource under a strategy; allocatable must not be 0."""
    if strategy.type == LEAST_ALLOCATED:
        return least
    return most if strategy.type == MOST_ALLOCATED else ratio(strategy.shape)


def combine(strategy: ScoringStrategy, scores: list[Ints], weights: list[Ints]) -> Ints:
    """The weighted mean per Node; with the ratio strategy resources that score 0 are left out and the mean is rounded."""
    if not scores:
        return np.zeros(0, dtype=np.int64)
    parts = np.array(scores)
    shares = np.array(weights)
    if strategy.type in (LEAST_ALLOCATED, MOST_ALLOCATED):
        total = shares.sum(axis=0)
        means: Ints = np.where(total > 0, (parts * shares).sum(axis=0) // np.maximum(total, 1), 0)
        return means
    shares = np.where(parts > 0, shares, 0)
    total = shares.sum(axis=0)
    quotient = (parts * shares).sum(axis=0) / np.maximum(total, 1)
    return np.where(total > 0, np.floor(quotient + 0.5), 0).astype(np.int64)
