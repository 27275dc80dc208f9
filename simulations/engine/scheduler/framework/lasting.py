"""Answers that last: what a plugin says of a Node and a Pod spec alone stays true until a Node changes.

Pods come by the hundred from one template, and Nodes change seldom; so verdicts and raw scores that look at no other Pod are worked
out once per spec and kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.columns import Bools, Columns, Ints
from simulations.engine.scheduler.framework.plugin import CycleState, Plugin
from simulations.engine.scheduler.framework.status import Status

_MAX_ENTRIES = 512
Kept = TypeVar("Kept")


class _Memory(Generic[Kept]):
    """Values by Pod spec, forgotten when any Node changed."""

    def __init__(self) -> None:
        self._version = -1
        self._known: dict[int, Kept] = {}

    def get(self, pod: Pod, columns: Columns, make: Callable[[], Kept]) -> Kept:
        if self._version != columns.version or len(self._known) >= _MAX_ENTRIES:
            self._known.clear()
            self._version = columns.version
        known = self._known.get(pod.spec.id)
        if known is None:
            known = self._known[pod.spec.id] = make()
        return known


@dataclass(frozen=True, slots=True)
class Verdicts:
    """`codes[row]` is 0 where the Node passes, else 1 + index into `statuses`; `passed` says the same as a mask."""

    codes: NDArray[np.int16]
    statuses: list[Status]
    passed: Bools
    all_pass: bool


class LastingVerdicts:
    """The Filter plugins that come first and depend on no other Pod, taken together."""

    def __init__(self, plugins: Sequence[Plugin]) -> None:
        self.names = tuple(plugin.NAME for plugin in plugins)
        self._plugins = plugins
        self._memory: _Memory[Verdicts] = _Memory()

    def of(self, state: CycleState, pod: Pod, columns: Columns) -> Verdicts:
        """The verdicts on all rows."""
        if pod.node_name:  # no part of the spec
            return self._work_out(state, pod, columns)
        return self._memory.get(pod, columns, lambda: self._work_out(state, pod, columns))

    def _work_out(self, state: CycleState, pod: Pod, columns: Columns) -> Verdicts:
        codes = np.zeros(len(columns.valid), dtype=np.int16)
        statuses: list[Status] = []
        for plugin in self._plugins:
            column = None if plugin.NAME in state.skip_filter else plugin.filter_columns(state, pod, columns)
            if column is None:
                continue
            fresh = (codes == 0) & (column.codes != 0)
            codes[fresh] = column.codes[fresh] + len(statuses)
            statuses.extend(Status(s.code, s.reasons, plugin.NAME) for s in column.statuses)
        passed = codes == 0
        return Verdicts(codes, statuses, passed, bool(passed[columns.valid].all()))


class LastingScores:
    """Raw scores of one plugin that depend on no other Pod, for all rows."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._memory: _Memory[Ints] = _Memory()

    def of(self, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        """The raw scores of these rows."""
        every_row = np.arange(len(columns.valid), dtype=np.int64)
        scores = self._memory.get(pod, columns, lambda: self._plugin.score_columns(state, pod, columns, every_row))
        found: Ints = scores[rows]
        return found
