"""Runs the plugins of one profile, point by point.

Source: pkg/scheduler/framework/runtime/framework.go, v1.36
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.kernel.loop import Steps
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Bools, Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.diagnosis import Diagnosis
from simulations.engine.scheduler.framework.events import Action, EventRegistration, Resource, node_event
from simulations.engine.scheduler.framework.local import LocalAnswers
from simulations.engine.scheduler.framework.plugin import CycleState, Handle, Plugin, Scope, takes_part
from simulations.engine.scheduler.framework.status import Code, Status, unresolvable


@dataclass(frozen=True, slots=True)
class PluginScores:
    """What one plugin gave the feasible Nodes, in their order."""

    plugin: str
    weight: int
    raw: Ints
    normalized: Ints


@dataclass(slots=True)
class ScoreTable:
    """The scores of the feasible rows: per plugin, and the weighted total."""

    rows: Ints
    plugins: list[PluginScores]
    total: Ints


@dataclass(slots=True)
class PreFiltered:
    """What PreFilter left: the rows that can fit at all (None: all), or the status that ended the cycle."""

    status: Status | None = None
    nodes: frozenset[str] | None = None
    narrowed_by: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    """The plugins whose PreFilter was called."""


Points = Mapping[str, Sequence[tuple[Plugin, int]]]
"""Per extension point the plugins in the order in which they run, with their Score weights."""


class Framework:
    """The plugins of a profile at their extension points, with weights for Score and the share of Nodes to score."""

    def __init__(self, profile: str, points: Points, handle: Handle, percentage_of_nodes_to_score: int = 0) -> None:
        self.profile = profile
        self.handle = handle
        self.percentage_of_nodes_to_score = percentage_of_nodes_to_score
        self.points = {point: tuple(plugin.NAME for plugin, _weight in plugins) for point, plugins in points.items()}
        self._plugins = {plugin.NAME: plugin for plugins in points.values() for plugin, _weight in plugins}
        self._pre_enqueue = _taking_part(points, "preEnqueue", "pre_enqueue")
        self._pre_filter = _taking_part(points, "preFilter", "pre_filter")
        self._filter = _taking_part(points, "filter", "filter")
        self._pre_score = frozenset(self.points.get("preScore", ()))
        self._reserve = _taking_part(points, "reserve", "reserve")
        self._pre_bind = _taking_part(points, "preBind", "pre_bind")
        self._score = [(plugin, weight) for plugin, weight in points.get("score", ()) if takes_part(plugin, "score")]
        self._scored_in_columns = frozenset(plugin.NAME for plugin, _weight in self._score if takes_part(plugin, "score_columns"))
        leading = itertools.takewhile(
            lambda p: p.FILTER_SCOPE <= Scope.NODE_AND_PODS and takes_part(p, "filter_columns"), self._filter
        )
        local = list(leading)
        self._further = self._filter[len(local) :]
        self._filtered_in_columns = frozenset(plugin.NAME for plugin in self._further if takes_part(plugin, "filter_columns"))
        self._local = LocalAnswers(handle.cache, local)

    @property
    def cache(self) -> SchedulerCache:
        """The scheduler's cache."""
        return self.handle.cache

    @property
    def plugins(self) -> list[Plugin]:
        """All plugins of the profile."""
        return list(self._plugins.values())

    def plugin(self, name: str) -> Plugin | None:
        """The plugin of this name, if the profile has it."""
        return self._plugins.get(name)

    def runs(self, name: str, point: str) -> bool:
        """Whether the plugin of this name runs at the extension point."""
        return name in self.points.get(point, ())

    def registrations(self) -> dict[str, Sequence[EventRegistration]]:
        """The events each plugin asks for, by plugin name, in plugin order.

        A plugin that hears of added Nodes, but not of their taints, hears of every taint change too, without a hint of its own.
        Source: pkg/scheduler/scheduler.go, buildQueueingHintMap, v1.36
        """
        return {plugin.NAME: _with_taints(plugin.events_to_register()) for plugin in self.plugins}

    def run_pre_enqueue(self, pod: Pod) -> Status | None:
        """The status of the first plugin that keeps the Pod out of activeQ, or None."""
        for plugin in self._pre_enqueue:
            status = plugin.pre_enqueue(pod)
            if status is not None:
                return Status(status.code, status.reasons, plugin.NAME)
        return None

    def run_pre_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> PreFiltered:
        """Run PreFilter; after an Unschedulable the others still run, anything worse stops at once."""
        outcome = PreFiltered()
        ran = outcome.ran
        for plugin in self._pre_filter:
            ran.append(plugin.NAME)
            result = plugin.pre_filter(state, pod)
            if result is None:
                continue
            if result.status is not None and result.status.code is Code.SKIP:
                state.skip_filter.append(plugin.NAME)
            elif result.status is not None:
                if result.status.rejected:
                    diagnosis.reject(plugin.NAME)
                outcome.status = Status(result.status.code, result.status.reasons, plugin.NAME)
                if result.status.code is not Code.UNSCHEDULABLE:
                    return outcome
            elif result.nodes is not None and self._narrow(outcome, plugin.NAME, result.nodes, diagnosis):
                return outcome
        return outcome

    @staticmethod
    def _narrow(outcome: PreFiltered, plugin: str, nodes: tuple[str, ...], diagnosis: Diagnosis) -> bool:
        """Keep only these Nodes; True when none is left."""
        diagnosis.reject(plugin)
        outcome.narrowed_by = sorted({*outcome.narrowed_by, plugin})
        names = frozenset(nodes)
        outcome.nodes = names if outcome.nodes is None else outcome.nodes & names
        if outcome.nodes:
            return False
        who = f"plugin {plugin}"
        if len(outcome.narrowed_by) > 1:
            who = f"plugin(s) [{' '.join(outcome.narrowed_by)}] simultaneously"
        outcome.status = unresolvable(plugin, f"node(s) didn't satisfy {who}")
        return True

    def active_filters(self, state: CycleState) -> list[Plugin]:
        """The Filter plugins that PreFilter did not skip."""
        if state.filters is None:
            state.filters = [p for p in self._filter if p.NAME not in state.skip_filter]
            state.pod_filters = [p for p in state.filters if p.FILTER_SCOPE is not Scope.NODE]
            state.followers = [p for p in state.filters if takes_part(p, "add_pod")]
        return state.filters

    def filter_node(self, state: CycleState, pod: Pod, info: NodeInfo, *, pods_only: bool = False) -> Status | None:
        """Filter one Node: the first plugin that rejects it decides.

        With `pods_only` the plugins that look at no Pods are left out: they passed this Node before.
        """
        plugins = self.active_filters(state)
        for plugin in state.pod_filters if pods_only else plugins:
            status = plugin.filter(state, pod, info)
            if status is not None:
                return status if status.plugin else Status(status.code, status.reasons, plugin.NAME)
        return None

    def filters_locally(self, state: CycleState) -> bool:
        """Whether Filter of this cycle depends on each Node with its Pods alone."""
        return all(plugin.FILTER_SCOPE <= Scope.NODE_AND_PODS for plugin in self.active_filters(state))

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns, candidates: Bools, diagnosis: Diagnosis) -> Bools:
        """Filter all candidate rows at once; return which passed, and write the others' statuses into the diagnosis."""
        if columns is self.cache.columns and not pod.node_name:  # the Node named is no part of the spec
            verdicts = self._local.verdicts(state, pod)
        else:
            verdicts = self._local.verdicts_over(state, pod, columns)
        diagnosis.statuses.adopt(candidates, verdicts)
        remaining: Bools = candidates & (verdicts.codes == 0)
        for plugin in self._further:
            if plugin.NAME in state.skip_filter:
                continue
            if plugin.NAME not in self._filtered_in_columns:
                self._filter_rows(plugin, state, pod, remaining, diagnosis)
                continue
            column = plugin.filter_columns(state, pod, columns)
            if column is not None:
                rejected = remaining & (column.codes != 0)
                diagnosis.statuses.take_over(rejected, column.codes, column.statuses)
                remaining &= ~rejected
        return remaining

    def _filter_rows(self, plugin: Plugin, state: CycleState, pod: Pod, remaining: Bools, diagnosis: Diagnosis) -> None:
        infos, names = self.cache.infos, self.cache.columns.names
        for row in np.flatnonzero(remaining):
            status = plugin.filter(state, pod, infos[names[row]])
            if status is not None:
                diagnosis.statuses.set(int(row), Status(status.code, status.reasons, plugin.NAME))
                remaining[row] = False

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, info: NodeInfo) -> None:
        """Let `added` come to a Node of a what-if: Node and PreFilter states."""
        info.add_pod(added)
        self.active_filters(state)
        for plugin in state.followers:
            plugin.add_pod(state, pod, added, info)

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, info: NodeInfo) -> None:
        """Let `removed` leave a Node of a what-if: Node and PreFilter states."""
        info.remove_pod(removed.uid)
        self.active_filters(state)
        for plugin in state.followers:
            plugin.remove_pod(state, pod, removed, info)

    def run_scores(self, state: CycleState, pod: Pod, rows: Ints) -> ScoreTable:
        """PreScore, Score, NormalizeScore and weights for the feasible rows."""
        total = np.zeros(len(rows), dtype=np.int64)
        given: list[PluginScores] = []
        for plugin, weight in self._score:
            status = plugin.pre_score(state, pod, rows) if plugin.NAME in self._pre_score else None
            if status is not None and status.code is Code.SKIP:
                state.skip_score.append(plugin.NAME)
                continue
            raw = self._raw_scores(plugin, state, pod, rows)
            normalized = plugin.normalize(state, raw)
            total += normalized * weight
            given.append(PluginScores(plugin.NAME, weight, raw, normalized))
        return ScoreTable(rows, given, total)

    def run_reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Reserve in order; after a status the plugins take back what they did, the last one first."""
        for plugin in self._reserve:
            status = plugin.reserve(state, pod, node_name)
            if status is not None:
                self.run_unreserve(state, pod, node_name)
                return Status(status.code, status.reasons, plugin.NAME)
        return None

    def run_unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Unreserve, the last plugin first."""
        for plugin in reversed(self._reserve):
            plugin.unreserve(state, pod, node_name)

    def has_pre_bind_work(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        """Whether any PreBind plugin will have something to do."""
        return any(plugin.pre_bind_work(state, pod, node_name) for plugin in self._pre_bind)

    def run_pre_bind(self, state: CycleState, pod: Pod, node_name: str, cause: int) -> Steps[Status | None]:
        """PreBind in order, up to the first status."""
        for plugin in self._pre_bind:
            status = yield from plugin.pre_bind(state, pod, node_name, cause)
            if status is not None:
                return Status(status.code, status.reasons, plugin.NAME)
        return None

    def _raw_scores(self, plugin: Plugin, state: CycleState, pod: Pod, rows: Ints) -> Ints:
        columns = self.cache.columns
        if plugin.NAME in self._scored_in_columns:
            if plugin.SCORE_SCOPE is not Scope.CLUSTER and not pod.node_name:
                return self._local.scores(plugin, state, pod, rows)
            return plugin.score_columns(state, pod, columns, rows)
        infos, names = self.cache.infos, columns.names
        return np.array([plugin.score(state, pod, infos[names[row]]) for row in rows], dtype=np.int64)


def _taking_part(points: Points, point: str, method: str) -> list[Plugin]:
    return [plugin for plugin, _weight in points.get(point, ()) if takes_part(plugin, method)]


def _with_taints(registrations: Sequence[EventRegistration]) -> Sequence[EventRegistration]:
    nodes = [r.event.action for r in registrations if r.event.resource is Resource.NODE]
    added = any(action & Action.ADD for action in nodes)
    if not added or any(action & Action.UPDATE_NODE_TAINT for action in nodes):
        return registrations
    return (*registrations, EventRegistration(node_event(Action.UPDATE_NODE_TAINT)))
