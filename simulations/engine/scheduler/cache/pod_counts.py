"""Counts of Pods per Node that a rule cares about, kept up to date as Pods come and go.

A rule registers a question about a Pod ("in namespace shop, with app=web?"); its column then holds, per row, how many Pods on that
Node answer yes. So no rule walks over all Pods in a cycle.
"""

from collections.abc import Callable, Hashable

import numpy as np

from simulations.engine.api.pod import Pod, PodSpec
from simulations.engine.api.scheduling import PodAffinityTerm
from simulations.engine.scheduler.cache.columns import Ids, Ints

Question = Callable[[Pod], bool]
TermMatch = Callable[[PodAffinityTerm, Pod], bool]
TermKey = tuple[str, PodAffinityTerm, int]
"""(kind, term, weight); kinds: required, anti, preferred, preferred-anti."""


class CountColumn:
    """The number of Pods per row that a question holds for; `total` is their sum."""

    __slots__ = ("counts", "question", "tallies", "total")

    def __init__(self, question: Question, rows: int) -> None:
        self.question = question
        self.counts: Ints = np.zeros(rows, dtype=np.int64)
        self.total = 0
        self.tallies: dict[Hashable, tuple[Ids, Ints]] = {}
        """By key: the group of each row, and the sums of the groups."""

    def add(self, row: int, amount: int) -> None:
        """Change the count of a row."""
        if row >= len(self.counts):
            self._grow(row + 1)
        self.counts[row] += amount
        self.total += amount
        for groups, sums in self.tallies.values():
            sums[groups[row]] += amount

    def column(self, rows: int) -> Ints:
        """The counts of the first `rows` rows."""
        if len(self.counts) < rows:
            self._grow(rows)
        return self.counts[:rows]

    def sums(self, key: Hashable, groups: Ids, size: int) -> Ints:
        """The counts summed by group, kept up to date from now on under this key. Not to be changed; group 0 means none."""
        kept = self.tallies.get(key)
        if kept is None:
            sums = np.bincount(groups, weights=self.column(len(groups)), minlength=size).astype(np.int64)
            kept = self.tallies[key] = (groups, sums)
        return kept[1]

    def _grow(self, rows: int) -> None:
        grown = np.zeros(rows + max(16, rows // 8), dtype=np.int64)
        grown[: len(self.counts)] = self.counts
        self.counts = grown


def affinity_terms(spec: PodSpec) -> tuple[TermKey, ...]:
    """All Pod (anti-)affinity terms of a spec."""
    found: list[TermKey] = []
    if spec.pod_affinity is not None:
        found.extend(("required", t, 0) for t in spec.pod_affinity.required)
        found.extend(("preferred", w.term, w.weight) for w in spec.pod_affinity.preferred)
    if spec.pod_anti_affinity is not None:
        found.extend(("anti", t, 0) for t in spec.pod_anti_affinity.required)
        found.extend(("preferred-anti", w.term, w.weight) for w in spec.pod_anti_affinity.preferred)
    return tuple(found)


class _Alike:
    """Pods that answer every question alike: one of them, how many are on each row, and the columns that count them."""

    __slots__ = ("columns", "on_rows", "pod")

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.on_rows: dict[int, int] = {}
        self.columns: list[CountColumn] = []


def _kind(pod: Pod) -> tuple[str, int, int, bool]:
    return pod.namespace, pod.labels.id, pod.spec.id, pod.terminating


class PodCounts:
    """All count columns. Pods with the same namespace, labels, spec and terminating state answer every question alike."""

    def __init__(self) -> None:
        self._columns: dict[Hashable, CountColumn] = {}
        self._alike: dict[tuple[str, int, int, bool], _Alike] = {}
        self._terms: dict[TermKey, CountColumn] = {}
        self.generation = 0
        """Goes up when all questions are forgotten: count columns from before are dead."""
        self._matching: dict[tuple[str, int], tuple[tuple[TermKey, CountColumn], ...]] = {}

    def column(self, key: Hashable, question: Question, rows: int) -> CountColumn:
        """The count column of a question for that many rows; `key` names it."""
        counted = self._columns.get(key)
        if counted is None:
            counted = self._columns[key] = CountColumn(question, rows)
            for alike in self._alike.values():
                if question(alike.pod):
                    alike.columns.append(counted)
                    for row, number in alike.on_rows.items():
                        counted.add(row, number)
        return counted

    def forget_tallies(self) -> None:
        """Nodes changed: no sum by groups of Nodes holds any more."""
        for counted in (*self._columns.values(), *self._terms.values()):
            if counted.tallies:
                counted.tallies.clear()

    def add(self, row: int, pod: Pod, sign: int = 1) -> None:
        """Count a Pod that came to (or, with sign -1, left) a row."""
        key = _kind(pod)
        alike = self._alike.get(key)
        if alike is None:
            alike = self._alike[key] = self._first_of_its_kind(pod)
        left = alike.on_rows.get(row, 0) + sign
        if left:
            alike.on_rows[row] = left
        else:
            del alike.on_rows[row]
        for counted in alike.columns:
            counted.add(row, sign)
        if not alike.on_rows:
            del self._alike[key]

    def replace(self, row: int, old: Pod, pod: Pod) -> None:
        """Count a newer object of a Pod in place of the older one."""
        if _kind(old) != _kind(pod):
            self.add(row, old, -1)
            self.add(row, pod)

    def terms_about(self, pod: Pod, matches: TermMatch) -> list[tuple[TermKey, CountColumn]]:
        """The (anti-)affinity terms of Pods on Nodes that mean this Pod, each with how many Pods per row have it.

        A term counts once per occurrence in a spec. `matches` must depend on the Pod's namespace and labels alone.
        """
        key = (pod.namespace, pod.labels.id)
        known = self._matching.get(key)
        if known is None:
            known = self._matching[key] = tuple((t, c) for t, c in self._terms.items() if matches(t[1], pod))
        return [(term, counted) for term, counted in known if counted.total]

    def forget_questions(self) -> None:
        """Labels of Namespaces changed: every answer may be another now."""
        self._columns.clear()
        self._matching.clear()
        self.generation += 1
        for alike in self._alike.values():
            alike.columns = self._term_columns(alike.pod)

    def _first_of_its_kind(self, pod: Pod) -> _Alike:
        alike = _Alike(pod)
        alike.columns = [counted for counted in self._columns.values() if counted.question(pod)]
        alike.columns.extend(self._term_columns(pod))
        return alike

    def _term_columns(self, pod: Pod) -> list[CountColumn]:
        return [self._term_column(term) for term in affinity_terms(pod.spec)]

    def _term_column(self, term: TermKey) -> CountColumn:
        counted = self._terms.get(term)
        if counted is None:
            counted = self._terms[term] = CountColumn(lambda _pod: False, 0)
            self._matching.clear()
        return counted
