"""Counts of Pods per Node that a rule cares about, kept up to date as Pods come and go.

A rule registers a question about a Pod ("in namespace shop, with app=web?"); its column then holds, per row, how many Pods on that
Node answer yes. So no rule walks over all Pods in a cycle.
"""

from collections.abc import Callable, Hashable, Iterable

import numpy as np

from simulations.engine.api.pod import Pod, PodSpec
from simulations.engine.api.scheduling import PodAffinityTerm
from simulations.engine.scheduler.cache.columns import Ints

Question = Callable[[Pod], bool]
TermKey = tuple[str, PodAffinityTerm, int]
"""(kind, term, weight); kinds: required, anti, preferred, preferred-anti."""


class CountColumn:
    """One question and the number of Pods per row for which it holds."""

    __slots__ = ("counts", "question")

    def __init__(self, question: Question, rows: int) -> None:
        self.question = question
        self.counts: Ints = np.zeros(rows, dtype=np.int64)

    def add(self, row: int, amount: int) -> None:
        """Change the count of a row."""
        if row >= len(self.counts):
            grown = np.zeros(max(16, 2 * row), dtype=np.int64)
            grown[: len(self.counts)] = self.counts
            self.counts = grown
        self.counts[row] += amount

    def column(self, rows: int) -> Ints:
        """The counts of the first `rows` rows."""
        if len(self.counts) < rows:
            self.add(rows - 1, 0)
        return self.counts[:rows]


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


class PodCounts:
    """All count columns. Pods with the same namespace, labels, spec and terminating state answer every question alike."""

    def __init__(self) -> None:
        self._columns: dict[Hashable, CountColumn] = {}
        self._known: dict[tuple[str, int, int, bool], tuple[CountColumn, ...]] = {}
        self.terms: dict[TermKey, CountColumn] = {}
        """Per (anti-)affinity term of Pods on Nodes: how many Pods per row have it (once per occurrence in a spec)."""

    def column(self, key: Hashable, question: Question, placed: Callable[[], Iterable[tuple[int, Pod]]], rows: int) -> Ints:
        """The counts of a question; `key` names it, `placed` gives (row, Pod) of all Pods when it is new."""
        counted = self._columns.get(key)
        if counted is None:
            counted = self._columns[key] = CountColumn(question, rows)
            self._known.clear()
            for row, pod in placed():
                if question(pod):
                    counted.add(row, 1)
        return counted.column(rows)

    def add(self, row: int, pod: Pod, sign: int = 1) -> None:
        """Count a Pod that came to (or, with sign -1, left) a row."""
        for counted in self._columns_of(pod):
            counted.add(row, sign)

    def _columns_of(self, pod: Pod) -> tuple[CountColumn, ...]:
        kind = (pod.namespace, pod.labels.id, pod.spec.id, pod.terminating)
        known = self._known.get(kind)
        if known is None:
            terms = [self._term_column(term) for term in affinity_terms(pod.spec)]
            known = (*(c for c in self._columns.values() if c.question(pod)), *terms)
            self._known[kind] = known
        return known

    def _term_column(self, term: TermKey) -> CountColumn:
        counted = self.terms.get(term)
        if counted is None:
            counted = self.terms[term] = CountColumn(lambda _pod: False, 0)
        return counted
