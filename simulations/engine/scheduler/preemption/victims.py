"""The victims on one Node: a dry run on a copy of it.

Source: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go, SelectVictimsOnNode,
filterPodsWithPDBViolation; pkg/scheduler/util/utils.go, MoreImportantPod, v1.36
"""

from dataclasses import dataclass

from simulations.engine.api.pod import Pod
from simulations.engine.api.workloads import PodDisruptionBudget
from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.algorithm import Search
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.status import Code, Status, unresolvable

NO_VICTIMS = unresolvable("DefaultPreemption", "No preemption victims found for incoming pod")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A Node with the Pods that would have to leave it, most important first; `violations` of them break a budget."""

    row: int
    node: str
    victims: tuple[Pod, ...]
    violating: tuple[str, ...]
    """The uids of the victims whose budget would be violated."""

    @property
    def violations(self) -> int:
        """How many victims break a budget."""
        return len(self.violating)


def importance(pod: Pod, now: SimTime) -> tuple[int, SimTime]:
    """Sort key, most important first: higher priority, then the earlier start; a Pod that has not started starts `now`."""
    return -pod.priority, pod.start_time if pod.start_time is not None else now


def select_victims(search: Search, info: NodeInfo, now: SimTime) -> Candidate | Status:
    """Remove every Pod of lower priority, then give back as many as fit: budget violators first, each group by importance."""
    framework, pod, state = search.framework, search.pod, search.state
    potential = [p for p in info.pods if p.priority < pod.priority]
    if not potential:
        return NO_VICTIMS
    copy = info.clone()
    for victim in potential:
        framework.remove_pod(state, pod, victim, copy)
    gone = list(potential)
    try:
        status = search.filter_with_nominated(copy)
        if status is not None:
            return status
        potential.sort(key=lambda p: importance(p, now))
        violating, others = split_by_budget(potential, list(framework.cache.listers.budgets.values()))
        kept_out: list[Pod] = []
        for victim in (*violating, *others):
            framework.add_pod(state, pod, victim, copy)
            gone.remove(victim)
            if search.filter_with_nominated(copy) is not None:
                framework.remove_pod(state, pod, victim, copy)
                gone.append(victim)
                kept_out.append(victim)
        if violating and others:
            kept_out.sort(key=lambda p: importance(p, now))
        if not kept_out:
            return Status(Code.ERROR, (f'expected at least one victim pod on node "{info.name}"',), "DefaultPreemption")
        broken = {p.uid for p in violating}
        return Candidate(info.row, info.name, tuple(kept_out), tuple(p.uid for p in kept_out if p.uid in broken))
    finally:
        for victim in gone:
            framework.add_pod(state, pod, victim, copy)


def split_by_budget(pods: list[Pod], budgets: list[PodDisruptionBudget]) -> tuple[list[Pod], list[Pod]]:
    """Pods whose disruption would violate a budget, and the others; budgets are used up in the order of the Pods."""
    allowed = [budget.disruptions_allowed or 0 for budget in budgets]
    violating: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        breaks = False
        for i, budget in enumerate(budgets):
            if budget.namespace != pod.namespace or budget.selector is None or budget.selector.empty or not len(pod.labels):
                continue
            if not budget.selector.matches(pod.labels) or pod.name in budget.disrupted_pods:
                continue
            allowed[i] -= 1
            breaks = breaks or allowed[i] < 0
        (violating if breaks else others).append(pod)
    return violating, others
