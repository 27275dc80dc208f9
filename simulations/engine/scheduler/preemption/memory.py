"""Dry runs that still hold: a Node where nothing changed has the same victims for the next preemptor of the same spec."""

from typing import Final

from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.search import Search
from simulations.engine.scheduler.framework.status import Status
from simulations.engine.scheduler.preemption.victims import Candidate, select_victims

_KEY: Final = "dry runs"
_MAX_ENTRIES: Final = 200_000

AsOf = tuple[int, int, int]


class DryRuns:
    """The outcome of each Node's last dry run by profile and Pod spec, with what it depended on.

    Used where Filter depends on each Node and its Pods alone: then the outcome depends on the Node, its Pods, the Pods nominated to it
    and the budgets. (Pods that have not started are the least important of their priority, whatever the time is.)
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], tuple[AsOf, str, Candidate | Status]] = {}

    def victims(self, search: Search, info: NodeInfo, now: SimTime) -> Candidate | Status:
        """The victims on a Node, remembered or found out. The cycle must filter locally."""
        cache, pod = search.cache, search.pod
        as_of = (cache.columns.changed(info.row), cache.nominator.changed(info.name), cache.listers.budgets_version)
        key = (search.framework.profile, pod.spec.id, info.row)
        known = self._known.get(key)
        own = pod.uid if cache.nominator.node_of(pod.uid) == info.name else ""
        if known is not None and known[0] == as_of and known[1] == own:
            return known[2]
        found = select_victims(search, info, now)
        if len(self._known) >= _MAX_ENTRIES:
            self._known.clear()
        self._known[key] = (as_of, own, found)
        return found


def dry_runs(cache: SchedulerCache) -> DryRuns:
    """The dry runs that are kept with a cache."""
    known = cache.derived.get(_KEY)
    if not isinstance(known, DryRuns):
        known = cache.derived[_KEY] = DryRuns()
    return known
