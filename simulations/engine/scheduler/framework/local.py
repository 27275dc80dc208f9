"""Answers kept per Pod spec: what a plugin says of one Node stays true until that Node or the Pods on it change.

Pods come by the hundred from one template, and between two of them one Node has changed. So verdicts and raw scores that depend on
nothing but the Pod's spec and the Node with its Pods are worked out for all Nodes once, and afterwards again only for the Nodes that
changed. What depends on all Nodes, but on no Pods, is worked out again when any Node changed.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.framework.diagnosis import NodeStatuses
from simulations.engine.scheduler.framework.plugin import CycleState, Plugin, Scope

FEW_CHANGES: Final = 24
"""Up to this many changed Nodes are looked at one by one; of more, all over columns."""
_MAX_CELLS: Final = 2_000_000
"""Bounds the memory: specs kept times rows."""


class _Scores:
    """One plugin's raw scores for all rows, as of a clock or a version."""

    __slots__ = ("as_of", "values")

    def __init__(self, values: NDArray[np.int64], as_of: int) -> None:
        self.values = values
        self.as_of = as_of


class _Answers:
    """What is kept for one spec."""

    __slots__ = ("as_of", "scores", "statuses")

    def __init__(self) -> None:
        self.statuses: NodeStatuses | None = None
        self.as_of = -1
        self.scores: dict[str, _Scores] = {}


class LocalAnswers:
    """The answers of a profile's plugins that last."""

    def __init__(self, cache: SchedulerCache, filters: Sequence[Plugin]) -> None:
        self._cache = cache
        self._filters = filters
        self._rows = -1
        self._span = (-1, -1)
        self._changes: Ints = np.zeros(0, dtype=np.int64)
        self._known: dict[int, _Answers] = {}

    def verdicts(self, state: CycleState, pod: Pod) -> NodeStatuses:
        """The statuses that the local Filter plugins give, for all rows. Not to be changed: copy it."""
        answers, columns = self._of(pod), self._cache.columns
        if answers.statuses is not None and answers.as_of != columns.clock:
            changed = self._changed_since(answers.as_of)
            if len(changed) > FEW_CHANGES:
                answers.statuses = None
            else:
                self._filter_again(state, pod, answers.statuses, changed)
        if answers.statuses is None:
            answers.statuses = self.verdicts_over(state, pod, columns)
        answers.as_of = columns.clock
        return answers.statuses

    def verdicts_over(self, state: CycleState, pod: Pod, columns: Columns) -> NodeStatuses:
        """The same over any columns, from scratch."""
        statuses = NodeStatuses.empty(len(columns.valid))
        remaining = columns.valid.copy()
        for plugin in self._active(state):
            column = plugin.filter_columns(state, pod, columns)
            if column is not None:
                rejected = remaining & (column.codes != 0)
                statuses.take_over(rejected, column.codes, column.statuses)
                remaining &= ~rejected
        return statuses

    def scores(self, plugin: Plugin, state: CycleState, pod: Pod, rows: Ints) -> Ints:
        """The raw scores of a plugin that scores locally or by Nodes alone, for these rows."""
        known, columns = self._of(pod).scores, self._cache.columns
        kept = known.get(plugin.NAME)
        local = plugin.SCORE_SCOPE <= Scope.NODE_AND_PODS
        now = columns.clock if local else columns.version
        if kept is not None and kept.as_of != now:
            changed = self._changed_since(kept.as_of) if local else None
            if changed is None or len(changed) > FEW_CHANGES:
                kept = None
            else:
                self._score_again(plugin, state, pod, kept.values, changed)
                kept.as_of = now
        if kept is None:
            every_row = np.arange(len(columns.valid), dtype=np.int64)
            kept = known[plugin.NAME] = _Scores(plugin.score_columns(state, pod, columns, every_row), now)
        found: Ints = kept.values[rows]
        return found

    def _changed_since(self, clock: int) -> Ints:
        """Several plugins ask in one cycle for the same span."""
        asked = (clock, self._cache.columns.clock)
        if self._span != asked:
            self._span, self._changes = asked, self._cache.columns.changed_since(clock)
        return self._changes

    def _active(self, state: CycleState) -> list[Plugin]:
        return [plugin for plugin in self._filters if plugin.NAME not in state.skip_filter]

    def _filter_again(self, state: CycleState, pod: Pod, statuses: NodeStatuses, rows: Ints) -> None:
        active = self._active(state)
        for row in rows.tolist():
            info = self._cache.info_at(row)
            found = (plugin.filter(state, pod, info) for plugin in active) if info is not None else ()
            statuses.set(row, next((status for status in found if status is not None), None))

    def _score_again(self, plugin: Plugin, state: CycleState, pod: Pod, values: Ints, rows: Ints) -> None:
        for row in rows.tolist():
            info = self._cache.info_at(row)
            if info is not None:
                values[row] = plugin.score(state, pod, info)

    def _of(self, pod: Pod) -> _Answers:
        rows = len(self._cache.columns.valid)
        if self._rows != rows or len(self._known) * rows > _MAX_CELLS:
            self._known.clear()
            self._rows = rows
        answers = self._known.get(pod.spec.id)
        if answers is None:
            answers = self._known[pod.spec.id] = _Answers()
        return answers
