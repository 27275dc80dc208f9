"""Dry runs that still hold: a Node where nothing changed has the same victims for the next preemptor of the same spec."""

from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Ints
from simulations.engine.scheduler.framework.diagnosis import NodeStatuses
from simulations.engine.scheduler.framework.search import Search
from simulations.engine.scheduler.framework.status import Status
from simulations.engine.scheduler.preemption.victims import Candidate, select_victims

_KEY: Final = "dry runs"
_MAX_CELLS: Final = 2_000_000
"""Bounds the memory: specs kept times rows."""


class Kind(IntEnum):
    """What is known of a Node's dry run."""

    UNKNOWN = 0
    UNBROKEN = 1
    VIOLATING = 2
    NO_CANDIDATE = 3


class Outcomes:
    """The outcomes for one Pod spec, by row: candidates, or the statuses of the Nodes that are none."""

    def __init__(self, rows: int) -> None:
        self.kinds: NDArray[np.int8] = np.zeros(rows, dtype=np.int8)
        self.statuses = NodeStatuses.empty(rows)
        self._candidates: dict[int, Candidate] = {}
        self._budgets = self._columns = self._nominations = -1
        self._own = ""

    def put(self, row: int, found: Candidate | Status) -> Kind:
        """Remember what came out for a Node."""
        if isinstance(found, Status):
            kind = Kind.NO_CANDIDATE
            self.statuses.set(row, found)
        else:
            kind = Kind.VIOLATING if found.violations else Kind.UNBROKEN
            self._candidates[row] = found
            self.statuses.set(row, None)
        self.kinds[row] = kind
        return kind

    def candidates(self, rows: Ints, kind: Kind) -> list[Candidate]:
        """The candidates of a kind among these rows, in their order."""
        return [self._candidates[row] for row in rows[self.kinds[rows] == kind].tolist()]

    def forget_what_changed(self, cache: SchedulerCache) -> None:
        """Forget the Nodes whose Pods, nominations or budgets are others now."""
        if self._budgets != cache.listers.budgets_version:
            self.kinds[:] = Kind.UNKNOWN
        self.kinds[cache.columns.replaced_since(self._columns)] = Kind.UNKNOWN
        for name in (*cache.nominator.changed_since(self._nominations), self._own):
            self._forget(cache, name)
        self._budgets, self._columns = cache.listers.budgets_version, cache.columns.clock
        self._nominations = cache.nominator.clock

    def forget_for_one(self, cache: SchedulerCache, own: str) -> None:
        """Forget the Node that the Pod itself is nominated for, now and afterwards: for others of its spec the Pod counts there."""
        self._own = own
        self._forget(cache, own)

    def _forget(self, cache: SchedulerCache, name: str) -> None:
        info = cache.infos.get(name)
        if info is not None:
            self.kinds[info.row] = Kind.UNKNOWN


class DryRuns:
    """The outcomes by profile and Pod spec.

    Used where Filter depends on each Node and its Pods alone: then an outcome depends on the Node, its Pods, the Pods nominated to it
    and the budgets. (Pods that have not started are the least important of their priority, whatever the time is.)
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Outcomes] = {}
        self._rows = -1

    def run(self, search: Search, rows: Ints, wanted: int, now: SimTime) -> tuple[Outcomes, int | None]:
        """Try Nodes in the order of `rows` until there are `wanted` candidates, one of them without a broken budget.

        Returns the outcomes, and how many of the rows it took (None: there were never enough). The cycle must filter locally.
        """
        outcomes, cache = self._of(search), search.cache
        outcomes.forget_what_changed(cache)
        outcomes.forget_for_one(cache, cache.nominator.node_of(search.pod.uid))
        self._find_out(search, outcomes, rows, wanted, now)
        return outcomes, _enough_after(outcomes.kinds[rows], wanted)

    @staticmethod
    def _find_out(search: Search, outcomes: Outcomes, rows: Ints, wanted: int, now: SimTime) -> None:
        """Try the Nodes of which nothing is known, as far as they matter."""
        kinds = outcomes.kinds[rows]
        unbroken = np.cumsum(kinds == Kind.UNBROKEN)
        candidates = unbroken + np.cumsum(kinds == Kind.VIOLATING)
        new, new_unbroken = 0, 0
        infos, names = search.cache.infos, search.cache.columns.names
        for i in np.flatnonzero(kinds == Kind.UNKNOWN).tolist():
            if candidates[i] + new >= wanted and unbroken[i] + new_unbroken:
                return
            row = int(rows[i])
            kind = outcomes.put(row, select_victims(search, infos[names[row]], now))
            new += kind is not Kind.NO_CANDIDATE
            new_unbroken += kind is Kind.UNBROKEN

    def _of(self, search: Search) -> Outcomes:
        rows = len(search.cache.columns.valid)
        if self._rows != rows or len(self._known) * rows > _MAX_CELLS:
            self._known.clear()
            self._rows = rows
        key = (search.framework.profile, search.pod.spec.id)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = Outcomes(rows)
        return known


def _enough_after(kinds: NDArray[np.int8], wanted: int) -> int | None:
    """After how many Nodes there are as many candidates as wanted, one of them without a broken budget; None: never."""
    unbroken = np.cumsum(kinds == Kind.UNBROKEN)
    enough = (unbroken + np.cumsum(kinds == Kind.VIOLATING) >= wanted) & (unbroken > 0)
    return int(np.argmax(enough)) + 1 if enough.any() else None


def dry_runs(cache: SchedulerCache) -> DryRuns:
    """The dry runs that are kept with a cache."""
    known = cache.derived.get(_KEY)
    if not isinstance(known, DryRuns):
        known = cache.derived[_KEY] = DryRuns()
    return known
