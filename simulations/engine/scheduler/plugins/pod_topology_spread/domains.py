"""Topology domains of a Pod's constraints, and how many Pods are in each: what Filter and Score count.

Which Nodes take part changes only with Nodes, so it is remembered per Pod spec; the counts are kept up to date as Pods come and go.
"""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import TopologySpreadConstraint
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import ABSENT, Bools, Columns, Ids, Ints
from simulations.engine.scheduler.cache.pod_counts import CountColumn
from simulations.engine.scheduler.plugins.pod_topology_spread.common import Constraints, has_all_keys, included_mask, matching

_MAX_ENTRIES = 1024


@dataclass(frozen=True, slots=True)
class Domains:
    """One constraint over the Nodes.

    `ids` is each row's value id of the topology key; `groups` the same, and 0 for Nodes that the constraint leaves out. `present` tells
    which value ids are domains. `counted` counts the matching Pods per row; None where no existing Pod can match.
    """

    constraint: TopologySpreadConstraint
    key: Hashable
    ids: Ids
    groups: Ids
    present: Bools
    counted: CountColumn | None

    def counts(self) -> Ints:
        """Matching Pods per value id, on the Nodes that take part. Not to be changed."""
        if self.counted is None:
            return np.zeros(len(self.present), dtype=np.int64)
        return self.counted.sums(self.key, self.groups, len(self.present))


class DomainMemory:
    """The domains of constraints by Pod spec, until a Node changes or questions are asked anew."""

    def __init__(self, cache: SchedulerCache) -> None:
        self._cache = cache
        self._as_of = (-1, -1)
        self._known: dict[tuple[int, str, int], tuple[Constraints, tuple[Domains, ...], Bools]] = {}

    def of(self, pod: Pod, constraints: Constraints, *, require_all: bool) -> tuple[tuple[Domains, ...], Bools]:
        """The domains of each constraint, and which Nodes have all keys.

        With `require_all` only Nodes that have the keys of all constraints take part. `constraints` is told apart by identity.
        """
        as_of = (self._cache.columns.version, self._cache.counts.generation)
        if len(self._known) > _MAX_ENTRIES:
            self._cache.counts.forget_tallies()
            self._known.clear()
        if self._as_of != as_of:
            self._known.clear()
            self._as_of = as_of
        name = (pod.spec.id, pod.namespace, id(constraints))
        known = self._known.get(name)
        if known is None:
            keyed = has_all_keys(constraints, self._cache.columns)
            taking_part = keyed if require_all else self._cache.columns.valid
            domains = tuple(self._domains(pod, c, taking_part, (*name, i)) for i, c in enumerate(constraints))
            known = self._known[name] = (constraints, domains, keyed)  # keeps the constraints, and so their identity
        return known[1], known[2]

    def _domains(self, pod: Pod, constraint: TopologySpreadConstraint, taking_part: Bools, key: Hashable) -> Domains:
        columns: Columns = self._cache.columns
        label = columns.label(constraint.topology_key)
        mask = taking_part & included_mask(pod, constraint, columns)
        groups = np.where(mask, label.ids, ABSENT).astype(np.int32)
        present = np.zeros(len(label.values), dtype=np.bool_)
        present[groups] = True
        present[ABSENT] = False
        return Domains(constraint, key, label.ids, groups, present, matching(self._cache, pod.namespace, constraint.selector))
