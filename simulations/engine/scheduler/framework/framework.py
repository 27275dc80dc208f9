"""Runs the plugins of one profile, point by point.

Source: pkg/scheduler/framework/runtime/framework.go, v1.36
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Bools, Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.diagnosis import Diagnosis
from simulations.engine.scheduler.framework.events import EventRegistration
from simulations.engine.scheduler.framework.plugin import CycleState, Handle, Plugin, takes_part
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


class Framework:
    """The plugins of a profile in their order, with weights for Score."""

    def __init__(self, profile: str, plugins: Sequence[tuple[Plugin, int]], handle: Handle) -> None:
        self.profile = profile
        self.handle = handle
        self.plugins = [plugin for plugin, _weight in plugins]
        self._pre_enqueue = self._at("pre_enqueue")
        self._pre_filter = self._at("pre_filter")
        self._filter = self._at("filter")
        self._score = [(plugin, max(weight, 1)) for plugin, weight in plugins if takes_part(plugin, "score") and weight >= 0]
        handle.framework = self

    def _at(self, point: str) -> list[Plugin]:
        return [plugin for plugin in self.plugins if takes_part(plugin, point)]

    @property
    def cache(self) -> SchedulerCache:
        """The scheduler's cache."""
        return self.handle.cache

    def plugin(self, name: str) -> Plugin | None:
        """The plugin of this name, if the profile has it."""
        return next((p for p in self.plugins if name == p.NAME), None)

    def registrations(self) -> dict[str, Sequence[EventRegistration]]:
        """The events each plugin asks for, by plugin name, in plugin order."""
        return {plugin.NAME: plugin.events_to_register() for plugin in self.plugins}

    def run_pre_enqueue(self, pod: Pod) -> Status | None:
        """The status of the first plugin that keeps the Pod out of activeQ, or None."""
        for plugin in self._pre_enqueue:
            status = plugin.pre_enqueue(pod)
            if status is not None:
                return Status(status.code, status.reasons, plugin.NAME)
        return None

    def run_pre_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> PreFiltered:
        """Run PreFilter; an Unschedulable lets the others run, UnschedulableAndUnresolvable stops at once."""
        outcome = PreFiltered()
        for plugin in self._pre_filter:
            result = plugin.pre_filter(state, pod)
            if result is None:
                continue
            if result.status is not None and result.status.code is Code.SKIP:
                state.skip_filter.append(plugin.NAME)
                continue
            if result.status is not None:
                diagnosis.reject(plugin.NAME)
                outcome.status = outcome.status or Status(result.status.code, result.status.reasons, plugin.NAME)
                if result.status.code is not Code.UNSCHEDULABLE:
                    return outcome
            if result.nodes is not None and outcome.status is None:
                self._narrow(outcome, plugin.NAME, result.nodes, diagnosis)
                if outcome.status is not None:
                    return outcome
        return outcome

    @staticmethod
    def _narrow(outcome: PreFiltered, plugin: str, nodes: tuple[str, ...], diagnosis: Diagnosis) -> None:
        diagnosis.reject(plugin)
        outcome.narrowed_by.append(plugin)
        names = frozenset(nodes)
        outcome.nodes = names if outcome.nodes is None else outcome.nodes & names
        if not outcome.nodes:
            names_text = " ".join(outcome.narrowed_by)
            reason = f"node(s) didn't satisfy plugin {names_text}"
            if len(outcome.narrowed_by) > 1:
                reason = f"node(s) didn't satisfy plugin(s) [{names_text}] simultaneously"
            outcome.status = unresolvable(plugin, reason)

    def active_filters(self, state: CycleState) -> list[Plugin]:
        """The Filter plugins that PreFilter did not skip."""
        skipped = state.skip_filter
        return [p for p in self._filter if p.NAME not in skipped] if skipped else self._filter

    def filter_node(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Filter one Node: the first plugin that rejects it decides."""
        for plugin in self.active_filters(state):
            status = plugin.filter(state, pod, info)
            if status is not None:
                return Status(status.code, status.reasons, plugin.NAME)
        return None

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns, candidates: Bools, diagnosis: Diagnosis) -> Bools:
        """Filter all candidate rows at once; return which passed, and write the others' statuses into the diagnosis."""
        remaining = candidates.copy()
        statuses = diagnosis.statuses
        for plugin in self.active_filters(state):
            if takes_part(plugin, "filter_columns"):
                column = plugin.filter_columns(state, pod, columns)
                if column is None:
                    continue
                rejected = remaining & (column.codes != 0)
                if not rejected.any():
                    continue
                used = np.array([0] + [statuses.code_of(Status(s.code, s.reasons, plugin.NAME)) for s in column.statuses])
                statuses.codes[rejected] = used[column.codes[rejected]]
                remaining &= ~rejected
            else:
                self._filter_rows(plugin, state, pod, remaining, diagnosis)
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
        for plugin in self.active_filters(state):
            plugin.add_pod(state, pod, added, info)

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, info: NodeInfo) -> None:
        """Let `removed` leave a Node of a what-if: Node and PreFilter states."""
        info.remove_pod(removed.uid)
        for plugin in self.active_filters(state):
            plugin.remove_pod(state, pod, removed, info)

    def run_scores(self, state: CycleState, pod: Pod, rows: Ints) -> ScoreTable:
        """PreScore, Score, NormalizeScore and weights for the feasible rows."""
        columns = self.cache.columns
        total = np.zeros(len(rows), dtype=np.int64)
        given: list[PluginScores] = []
        for plugin, weight in self._score:
            status = plugin.pre_score(state, pod, rows)
            if status is not None and status.code is Code.SKIP:
                state.skip_score.append(plugin.NAME)
                continue
            raw = self._raw_scores(plugin, state, pod, columns, rows)
            normalized = plugin.normalize(state, raw)
            total += normalized * weight
            given.append(PluginScores(plugin.NAME, weight, raw, normalized))
        return ScoreTable(rows, given, total)

    def _raw_scores(self, plugin: Plugin, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        if takes_part(plugin, "score_columns"):
            return plugin.score_columns(state, pod, columns, rows)
        infos, names = self.cache.infos, columns.names
        return np.array([plugin.score(state, pod, infos[names[row]]) for row in rows], dtype=np.int64)
