"""Asks the scheduler itself: would this Pod, changed like this, among Nodes changed like this, find a place now?"""

from collections.abc import Sequence
from random import Random

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.pod_spec import trial_pod_spec
from simulations.engine.counterfactual.model import Edit, Landing, Spec
from simulations.engine.scheduler.algorithm import schedule_pod
from simulations.engine.scheduler.preemption.evaluator import PreemptionOutcome, evaluate
from simulations.engine.scheduler.schedule_one import Cycle

Choice = tuple[Edit, int]
"""An edit and its degree."""
_HIGHEST = 2**31 - 1


class Trial:
    """One cycle, asked again and again. It leaves the scheduler's cache as it was; `asked` counts the questions."""

    def __init__(self, cycle: Cycle) -> None:
        self.cycle = cycle
        self.asked = 0

    @property
    def pod(self) -> Pod:
        """The Pod as it is."""
        return self.cycle.pod

    def spec_with(self, choices: Sequence[Choice]) -> Spec | None:
        """The Pod's spec with the changes in it, the last one first, since terms go by number; None where one cannot be made."""
        spec: Spec | None = self.pod.spec.raw
        for edit, degree in reversed(choices):
            if edit.spec is not None and spec is not None:
                spec = edit.spec(spec, degree)
        return spec

    def land(self, choices: Sequence[Choice]) -> Landing | None:
        """Where the Pod would go with these changes; None: nowhere. A changed priority may preempt, others may not."""
        spec = self.spec_with(choices)
        if spec is None:
            return None
        pod = self._changed(spec)
        nodes = self._changed_nodes(choices)
        before = self._put(nodes)
        try:
            return self._decide(pod, preempt=any(edit.kind == "priority" for edit, _degree in choices))
        finally:
            self._put_back(nodes, before)

    def _changed_nodes(self, choices: Sequence[Choice]) -> list[Node]:
        """Each Node that is changed or comes, with all its changes."""
        infos = self.cycle.framework.cache.infos
        found: dict[str, Node] = {}
        for edit, _degree in choices:
            if edit.node is not None:
                pattern = infos.get(edit.target) or infos[edit.like]
                found[edit.target] = edit.node(found.get(edit.target, pattern.node))
        return list(found.values())

    def room_by_force(self) -> Landing | None:
        """The Node that the fewest Pods would have to leave, whatever their priority is."""
        outcome = self._preempt(
            self._changed({**self.pod.spec.raw, "priority": _HIGHEST, "preemptionPolicy": "PreemptLowerPriority"})
        )
        if outcome is None or not outcome.candidates:
            return None
        best = min(outcome.candidates, key=lambda c: (len(c.victims), c.highest_priority, c.priority_sum, c.row))
        return Landing(best.node, tuple(best.names))

    def _changed(self, spec: Spec) -> Pod:
        return self.pod.replace(spec=trial_pod_spec(spec, self.pod.namespace, self.pod.labels))

    def _decide(self, pod: Pod, *, preempt: bool) -> Landing | None:
        self.asked += 1
        cycle = self.cycle
        result = schedule_pod(cycle.framework, pod, cycle.start)
        if result.node:
            return Landing(result.node)
        outcome = self._preempt(pod) if preempt else None
        if outcome is None or outcome.winner is None:
            return None
        return Landing(outcome.winner.node, tuple(outcome.winner.names), outcome.rule)

    def _preempt(self, pod: Pod) -> PreemptionOutcome | None:
        """PostFilter, with the same draw that the real cycle makes."""
        cycle = self.cycle
        result = schedule_pod(cycle.framework, pod, cycle.start)
        if result.node or result.diagnosis.error:
            return None
        rng = Random(0)  # its state is replaced by that of the run's own stream
        rng.setstate(cycle.rng.getstate())
        return evaluate(cycle.framework, pod, result, cycle.now, rng)

    def _put(self, nodes: Sequence[Node]) -> dict[str, Node]:
        """Let the Nodes be as they are given; return those that were there."""
        cache = self.cycle.framework.cache
        before = {}
        for node in nodes:
            if node.name in cache.infos:
                before[node.name] = cache.infos[node.name].node
                cache.update_node(node)
            else:
                cache.add_node(node)
        return before

    def _put_back(self, nodes: Sequence[Node], before: dict[str, Node]) -> None:
        cache = self.cycle.framework.cache
        for node in reversed(nodes):
            if node.name in before:
                cache.update_node(before[node.name])
            else:
                cache.remove_node(node.name)
