"""The InterPodAffinity plugin.

Source: pkg/scheduler/framework/plugins/interpodaffinity/plugin.go, v1.36
"""

from collections.abc import Sequence
from dataclasses import dataclass

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.events import Action, EventRegistration, node_event, pod_event
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Handle, Plugin, PreFilterResult
from simulations.engine.scheduler.framework.status import SKIP, Status
from simulations.engine.scheduler.plugins.inter_pod_affinity import filtering, scoring
from simulations.engine.scheduler.plugins.inter_pod_affinity.common import matches_all


@dataclass(frozen=True, slots=True)
class InterPodAffinityArgs:
    """`hard_weight` scores other Pods' required terms; `ignore_preferred_of_existing` skips Pods without preferred terms."""

    hard_weight: int = 1
    ignore_preferred_of_existing: bool = False


class InterPodAffinity(Plugin):
    """Filters by required terms of the Pod and of others, scores by preferred ones."""

    NAME = "InterPodAffinity"

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        self.args = args
        self.handle = handle

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Pods that matter came, went or changed labels; Nodes with the keys came or changed."""
        pods = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL
        return (
            EventRegistration(pod_event(pods), self._after_pod_change),
            EventRegistration(node_event(Action.ADD | Action.UPDATE_NODE_LABEL), self._after_node_change),
        )

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult | None:
        """Count matching Pods by topology value."""
        prepared = filtering.prepare(pod, self.handle.cache)
        if prepared is None:
            return PreFilterResult(SKIP)
        state.data[self.NAME] = prepared
        return None

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Affinity, then anti-affinity, then the anti-affinity of others."""
        return filtering.filter_row(state.data[self.NAME], self.handle.cache.columns, info.row)

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """The same for all Nodes."""
        return filtering.filter_all(state.data[self.NAME], columns)

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, info: NodeInfo) -> None:
        """Count it in."""
        filtering.update(state.data[self.NAME], added, info, 1)

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, info: NodeInfo) -> None:
        """Count it out."""
        filtering.update(state.data[self.NAME], removed, info, -1)

    def pre_score(self, state: CycleState, pod: Pod, rows: Ints) -> Status | None:
        """Add up weights by topology value; skip where there are none."""
        ignore = self.args.ignore_preferred_of_existing
        weights = scoring.prepare(pod, self.handle.cache, self.args.hard_weight, ignore_existing=ignore)
        if weights is None:
            return SKIP
        state.data[self.NAME + "/score"] = weights
        return None

    def score(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """The weight of the Node's topology values."""
        return scoring.score_row(state.data[self.NAME + "/score"], self.handle.cache.columns, info.row)

    def score_columns(self, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        """The same for these rows."""
        return scoring.score_rows(state.data[self.NAME + "/score"], columns, rows)

    def normalize(self, state: CycleState, scores: Ints) -> Ints:
        """From the lowest (0) to the highest (100)."""
        return scoring.normalize(scores)

    # ---- queueing hints

    def _after_pod_change(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        required, anti = filtering.own_terms(pod)
        listers = self.handle.cache.listers
        if old is not None and new is not None:
            if new.uid == pod.uid:
                return True
            if not new.node_name:
                return False
            starts = matches_all(required, new, listers) and not matches_all(required, old, listers)
            return starts or (matches_all(anti, old, listers) and not matches_all(anti, new, listers))
        other = new or old
        if other is None or not (other.node_name or other.nominated_node_name):
            return False
        if new is not None:
            return matches_all(required, new, listers)
        return matches_all(anti, other, listers) or matches_all(filtering.own_terms(other)[1], pod, listers)

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node) -> bool:
        required, anti = filtering.own_terms(pod)
        for term in required:
            value = new.labels.get(term.topology_key)
            if value is not None and (old is None or old.labels.get(term.topology_key) != value):
                return True
        if old is None:
            return bool(anti)
        before = [(old.labels.get(t.topology_key), new.labels.get(t.topology_key)) for t in anti]
        return any(was is not None and now != was for was, now in before)
