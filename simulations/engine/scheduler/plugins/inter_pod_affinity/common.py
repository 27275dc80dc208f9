"""Counts of matching Pods per topology value."""

from collections.abc import Callable

from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import PodAffinityTerm
from simulations.engine.scheduler.cache.cache import Listers, SchedulerCache
from simulations.engine.scheduler.cache.pod_counts import CountColumn, TermKey


def matches(term: PodAffinityTerm, pod: Pod, listers: Listers) -> bool:
    """Whether the term means this Pod."""
    return term.matches(pod.namespace, listers.namespace_labels(pod.namespace), pod.labels)


def matches_all(terms: tuple[PodAffinityTerm, ...], pod: Pod, listers: Listers) -> bool:
    """Whether every one of the terms means this Pod; False without terms."""
    return bool(terms) and all(matches(term, pod, listers) for term in terms)


def matching_pods(cache: SchedulerCache, terms: tuple[PodAffinityTerm, ...]) -> CountColumn:
    """Per row, the Pods that all the terms mean (terminating ones count)."""
    return cache.count_column(("affinity", terms), _question(terms, cache.listers))


def _question(terms: tuple[PodAffinityTerm, ...], listers: Listers) -> Callable[[Pod], bool]:
    return lambda pod: matches_all(terms, pod, listers)


def terms_about(pod: Pod, cache: SchedulerCache) -> list[tuple[TermKey, CountColumn]]:
    """The terms of Pods on Nodes that mean this Pod, each with how many Pods per row have it."""
    return cache.counts.terms_about(pod, lambda term, other: matches(term, other, cache.listers))
