"""Picks the Node among the scored ones, ties included, as the real scheduler's heap does.

Without extenders every Node has the same random part (0), so the shape of Go's heap decides ties: after heapify the root is the
best score that comes first when the implicit binary tree is walked node, left, right.

Source: pkg/scheduler/schedule_one.go, selectHost and nodeScoreHeap; container/heap of Go
"""

import numpy as np

from simulations.engine.scheduler.cache.columns import Ints

_ranks: dict[int, Ints] = {}


def _preorder_ranks(size: int) -> Ints:
    """For each index of a heap of this size, its place in a preorder walk."""
    known = _ranks.get(size)
    if known is None:
        known = np.zeros(size, dtype=np.int64)
        stack, place = [0], 0
        while stack:
            index = stack.pop()
            if index < size:
                known[index] = place
                place += 1
                stack.extend((2 * index + 2, 2 * index + 1))
        _ranks[size] = known
    return known


def select_host(total: Ints) -> int:
    """The index of the chosen Node; `total` has the weighted totals in the order in which the Nodes were found feasible."""
    best = (total == total.max()).nonzero()[0]
    if len(best) == 1:
        return int(best[0])
    return int(best[_preorder_ranks(len(total))[best].argmin()])
