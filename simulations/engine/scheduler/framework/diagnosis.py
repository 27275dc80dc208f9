"""Why a Pod found no Node: statuses per Node, in columns, and the message that they make.

Source: pkg/scheduler/framework/types.go, Diagnosis and FitError, v1.36
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simulations.engine.scheduler.cache.columns import Ints
from simulations.engine.scheduler.framework.status import Code, Status

Runs = list[list[int]]


def runs_of(rows: Ints) -> Runs:
    """Sorted rows as [first, length] pairs."""
    if not len(rows):
        return []
    breaks = np.flatnonzero(rows[1:] - rows[:-1] != 1)
    starts = np.concatenate((rows[:1], rows[breaks + 1]))
    ends = np.concatenate((rows[breaks], rows[-1:]))
    found: Runs = np.column_stack((starts, ends - starts + 1)).tolist()
    return found


def runs_where(rows: NDArray[np.bool_]) -> Runs:
    """The rows of a mask as [first, length] pairs."""
    bounds = ((rows[1:] != rows[:-1]).nonzero()[0] + 1).tolist()
    if len(rows) and rows[0]:
        bounds.insert(0, 0)
    if len(bounds) % 2:
        bounds.append(len(rows))
    return [[first, end - first] for first, end in zip(bounds[::2], bounds[1::2], strict=True)]


@dataclass(slots=True)
class NodeStatuses:
    """One status code per row: 0 = none (passed or not looked at), else 1 + index into `statuses`."""

    codes: NDArray[np.int32]
    statuses: list[Status] = field(default_factory=list)
    _index: dict[Status, int] = field(default_factory=dict)

    @staticmethod
    def empty(rows: int) -> "NodeStatuses":
        """No status for any of the rows."""
        return NodeStatuses(np.zeros(rows, dtype=np.int32))

    def code_of(self, status: Status) -> int:
        """The code of a status, new if it was not used yet."""
        code = self._index.get(status)
        if code is None:
            self.statuses.append(status)
            code = self._index[status] = len(self.statuses)
        return code

    def set(self, row: int, status: Status | None) -> None:
        """Give a row its status; None takes it away."""
        self.codes[row] = 0 if status is None else self.code_of(status)

    def get(self, row: int) -> Status | None:
        """The status of a row."""
        code = int(self.codes[row])
        return self.statuses[code - 1] if code else None

    def take_over(self, rows: NDArray[np.bool_], codes: NDArray[np.int16], statuses: list[Status]) -> None:
        """Give the rows of the mask the statuses of a FilterColumn's codes."""
        found = rows.nonzero()[0]
        if not len(found):
            return
        wanted = codes[found]
        ours = np.zeros(len(statuses) + 1, dtype=np.int32)
        for code in np.flatnonzero(np.bincount(wanted, minlength=len(ours))).tolist():
            ours[code] = self.code_of(statuses[code - 1])
        self.codes[found] = ours[wanted]

    def adopt(self, rows: NDArray[np.bool_], others: "NodeStatuses") -> None:
        """Give the rows of the mask the statuses that they have in `others`."""
        if not others.statuses:
            return
        ours = np.zeros(len(others.statuses) + 1, dtype=np.int32)
        ours[1:] = [self.code_of(status) for status in others.statuses]
        theirs = ours[others.codes]
        np.copyto(self.codes, theirs, where=rows & (theirs != 0))

    def rows_with(self, *codes: Code) -> Ints:
        """The rows whose status has one of these codes, ascending."""
        wanted = [i + 1 for i, s in enumerate(self.statuses) if s.code in codes]
        return np.flatnonzero(np.isin(self.codes, wanted)) if wanted else np.zeros(0, dtype=np.int64)

    def plugins(self) -> frozenset[str]:
        """The plugins that rejected a Node."""
        return frozenset(status.plugin for status in self._used())

    def by_status(self) -> list[tuple[Status, Ints]]:
        """Each status with its rows, ordered by plugin, code and reasons; unused ones left out."""
        used = sorted(self._used(), key=lambda s: (s.plugin, s.code, s.reasons))
        return [(status, np.flatnonzero(self.codes == self._index[status])) for status in used]

    def _used(self) -> list[Status]:
        if not self.statuses:
            return []
        numbers = np.bincount(self.codes, minlength=len(self.statuses) + 1)
        return [status for i, status in enumerate(self.statuses) if numbers[i + 1]]


@dataclass(slots=True)
class Diagnosis:
    """The outcome of Filter for a Pod: statuses per Node, the plugins that rejected, a message where PreFilter ended it."""

    statuses: NodeStatuses
    nodes: int = 0
    rejecting: list[str] = field(default_factory=list)
    pre_filters: list[str] = field(default_factory=list)
    """The plugins whose PreFilter was called."""
    pre_filter_message: str = ""
    post_filter_message: str = ""
    error: str = ""

    def reject(self, plugin: str) -> None:
        """Note that a plugin rejected the Pod."""
        if plugin and plugin not in self.rejecting:
            self.rejecting.append(plugin)

    def message(self) -> str:
        """`0/N nodes are available: ...` as the real scheduler writes it, with what PostFilter added."""
        if self.error:
            return self.error
        text = f"0/{self.nodes} nodes are available:"
        if self.pre_filter_message:
            text += f" {self.pre_filter_message}."
        else:
            reasons: Counter[str] = Counter()
            for status, rows in self.statuses.by_status():
                for reason in status.reasons:
                    reasons[reason] += len(rows)
            text += reason_list(reasons)
        if self.post_filter_message:
            text += f" {self.post_filter_message}"
        return text


def reason_list(reasons: Counter[str]) -> str:
    """` 2 Insufficient cpu, 1 Too many pods.` sorted as texts; empty without reasons."""
    if not reasons:
        return ""
    return " " + ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items())) + "."
