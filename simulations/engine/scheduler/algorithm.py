"""The scheduling algorithm: find the Nodes that fit, score them, pick one. Pure: it reads the cache and changes nothing.

Source: pkg/scheduler/schedule_one.go, schedulePod, findNodesThatFitPod, v1.36
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Bools, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.diagnosis import Diagnosis, NodeStatuses
from simulations.engine.scheduler.framework.framework import Framework, ScoreTable
from simulations.engine.scheduler.framework.plugin import CycleState
from simulations.engine.scheduler.framework.status import Status, unresolvable
from simulations.engine.scheduler.host_selection import select_host

MIN_FEASIBLE_NODES = 100
MIN_FEASIBLE_PERCENTAGE = 5


@dataclass(slots=True)
class ScheduleResult:
    """What one cycle decided. `node` is empty where none fits; then `diagnosis` says why.

    `evaluated` counts Nodes that Filter looked at, `looked_at` are their rows in order; `no_nodes` marks an empty cluster.
    """

    node: str
    feasible: Ints
    looked_at: Ints
    next_start: int
    diagnosis: Diagnosis
    state: CycleState
    scores: ScoreTable | None = None
    nominated_first: bool = False
    no_nodes: bool = False

    @property
    def evaluated(self) -> int:
        """How many Nodes were looked at."""
        return len(self.looked_at)


def nodes_to_find(nodes: int, percentage: int = 0) -> int:
    """How many feasible Nodes end the search among this many.

    Source: pkg/scheduler/schedule_one.go, numFeasibleNodesToFind, v1.36
    """
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_FEASIBLE_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES)


def schedule_pod(framework: Framework, pod: Pod, start: int, percentage: int = 0) -> ScheduleResult:
    """Decide for one Pod; `start` is where in the order of Nodes the search begins."""
    cache = framework.cache
    order = cache.order()
    diagnosis = Diagnosis(NodeStatuses.empty(len(cache.columns.valid)), len(order))
    state = CycleState()
    result = ScheduleResult("", order[:0], order[:0], start, diagnosis, state)
    if not len(order):
        result.no_nodes = True
        diagnosis.error = "no nodes available to schedule pods"
        return result
    search = Search(framework, pod, state, diagnosis)
    allowed = search.pre_filter()
    if allowed is None:
        return result
    if search.nominated_node_fits(result, allowed):
        return result
    search.all_nodes(result, allowed, percentage)
    if len(result.feasible):
        _choose(framework, pod, result)
    return result


def _choose(framework: Framework, pod: Pod, result: ScheduleResult) -> None:
    names = framework.cache.columns.names
    if len(result.feasible) == 1:
        result.node = names[result.feasible[0]]
        return
    result.scores = framework.run_scores(result.state, pod, result.feasible)
    result.node = names[result.feasible[select_host(result.scores.total)]]


class Search:
    """The Filter part of one cycle."""

    def __init__(self, framework: Framework, pod: Pod, state: CycleState, diagnosis: Diagnosis) -> None:
        self.framework = framework
        self.cache: SchedulerCache = framework.cache
        self.pod = pod
        self.state = state
        self.diagnosis = diagnosis

    def pre_filter(self) -> Bools | None:
        """Run PreFilter; return the rows that may fit, or None where it ended the cycle."""
        outcome = self.framework.run_pre_filter(self.state, self.pod, self.diagnosis)
        if outcome.status is not None:
            if not outcome.status.rejected:
                self.diagnosis.error = outcome.status.message
            self.diagnosis.pre_filter_message = outcome.status.message
            code = self.diagnosis.statuses.code_of(outcome.status)
            self.diagnosis.statuses.codes[self.cache.order()] = code
            return None
        allowed = self.cache.columns.valid.copy()
        if outcome.nodes is not None:
            allowed[:] = False
            allowed[[self.cache.infos[n].row for n in sorted(outcome.nodes) if n in self.cache.infos]] = True
            names = " ".join(outcome.narrowed_by)
            status = unresolvable(outcome.narrowed_by[0], f"node(s) didn't satisfy plugin(s) [{names}]")
            absent = self.cache.columns.valid & ~allowed
            if absent.any():
                self.diagnosis.statuses.codes[absent] = self.diagnosis.statuses.code_of(status)
        return allowed

    def nominated_node_fits(self, result: ScheduleResult, allowed: Bools) -> bool:
        """Try the Node of `status.nominatedNodeName` alone; when it fits, it is chosen without scoring."""
        info = self.cache.infos.get(self.pod.nominated_node_name) if self.pod.nominated_node_name else None
        if info is None or not allowed[info.row]:
            return False
        status = self.filter_with_nominated(info)
        if status is not None:
            self.diagnosis.statuses.set(info.row, status)
            self.diagnosis.reject(status.plugin)
            return False
        result.node, result.nominated_first = info.name, True
        result.feasible = result.looked_at = np.array([info.row], dtype=np.int64)
        return True

    def all_nodes(self, result: ScheduleResult, allowed: Bools, percentage: int) -> None:
        """Filter from the start index on until enough Nodes fit."""
        order = self.cache.order()
        start = result.next_start % len(order)
        visit = np.concatenate((order[start:], order[:start]))
        visit = visit[allowed[visit]]
        passed = self._filter(allowed)
        fits = passed[visit]
        limit = nodes_to_find(len(visit), percentage)
        found = np.cumsum(fits)
        looked_at = len(visit)
        if len(visit) and found[-1] > limit:
            looked_at = int(np.searchsorted(found, limit + 1))
        result.looked_at = visit[:looked_at]
        result.feasible = result.looked_at[fits[:looked_at]]
        self._forget_unseen(visit[looked_at:])
        failed = int(np.count_nonzero(self.diagnosis.statuses.codes[order]))
        result.next_start = (result.next_start + len(result.feasible) + failed) % len(order)
        for status, _rows in self.diagnosis.statuses.by_status():
            self.diagnosis.reject(status.plugin)

    def _forget_unseen(self, rows: Ints) -> None:
        self.diagnosis.statuses.codes[rows] = 0

    def _filter(self, allowed: Bools) -> Bools:
        """Both passes: with the nominated Pods that count, and without them."""
        columns = self.cache.columns
        nominated = self._nominated_rows(allowed)
        if not nominated:
            return self.framework.filter_columns(self.state, self.pod, columns, allowed, self.diagnosis)
        plain = allowed.copy()
        rows = [row for row, _pods in nominated]
        if self._only_resources_matter(nominated):
            passed = self.framework.filter_columns(self.state, self.pod, columns, allowed, self.diagnosis)
            first = allowed.copy()
            first[:] = False
            first[rows] = True
            with_nominated = columns.with_pods((row, p.spec) for row, pods in nominated for p in pods)
            earlier = self.diagnosis.statuses.codes[rows].copy()
            self.diagnosis.statuses.codes[rows] = 0
            fits_first = self.framework.filter_columns(self.state, self.pod, with_nominated, first, self.diagnosis)
            kept = np.where(fits_first[rows], earlier, self.diagnosis.statuses.codes[rows])
            self.diagnosis.statuses.codes[rows] = kept
            passed[rows] &= fits_first[rows]
            return passed
        plain[rows] = False
        passed = self.framework.filter_columns(self.state, self.pod, columns, plain, self.diagnosis)
        for row in rows:
            status = self.filter_with_nominated(self.cache.infos[columns.names[row]])
            self.diagnosis.statuses.set(row, status)
            passed[row] = status is None
        return passed

    def _nominated_rows(self, allowed: Bools) -> list[tuple[int, list[Pod]]]:
        found = []
        for name in self.cache.nominator.nodes():
            info = self.cache.infos.get(name)
            if info is not None and allowed[info.row]:
                pods = self._nominated_that_count(name)
                if pods:
                    found.append((info.row, pods))
        return found

    def _nominated_that_count(self, node_name: str) -> list[Pod]:
        nominated = self.cache.nominator.pods_on(node_name)
        return [p for p in nominated if p.priority >= self.pod.priority and p.uid != self.pod.uid]

    def _only_resources_matter(self, nominated: Iterable[tuple[int, list[Pod]]]) -> bool:
        """Whether nominated Pods can change nothing but resources, so that columns answer for them."""
        active = self.framework.active_filters(self.state)
        if any(p.DEPENDS_ON_PODS and p.NAME != "NodeResourcesFit" for p in active):
            return False
        return not any(p.spec.pod_anti_affinity is not None for _row, pods in nominated for p in pods)

    def filter_with_nominated(self, info: NodeInfo) -> Status | None:
        """Filter one Node in two passes: with the nominated Pods of equal or higher priority, then without them."""
        added = self._nominated_that_count(info.name)
        if added:
            with_them = info.clone()
            for nominated in added:
                self.framework.add_pod(self.state, self.pod, nominated, with_them)
            status = self.framework.filter_node(self.state, self.pod, with_them)
            for nominated in added:
                self.framework.remove_pod(self.state, self.pod, nominated, with_them)
            if status is not None:
                return status
        return self.framework.filter_node(self.state, self.pod, info)
