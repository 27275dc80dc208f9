"""Counts of matching Pods per topology value."""

from collections.abc import Callable

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import PodAffinityTerm
from simulations.engine.scheduler.cache.cache import Listers, SchedulerCache
from simulations.engine.scheduler.cache.columns import ABSENT, Ints
from simulations.engine.scheduler.cache.pod_counts import TermKey


def matches(term: PodAffinityTerm, pod: Pod, listers: Listers) -> bool:
    """Whether the term means this Pod."""
    return term.matches(pod.namespace, listers.namespace_labels(pod.namespace), pod.labels)


def matches_all(terms: tuple[PodAffinityTerm, ...], pod: Pod, listers: Listers) -> bool:
    """Whether every one of the terms means this Pod; False without terms."""
    return bool(terms) and all(matches(term, pod, listers) for term in terms)


def matching_pods(cache: SchedulerCache, terms: tuple[PodAffinityTerm, ...]) -> Ints:
    """Per row, the Pods that all the terms mean (terminating ones count)."""
    return cache.count_column(("affinity", terms), _question(terms, cache.listers))


def _question(terms: tuple[PodAffinityTerm, ...], listers: Listers) -> Callable[[Pod], bool]:
    return lambda pod: matches_all(terms, pod, listers)


def terms_about(pod: Pod, cache: SchedulerCache) -> list[tuple[TermKey, Ints]]:
    """The terms of Pods on Nodes that mean this Pod, each with how many Pods per row have it."""
    return cache.counts.terms_about(pod, lambda term, other: matches(term, other, cache.listers))


def by_value(cache: SchedulerCache, key: str, per_row: Ints) -> Ints:
    """Sum a column over the values of a label key; index 0 (Nodes without the key) is 0."""
    columns = cache.columns
    rows = np.flatnonzero(per_row)
    rows = rows[columns.valid[rows]]
    label = columns.label(key)
    sums = np.bincount(label.ids[rows], weights=per_row[rows], minlength=len(label.values)).astype(np.int64)
    sums[ABSENT] = 0
    return sums
