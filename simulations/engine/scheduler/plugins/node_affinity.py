"""NodeAffinity: nodeSelector, required and preferred node affinity, and the affinity that the scheduler adds.

Source: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go, v1.36
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import NodeAffinity as Affinity
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.events import Action, EventRegistration, node_event
from simulations.engine.scheduler.framework.label_masks import affinity_mask, node_matches, required_mask, term_mask
from simulations.engine.scheduler.framework.normalize import default_normalize
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Plugin, PreFilterResult, Scope
from simulations.engine.scheduler.framework.status import SKIP, Status, unresolvable


@dataclass(frozen=True, slots=True)
class NodeAffinityArgs:
    """`addedAffinity` applies to every Pod of the profile."""

    added_affinity: Affinity | None = None


class NodeAffinity(Plugin):
    """Filters by required affinity and nodeSelector, scores by preferred terms."""

    NAME = "NodeAffinity"
    FILTER_SCOPE = Scope.NODE
    SCORE_SCOPE = Scope.NODE
    _STATUS = unresolvable(NAME, "node(s) didn't match Pod's node affinity/selector")
    _ENFORCED = unresolvable(NAME, "node(s) didn't match scheduler-enforced node affinity")
    _CONFLICT = unresolvable(NAME, "pod affinity terms conflict")

    def __init__(self, args: NodeAffinityArgs) -> None:
        self.added = args.added_affinity

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A Node that matches now."""
        return (EventRegistration(node_event(Action.ADD | Action.UPDATE_NODE_LABEL), self._after_node_change),)

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult | None:
        """Skip where nothing is asked; narrow to names where every term names Nodes."""
        affinity = pod.spec.node_affinity
        if self.added is None and not pod.spec.node_selector and (affinity is None or affinity.required is None):
            return PreFilterResult(SKIP)
        if affinity is None or not affinity.required:
            return None
        union: dict[str, None] = {}
        for term in affinity.required:
            names = term.pinned_names()
            if names is None:
                return None
            union.update(dict.fromkeys(names))
        return PreFilterResult(nodes=tuple(union)) if union else PreFilterResult(self._CONFLICT)

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Reject a Node that the added affinity, the selector or the required terms leave out."""
        node = info.node
        if self.added is not None and not self.added.required_matches(node.name, node.labels):
            return self._ENFORCED
        return None if node_matches(pod, node.name, node.labels) else self._STATUS

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """The same by label columns."""
        codes = np.zeros(len(columns.valid), dtype=np.int16)
        codes[~required_mask(pod, columns)] = 1
        if self.added is not None:
            codes[~affinity_mask(self.added, columns)] = 2
        return FilterColumn(codes, [self._STATUS, self._ENFORCED])

    def pre_score(self, state: CycleState, pod: Pod, rows: Ints) -> Status | None:
        """Skip without preferred terms."""
        affinities = (a for a in (pod.spec.node_affinity, self.added) if a is not None)
        return None if any(a.preferred for a in affinities) else SKIP

    def score(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """The sum of the weights of the preferred terms that match."""
        affinities = (a for a in (pod.spec.node_affinity, self.added) if a is not None)
        node = info.node
        return sum(p.weight for a in affinities for p in a.preferred if p.term.matches(node.name, node.labels))

    def score_columns(self, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        """The same by label columns."""
        scores = np.zeros(len(rows), dtype=np.int64)
        for affinity in (pod.spec.node_affinity, self.added):
            for preferred in affinity.preferred if affinity is not None else ():
                scores += term_mask(columns, preferred.term)[rows] * preferred.weight
        return scores

    def normalize(self, state: CycleState, scores: Ints) -> Ints:
        """The best gets 100."""
        return default_normalize(scores, reverse=False)

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node) -> bool:
        def fits(node: Node) -> bool:
            if self.added is not None and not self.added.required_matches(node.name, node.labels):
                return False
            return node_matches(pod, node.name, node.labels)

        return fits(new) and (old is None or not fits(old))
