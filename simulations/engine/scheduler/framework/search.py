"""Filter over the cluster: which Nodes are looked at, in which order, and with which nominated Pods.

Source: pkg/scheduler/schedule_one.go, findNodesThatFitPod, evaluateNominatedNode, findNodesThatPassFilters;
pkg/scheduler/framework/runtime/framework.go, RunFilterPluginsWithNominatedPods, v1.36
"""

from dataclasses import dataclass

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Bools, Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.cache.nominated_usage import nominated_usage
from simulations.engine.scheduler.framework.diagnosis import Diagnosis
from simulations.engine.scheduler.framework.framework import Framework, ScoreTable
from simulations.engine.scheduler.framework.plugin import CycleState, Scope
from simulations.engine.scheduler.framework.status import Code, Status, unresolvable

MIN_FEASIBLE_NODES = 100
MIN_FEASIBLE_PERCENTAGE = 5
FEW_NODES = 16
"""Up to this many Nodes, where PreFilter named them, are filtered one by one."""


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
    choice: int = 0
    """The index of the chosen Node in `feasible`."""
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


class Search:
    """The Filter part of one cycle."""

    def __init__(self, framework: Framework, pod: Pod, state: CycleState, diagnosis: Diagnosis) -> None:
        self.framework = framework
        self.cache: SchedulerCache = framework.cache
        self.pod = pod
        self.state = state
        self.diagnosis = diagnosis
        self.narrowed: Bools | None = None
        """The rows that PreFilter left, where it narrowed them."""
        self._absent: Status | None = None
        self._tried_first: tuple[int, Status] | None = None

    def pre_filter(self) -> bool:
        """Run PreFilter; False where it ended the cycle: then every Node has its status."""
        outcome = self.framework.run_pre_filter(self.state, self.pod, self.diagnosis)
        self.diagnosis.pre_filters = outcome.ran
        if outcome.status is not None:
            if not outcome.status.rejected:
                self.diagnosis.error = f'running PreFilter plugin "{outcome.status.plugin}": {outcome.status.message}'
            self.diagnosis.pre_filter_message = outcome.status.message
            self.diagnosis.statuses.codes[self.cache.order()] = self.diagnosis.statuses.code_of(outcome.status)
            return False
        if outcome.nodes is not None:
            self.narrowed = np.zeros(len(self.cache.columns.valid), dtype=np.bool_)
            self.narrowed[[self.cache.infos[n].row for n in sorted(outcome.nodes) if n in self.cache.infos]] = True
            names = " ".join(outcome.narrowed_by)
            self._absent = unresolvable(outcome.narrowed_by[0], f"node(s) didn't satisfy plugin(s) [{names}]")
        return True

    def nominated_node_fits(self, result: ScheduleResult) -> bool:
        """Try the Node of `status.nominatedNodeName` alone; when it fits, it is chosen without scoring."""
        info = self.cache.infos.get(self.pod.nominated_node_name) if self.pod.nominated_node_name else None
        if info is None:
            return False
        status = self.filter_with_nominated(info)
        if status is not None:
            self._tried_first = (info.row, status)
            self.diagnosis.reject(status.plugin)
            return False
        result.node, result.nominated_first = info.name, True
        result.feasible = result.looked_at = np.array([info.row], dtype=np.int64)
        return True

    def all_nodes(self, result: ScheduleResult) -> None:
        """Filter from the start index on until enough Nodes fit."""
        order = self.cache.order()
        start = result.next_start % len(order)
        visit = np.concatenate((order[start:], order[:start])) if start else order
        if self.narrowed is not None:
            visit = visit[self.narrowed[visit]]
        limit = nodes_to_find(len(visit), self.framework.percentage_of_nodes_to_score)
        found = _first(self._filter(visit), visit, limit + 1)
        looked_at = int(found[limit]) if len(found) > limit else len(visit)
        result.looked_at = visit[:looked_at]
        result.feasible = visit[found[:limit]]
        statuses = self.diagnosis.statuses
        if statuses.statuses:
            statuses.codes[visit[looked_at:]] = 0
        if self._tried_first is not None:
            row, status = self._tried_first
            statuses.set(row, statuses.get(row) or status)
        broken = next((status for status in statuses.statuses if status.code is Code.ERROR), None)
        if broken is not None:
            self.diagnosis.error = f'running "{broken.plugin}" filter plugin: {broken.message}'
            result.feasible = result.feasible[:0]
        failed = int(np.count_nonzero(statuses.codes))
        result.next_start = (result.next_start + len(result.feasible) + failed) % len(order)
        if self._absent is not None:
            absent = order[statuses.codes[order] == 0]
            statuses.codes[absent[~np.isin(absent, visit)]] = statuses.code_of(self._absent)
        if failed or self._absent is not None:
            self._note_rejecting(statuses.plugins())

    def _note_rejecting(self, plugins: frozenset[str]) -> None:
        for plugin in self.framework.points["filter"]:
            if plugin in plugins:
                self.diagnosis.reject(plugin)

    def _filter(self, visit: Ints) -> Bools:
        """By row, which of these pass; the statuses of the others go into the diagnosis."""
        if self.narrowed is not None and len(visit) <= FEW_NODES:
            return self._filter_each(visit)
        return self._filter_rows(self.cache.columns.valid if self.narrowed is None else self.narrowed)

    def _filter_each(self, visit: Ints) -> Bools:
        names, infos = self.cache.columns.names, self.cache.infos
        passed = np.zeros(len(names), dtype=np.bool_)
        for row in visit.tolist():
            status = self.filter_with_nominated(infos[names[row]])
            self.diagnosis.statuses.set(row, status)
            passed[row] = status is None
        return passed

    def _filter_rows(self, allowed: Bools) -> Bools:
        """Both passes: with the nominated Pods that count, and without them."""
        if self.cache.nominator.empty:
            return self._filter_columns(self.cache.columns, allowed)
        if self._only_resources_matter():
            return self._filter_with_resources(allowed)
        nominated = self._nominated_rows(allowed)
        plain = allowed.copy()
        plain[nominated] = False
        passed = self._filter_columns(self.cache.columns, plain)
        for row in nominated:
            status = self.filter_with_nominated(self.cache.infos[self.cache.columns.names[row]])
            self.diagnosis.statuses.set(row, status)
            passed[row] = status is None
        return passed

    def _filter_columns(self, columns: Columns, rows: Bools) -> Bools:
        return self.framework.filter_columns(self.state, self.pod, columns, rows, self.diagnosis)

    def _filter_with_resources(self, allowed: Bools) -> Bools:
        """Where nominated Pods only take resources, a view of the columns with them answers for the first pass."""
        statuses = self.diagnosis.statuses
        passed = self._filter_columns(self.cache.columns, allowed)
        usage = nominated_usage(self.cache, self.pod)
        first: Bools = allowed & (usage.pods > 0)
        rows = np.flatnonzero(first)
        if not len(rows):
            return passed
        alone = statuses.codes[rows]
        statuses.codes[rows] = 0
        fits = self._filter_columns(usage.added_to(self.cache.columns), first)[rows]
        statuses.codes[rows] = np.where(fits, alone, statuses.codes[rows])
        passed[rows] &= fits
        return passed

    def _nominated_rows(self, allowed: Bools) -> list[int]:
        """The rows with nominated Pods that count, in order of nomination."""
        infos = (self.cache.infos.get(name) for name in self.cache.nominator.nodes())
        return [info.row for info in infos if info is not None and allowed[info.row] and self._nominated_that_count(info.name)]

    def _nominated_that_count(self, node_name: str) -> list[Pod]:
        nominated = self.cache.nominator.pods_on(node_name)
        return [p for p in nominated if p.priority >= self.pod.priority and p.uid != self.pod.uid] if nominated else []

    def _only_resources_matter(self) -> bool:
        """Whether nominated Pods can change nothing but resources, so that columns answer for them."""
        active = self.framework.active_filters(self.state)
        return not any(p.FILTER_SCOPE is not Scope.NODE and p.NAME != "NodeResourcesFit" for p in active)

    def filter_with_nominated(self, info: NodeInfo, *, pods_only: bool = False) -> Status | None:
        """Filter one Node in two passes: with the nominated Pods of equal or higher priority, then without them."""
        added = self._nominated_that_count(info.name)
        if added:
            with_them = info.clone()
            for nominated in added:
                self.framework.add_pod(self.state, self.pod, nominated, with_them)
            status = self.framework.filter_node(self.state, self.pod, with_them, pods_only=pods_only)
            for nominated in added:
                self.framework.remove_pod(self.state, self.pod, nominated, with_them)
            if status is not None:
                return status
        return self.framework.filter_node(self.state, self.pod, info, pods_only=pods_only)


def _first(passed: Bools, visit: Ints, number: int) -> Ints:
    """Where in `visit` the first so many rows are that passed; all of them, if there are no more."""
    size = 2 * number
    while True:
        found: Ints = passed[visit[:size]].nonzero()[0]
        if len(found) >= number or size >= len(visit):
            return found[:number]
        size *= 4
