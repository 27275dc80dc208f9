"""What Pods that are nominated to Nodes would take there, in columns that are kept up to date."""

import copy
from typing import Final

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import counted_requests

_KEY: Final = "nominated usage"
_MAX_PRIORITIES: Final = 16


class NominatedUsage:
    """The Pods nominated with at least some priority: how many there are on each row, and what they ask for together."""

    def __init__(self, priority: int) -> None:
        self._priority = priority
        self._nominations = self._version = -1
        self.pods: Ints = np.zeros(0, dtype=np.int64)
        self._cpu: Ints = self.pods
        self._memory: Ints = self.pods
        self._requested: dict[str, Ints] = {}

    def update(self, cache: SchedulerCache) -> None:
        """Count again where nominations changed; everywhere, if Nodes did."""
        nominator, columns = cache.nominator, cache.columns
        if self._version != columns.version:
            self._version, self._nominations = columns.version, -1
            self.pods, self._cpu, self._memory = (np.zeros(len(columns.valid), dtype=np.int64) for _ in range(3))
            self._requested = {}
        for name in nominator.changed_since(self._nominations):
            info = cache.infos.get(name)
            if info is not None:
                self._clear(info.row)
                for pod in nominator.pods_on(name):
                    if pod.priority >= self._priority:
                        self._add(info.row, pod, 1)
        self._nominations = nominator.clock

    def without(self, pod: Pod, row: int) -> "NominatedUsage":
        """The same as if this Pod were not nominated to the row."""
        other = copy.copy(self)
        other.pods, other._cpu, other._memory = self.pods.copy(), self._cpu.copy(), self._memory.copy()
        other._requested = {resource: column.copy() for resource, column in self._requested.items()}
        other._add(row, pod, -1)
        return other

    def added_to(self, columns: Columns) -> Columns:
        """A view of the columns in which these Pods are on their Nodes as well."""
        return columns.with_more(self.pods, self._cpu, self._memory, self._requested)

    def _clear(self, row: int) -> None:
        for column in (self.pods, self._cpu, self._memory, *self._requested.values()):
            column[row] = 0

    def _add(self, row: int, pod: Pod, times: int) -> None:
        self.pods[row] += times
        self._cpu[row] += times * pod.spec.nonzero_cpu
        self._memory[row] += times * pod.spec.nonzero_memory
        for resource, amount in counted_requests(pod.spec):
            if resource not in self._requested:
                self._requested[resource] = np.zeros(len(self.pods), dtype=np.int64)
            self._requested[resource][row] += times * amount


def nominated_usage(cache: SchedulerCache, pod: Pod) -> NominatedUsage:
    """What the nominated Pods take that count for this one: those of equal or higher priority, itself left out."""
    known: dict[int, NominatedUsage] = cache.derived.setdefault(_KEY, {})
    usage = known.get(pod.priority)
    if usage is None:
        if len(known) >= _MAX_PRIORITIES:
            known.clear()
        usage = known[pod.priority] = NominatedUsage(pod.priority)
    usage.update(cache)
    own = cache.infos.get(cache.nominator.node_of(pod.uid))
    if own is None:
        return usage
    nominated = next(p for p in cache.nominator.pods_on(own.name) if p.uid == pod.uid)
    return usage.without(nominated, own.row) if nominated.priority >= pod.priority else usage
