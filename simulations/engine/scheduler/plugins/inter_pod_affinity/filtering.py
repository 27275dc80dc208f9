"""PreFilter and Filter of InterPodAffinity.

Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, v1.36
"""

from dataclasses import dataclass

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import PodAffinityTerm
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.plugin import FilterColumn
from simulations.engine.scheduler.framework.status import Status, unresolvable, unschedulable
from simulations.engine.scheduler.plugins.inter_pod_affinity.common import (
    matches,
    matches_all,
    matching_pods,
    terms_about,
)

NAME = "InterPodAffinity"
AFFINITY = unresolvable(NAME, "node(s) didn't match pod affinity rules")
ANTI_AFFINITY = unschedulable(NAME, "node(s) didn't match pod anti-affinity rules")
EXISTING = unschedulable(NAME, "node(s) didn't satisfy existing pods anti-affinity rules")


@dataclass(slots=True)
class FilterState:
    """Per own term and per term of others: the matching Pods by value id of the term's key."""

    pod: Pod
    cache: SchedulerCache
    affinity: list[tuple[PodAffinityTerm, Ints]]
    anti: list[tuple[PodAffinityTerm, Ints]]
    existing: list[tuple[PodAffinityTerm, Ints]]
    matches_itself: bool

    @property
    def required(self) -> tuple[PodAffinityTerm, ...]:
        """The Pod's own required affinity terms."""
        return tuple(term for term, _counts in self.affinity)

    @property
    def alone(self) -> bool:
        """Whether no Pod anywhere matches the required terms."""
        return not any(counts.any() for _term, counts in self.affinity)


def own_terms(pod: Pod) -> tuple[tuple[PodAffinityTerm, ...], tuple[PodAffinityTerm, ...]]:
    """The Pod's required affinity and anti-affinity terms."""
    affinity, anti = pod.spec.pod_affinity, pod.spec.pod_anti_affinity
    return (affinity.required if affinity else ()), (anti.required if anti else ())


def prepare(pod: Pod, cache: SchedulerCache) -> FilterState | None:
    """Count; None where neither the Pod nor anyone else has a term that matters."""
    required, anti = own_terms(pod)
    listers = cache.listers
    others = [(term, counted) for (kind, term, _weight), counted in terms_about(pod, cache) if kind == "anti"]
    existing = [(term, cache.counts_by_label(counted, term.topology_key)) for term, counted in others]
    existing = [(term, counts.copy()) for term, counts in existing if counts.any()]
    if not (required or anti or existing):
        return None
    return FilterState(
        pod,
        cache,
        [(term, cache.counts_by_label(matching_pods(cache, required), term.topology_key).copy()) for term in required],
        [(term, cache.counts_by_label(matching_pods(cache, (term,)), term.topology_key).copy()) for term in anti],
        existing,
        matches_all(required, pod, listers),
    )


def filter_row(state: FilterState, columns: Columns, row: int) -> Status | None:
    """The rule for one Node."""
    if state.affinity:
        values = [int(columns.label(term.topology_key).ids[row]) for term, _counts in state.affinity]
        if 0 in values:
            return AFFINITY
        pods_exist = all(counts[value] > 0 for value, (_term, counts) in zip(values, state.affinity, strict=True))
        if not pods_exist and not (state.alone and state.matches_itself):
            return AFFINITY
    for status, group in ((ANTI_AFFINITY, state.anti), (EXISTING, state.existing)):
        if any(counts[columns.label(term.topology_key).ids[row]] > 0 for term, counts in group):
            return status
    return None


def filter_all(state: FilterState, columns: Columns) -> FilterColumn:
    """The rule for all Nodes."""
    codes = np.zeros(len(columns.valid), dtype=np.int16)
    if state.affinity:
        first = state.alone and state.matches_itself
        for term, counts in state.affinity:
            ids = columns.label(term.topology_key).ids
            codes[(ids == 0) | (~(counts > 0)[ids] & (not first))] = 1
    for code, group in ((2, state.anti), (3, state.existing)):
        for term, counts in group:
            blocked = (counts > 0)[columns.label(term.topology_key).ids]
            codes[blocked & (codes == 0)] = code
    return FilterColumn(codes, [AFFINITY, ANTI_AFFINITY, EXISTING])


def update(state: FilterState, other: Pod, info: NodeInfo, amount: int) -> None:
    """Another Pod comes to or leaves the Node of a what-if."""
    columns, listers = state.cache.columns, state.cache.listers

    def change(term: PodAffinityTerm, counts: Ints) -> None:
        value = columns.label(term.topology_key).ids[info.row]
        if value:
            counts[value] += amount

    if state.affinity and matches_all(state.required, other, listers):
        for term, counts in state.affinity:
            change(term, counts)
    for term, counts in state.anti:
        if matches(term, other, listers):
            change(term, counts)
    for term in own_terms(other)[1]:
        if matches(term, state.pod, listers):
            change(term, _existing_counts(state, term, columns))


def _existing_counts(state: FilterState, term: PodAffinityTerm, columns: Columns) -> Ints:
    for known, counts in state.existing:
        if known == term:
            return counts
    counts = np.zeros(len(columns.label(term.topology_key).values), dtype=np.int64)
    state.existing.append((term, counts))
    return counts
