"""The victims on one Node: a dry run on a copy of it.

Source: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go, SelectVictimsOnNode,
filterPodsWithPDBViolation; pkg/scheduler/util/utils.go, MoreImportantPod, v1.36
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from simulations.engine.api.pod import Pod
from simulations.engine.api.workloads import PodDisruptionBudget
from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.search import Search
from simulations.engine.scheduler.framework.status import Code, Status, unresolvable

NO_VICTIMS = unresolvable("DefaultPreemption", "No preemption victims found for incoming pod")


@dataclass(frozen=True)
class Candidate:
    """A Node with the Pods that would have to leave it, most important first; `violations` of them break a budget.

    One that is remembered is compared and recorded many times, so what the rules compare is worked out once.
    """

    row: int
    node: str
    victims: tuple[Pod, ...]
    violating: tuple[str, ...]
    """The uids of the victims whose budget would be violated."""

    @property
    def violations(self) -> int:
        """How many victims break a budget."""
        return len(self.violating)

    @property
    def highest_priority(self) -> int:
        """The priority of the most important victim."""
        return self.victims[0].priority

    @cached_property
    def priority_sum(self) -> int:
        """The sum of the victims' priorities."""
        return sum(victim.priority for victim in self.victims)

    @cached_property
    def _first_start(self) -> tuple[SimTime | None, bool]:
        """When the first of the most important victims started, and whether one of them has not started."""
        starts = [v.start_time for v in self.victims if v.priority == self.highest_priority]
        started = [start for start in starts if start is not None]
        return min(started, default=None), len(started) < len(starts)

    def earliest_start(self, now: SimTime) -> SimTime:
        """When the first of the most important victims started; who has not started starts `now`."""
        first, waits = self._first_start
        if first is None:
            return now
        return min(first, now) if waits else first

    @cached_property
    def names(self) -> list[str]:
        """The victims as `namespace/name`."""
        return [f"{victim.namespace}/{victim.name}" for victim in self.victims]


def importance(pod: Pod, now: SimTime) -> tuple[int, SimTime]:
    """Sort key, most important first: higher priority, then the earlier start; a Pod that has not started starts `now`."""
    return -pod.priority, pod.start_time if pod.start_time is not None else now


def select_victims(search: Search, info: NodeInfo, now: SimTime) -> Candidate | Status:
    """Remove every Pod of lower priority, then give back as many as fit: budget violators first, each group by importance."""
    potential = [p for p in info.pods if p.priority < search.pod.priority]
    if not potential:
        return NO_VICTIMS
    run = _DryRun(search, info.clone())
    run.remove(potential)
    try:
        status = run.filter()
        if status is not None:
            return status
        potential.sort(key=lambda p: importance(p, now))
        violating, others = split_by_budget(potential, search.cache.listers.budgets.values())
        victims = [p for p in (*violating, *others) if not run.give_back(p)]
    finally:
        run.restore()
    if not victims:
        return Status(Code.ERROR, (f'expected at least one victim pod on node "{info.name}"',), "DefaultPreemption")
    if violating and others:
        victims.sort(key=lambda p: importance(p, now))
    broken = {p.uid for p in violating}
    return Candidate(info.row, info.name, tuple(victims), tuple(p.uid for p in victims if p.uid in broken))


class _DryRun:
    """A copy of a Node, and the cycle's state: Pods leave both and come back."""

    def __init__(self, search: Search, copy: NodeInfo) -> None:
        self._search = search
        self._copy = copy
        self._gone: dict[str, Pod] = {}

    def remove(self, pods: Iterable[Pod]) -> None:
        """Let Pods leave."""
        search = self._search
        for pod in pods:
            search.framework.remove_pod(search.state, search.pod, pod, self._copy)
            self._gone[pod.uid] = pod

    def filter(self) -> Status | None:
        """Filter the Node as it is now, with nominated Pods."""
        return self._search.filter_with_nominated(self._copy)

    def give_back(self, pod: Pod) -> bool:
        """Let a Pod come back if the preemptor still fits beside it. What looks at no Pods passed before."""
        search = self._search
        search.framework.add_pod(search.state, search.pod, pod, self._copy)
        if search.filter_with_nominated(self._copy, pods_only=True) is None:
            del self._gone[pod.uid]
            return True
        search.framework.remove_pod(search.state, search.pod, pod, self._copy)
        return False

    def restore(self) -> None:
        """Bring the cycle's state back to what it was."""
        search = self._search
        if search.state.followers:
            for pod in self._gone.values():
                search.framework.add_pod(search.state, search.pod, pod, self._copy)


def split_by_budget(pods: list[Pod], budgets: Iterable[PodDisruptionBudget]) -> tuple[list[Pod], list[Pod]]:
    """Pods whose disruption would violate a budget, and the others; budgets are used up in the order of the Pods."""
    considered = list(budgets)
    left = [budget.disruptions_allowed or 0 for budget in considered]
    violating: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        breaks = False
        for i, budget in enumerate(considered):
            if _protects(budget, pod):
                left[i] -= 1
                breaks = breaks or left[i] < 0
        (violating if breaks else others).append(pod)
    return violating, others


def _protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Whether the Pod counts against the budget: an empty selector matches nothing here, and neither do Pods without labels."""
    if budget.namespace != pod.namespace or budget.selector is None or budget.selector.empty or not len(pod.labels):
        return False
    return budget.selector.matches(pod.labels) and pod.name not in budget.disrupted_pods
