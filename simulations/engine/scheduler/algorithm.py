"""The scheduling algorithm: find the Nodes that fit, score them, pick one. Pure: it reads the cache and changes nothing.

Source: pkg/scheduler/schedule_one.go, schedulePod, v1.36
"""

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.framework.diagnosis import Diagnosis, NodeStatuses
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.framework.plugin import CycleState
from simulations.engine.scheduler.framework.search import ScheduleResult, Search, nodes_to_find
from simulations.engine.scheduler.host_selection import select_host

__all__ = ["ScheduleResult", "nodes_to_find", "schedule_pod"]


def schedule_pod(framework: Framework, pod: Pod, start: int) -> ScheduleResult:
    """Decide for one Pod; `start` is where in the order of Nodes the search begins."""
    cache = framework.cache
    order = cache.order()
    diagnosis = Diagnosis(NodeStatuses.empty(len(cache.columns.valid)), len(order))
    state = CycleState()
    result = ScheduleResult("", order[:0], order[:0], start, diagnosis, state)
    if not len(order):
        result.no_nodes = True
        diagnosis.error = "no nodes available to schedule pods"
        return result
    search = Search(framework, pod, state, diagnosis)
    if not search.pre_filter() or search.nominated_node_fits(result):
        return result
    search.all_nodes(result)
    if len(result.feasible):
        _choose(framework, pod, result)
    return result


def _choose(framework: Framework, pod: Pod, result: ScheduleResult) -> None:
    names = framework.cache.columns.names
    if len(result.feasible) == 1:
        result.node = names[result.feasible[0]]
        return
    result.scores = framework.run_scores(result.state, pod, result.feasible)
    result.choice = select_host(result.scores.total)
    result.node = names[result.feasible[result.choice]]
