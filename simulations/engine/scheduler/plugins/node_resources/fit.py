"""NodeResourcesFit: requests against what is left; scored by a strategy.

Source: pkg/scheduler/framework/plugins/noderesources/fit.go, v1.36
"""

from collections.abc import Sequence

import numpy as np

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo, counted_requests, is_extended
from simulations.engine.scheduler.framework.events import Action, EventRegistration, node_event, pod_event
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Plugin, Scope
from simulations.engine.scheduler.framework.status import Status, unresolvable, unschedulable
from simulations.engine.scheduler.plugins.node_resources.allocation import column_usage, left_out, node_usage
from simulations.engine.scheduler.plugins.node_resources.args import FitArgs
from simulations.engine.scheduler.plugins.node_resources.strategies import strategy_of

Wanted = tuple[tuple[str, int], ...]
"""(resource, amount) pairs that a Pod asks for, none of them 0."""


class NodeResourcesFit(Plugin):
    """Filters by cpu, memory, ephemeral storage, scalars and the number of Pods."""

    NAME = "NodeResourcesFit"
    FILTER_SCOPE = Scope.NODE_AND_PODS
    SCORE_SCOPE = Scope.NODE_AND_PODS

    def __init__(self, args: FitArgs) -> None:
        self.args = args
        self._strategy = strategy_of(args.strategy)
        self._ignores = bool(args.ignored_resources or args.ignored_groups)
        self._statuses: dict[tuple[str, ...], tuple[Status, Status]] = {}

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A Pod left or shrank; a Node came or grew."""
        return (
            EventRegistration(pod_event(Action.DELETE), self._after_pod_deleted),
            EventRegistration(pod_event(Action.UPDATE_POD_SCALE_DOWN), self._after_scale_down),
            EventRegistration(node_event(Action.ADD | Action.UPDATE_NODE_ALLOCATABLE), self._after_node_change),
        )

    def _wanted(self, pod: Pod) -> Wanted:
        if not self._ignores:
            return counted_requests(pod.spec)
        return tuple((r, amount) for r, amount in counted_requests(pod.spec) if not self._ignored(r))

    def _ignored(self, resource: str) -> bool:
        if not is_extended(resource):
            return False
        return resource in self.args.ignored_resources or resource.split("/", 1)[0] in self.args.ignored_groups

    def _status(self, reasons: tuple[str, ...], *, never: bool) -> Status:
        known = self._statuses.get(reasons)
        if known is None:
            known = self._statuses[reasons] = (unschedulable(self.NAME, *reasons), unresolvable(self.NAME, *reasons))
        return known[never]

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Reject a Node where anything is insufficient; unresolvable where it is more than the Node has at all."""
        reasons: list[str] = []
        never = False
        allocatable, requested = info.node.allocatable, info.requested
        if len(info.pods) + 1 > allocatable.get("pods", 0):
            reasons.append("Too many pods")
        for resource, amount in self._wanted(pod):
            total = allocatable.get(resource, 0)
            if amount > total - requested.get(resource, 0):
                reasons.append(f"Insufficient {resource}")
                never = never or amount > total
        return self._status(tuple(reasons), never=never) if reasons else None

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """The same over columns; where a Node is short of something, one status per combination of reasons that occurs."""
        wanted = self._wanted(pod)
        fits = columns.pods < columns.allowed_pods
        for resource, amount in wanted:
            fits &= columns.allocatable(resource) - columns.requested(resource) >= amount
        short = np.flatnonzero(columns.valid & ~fits)
        return self._explain(columns, wanted, short) if len(short) else None

    def _explain(self, columns: Columns, wanted: Wanted, short: Ints) -> FilterColumn:
        """One bit per reason and one for "never" tell the combinations apart."""
        reasons = ["Too many pods"]
        bits = (columns.pods[short] >= columns.allowed_pods[short]).astype(np.int64)
        never = np.zeros(len(short), dtype=np.bool_)
        for resource, amount in wanted:
            allocatable = columns.allocatable(resource)[short]
            lacking = allocatable - columns.requested(resource)[short] < amount
            bits |= lacking.astype(np.int64) << len(reasons)
            reasons.append(f"Insufficient {resource}")
            never |= allocatable < amount
        combinations, found = np.unique(bits * 2 + never, return_inverse=True)
        codes = np.zeros(len(columns.valid), dtype=np.int16)
        codes[short] = found + 1
        return FilterColumn(codes, [self._of_bits(int(c) >> 1, reasons, never=bool(c & 1)) for c in combinations])

    def _of_bits(self, bits: int, reasons: list[str], *, never: bool) -> Status:
        return self._status(tuple(r for i, r in enumerate(reasons) if bits >> i & 1), never=never)

    def score(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """The score of one Node by the strategy."""
        parts = []
        for resource, weight in self.args.strategy.resources:
            allocatable, requested = node_usage(pod, info, resource, nonzero=True)
            if allocatable and not left_out(pod, resource):
                parts.append((self._strategy.resource(allocatable, requested), weight))
        return self._strategy.node(parts)

    def score_columns(self, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        """The same for these rows."""
        scores, weights = [], []
        for resource, weight in self.args.strategy.resources:
            if left_out(pod, resource):
                continue
            allocatable, requested = column_usage(pod, columns, rows, resource, nonzero=True)
            scores.append(self._strategy.resources(np.maximum(allocatable, 1), requested))
            weights.append(np.where(allocatable > 0, weight, 0))
        return self._strategy.nodes(np.array(scores), np.array(weights)) if scores else np.zeros(len(rows), dtype=np.int64)

    def _after_pod_deleted(self, pod: Pod, old: Pod, new: None) -> bool:
        return bool(old.node_name or old.nominated_node_name)

    def _after_scale_down(self, pod: Pod, old: Pod, new: Pod) -> bool:
        if new.uid == pod.uid:
            return True
        if not new.node_name:
            return False
        before, now = old.spec.requests, new.spec.requests
        return any(now.get(r, 0) < before.get(r, 0) for r, _amount in self._wanted(pod))

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node) -> bool:
        wanted = self._wanted(pod)
        if new.allocatable.get("pods", 0) < 1 or any(amount > new.allocatable.get(r, 0) for r, amount in wanted):
            return False
        if old is None:
            return True
        grown = [r for r in ("pods", *(r for r, _ in wanted)) if new.allocatable.get(r, 0) > old.allocatable.get(r, 0)]
        return bool(grown)
