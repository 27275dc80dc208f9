"""TaintToleration: taints that a Pod does not tolerate keep it away, or make a Node less liked.

Source: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go, v1.36
"""

from collections.abc import Sequence

import numpy as np

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint, tolerated
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.events import Action, EventRegistration, node_event, pod_event
from simulations.engine.scheduler.framework.normalize import default_normalize
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Plugin, Scope
from simulations.engine.scheduler.framework.status import Status, unresolvable


class TaintToleration(Plugin):
    """Filters by NoSchedule and NoExecute taints, scores by PreferNoSchedule ones."""

    NAME = "TaintToleration"
    FILTER_SCOPE = Scope.NODE
    SCORE_SCOPE = Scope.NODE
    _STATUS = unresolvable(NAME, "node(s) had untolerated taint(s)")

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A Node whose taints are tolerated now, or a Pod with more tolerations."""
        return (
            EventRegistration(node_event(Action.ADD | Action.UPDATE_NODE_TAINT), self._after_node_change),
            EventRegistration(pod_event(Action.UPDATE_POD_TOLERATION), lambda pod, _old, new: new.uid == pod.uid),
        )

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Reject a Node with a taint that is not tolerated."""
        return None if _tolerates_all(pod, info.node.taints) else self._STATUS

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """Reject by set of taints."""
        rejected = np.array([not _tolerates_all(pod, taints) for taints in columns.taints], dtype=np.bool_)
        if not rejected.any():
            return None
        return FilterColumn.rejecting(rejected[columns.taint_sets], self._STATUS)

    def score(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """The number of PreferNoSchedule taints that are not tolerated."""
        return _intolerable(pod, info.node.taints)

    def score_columns(self, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        """The same by set of taints."""
        counts = np.array([_intolerable(pod, taints) for taints in columns.taints], dtype=np.int64)
        scores: Ints = counts[columns.taint_sets[rows]]
        return scores

    def normalize(self, state: CycleState, scores: Ints) -> Ints:
        """Fewer is better."""
        return default_normalize(scores, reverse=True)

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node) -> bool:
        return _tolerates_all(pod, new.taints) and (old is None or not _tolerates_all(pod, old.taints))


def _tolerates_all(pod: Pod, taints: tuple[Taint, ...]) -> bool:
    return all(t.effect not in (NO_SCHEDULE, NO_EXECUTE) or tolerated(pod.spec.tolerations, t) for t in taints)


def _intolerable(pod: Pod, taints: tuple[Taint, ...]) -> int:
    matching = tuple(t for t in pod.spec.tolerations if t.effect in ("", PREFER_NO_SCHEDULE))
    return sum(1 for t in taints if t.effect == PREFER_NO_SCHEDULE and not tolerated(matching, t))
