"""The dry run over the Nodes where preemption may help: who would have to go on each.

Source: pkg/scheduler/framework/preemption/preemption.go, findCandidates, DryRunPreemption, v1.36
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.cache.columns import Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.diagnosis import NodeStatuses
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.framework.search import ScheduleResult, Search
from simulations.engine.scheduler.framework.status import Code, Status
from simulations.engine.scheduler.preemption.memory import dry_runs
from simulations.engine.scheduler.preemption.victims import NO_VICTIMS, Candidate, select_victims


@dataclass(frozen=True, slots=True)
class CandidateLimits:
    """How many candidates the dry run looks for."""

    percentage: int = 10
    absolute: int = 100

    def number(self, nodes: int) -> int:
        """The number for this many Nodes with an Unschedulable status."""
        return min(nodes, max(nodes * self.percentage // 100, self.absolute))


@dataclass(slots=True)
class Candidates:
    """Nodes with victims, those that violate no budget first, each group by row; and why other Nodes have none."""

    statuses: NodeStatuses
    unbroken: list[Candidate] = field(default_factory=list)
    violating: list[Candidate] = field(default_factory=list)
    dry_runs: int = 0
    """On how many Nodes it was tried; those without a Pod of lower priority do not count."""

    def add(self, found: Candidate | Status, row: int) -> None:
        """Note what came out for a Node."""
        self.dry_runs += 1
        if isinstance(found, Status):
            self.statuses.set(row, found)
        else:
            (self.violating if found.violations else self.unbroken).append(found)

    def enough(self, wanted: int) -> bool:
        """Whether one violates no budget, and there are as many as wanted."""
        return bool(self.unbroken) and len(self.unbroken) + len(self.violating) >= wanted

    def all(self) -> list[Candidate]:
        """All candidates."""
        return [c for group in (self.unbroken, self.violating) for c in sorted(group, key=lambda candidate: candidate.row)]


def find_candidates(framework: Framework, pod: Pod, result: ScheduleResult, now: SimTime, rng: Random) -> Candidates:
    """Try the Nodes whose status is Unschedulable, from a drawn one on, until there are enough candidates."""
    found = Candidates(NodeStatuses.empty(len(result.diagnosis.statuses.codes)))
    rows = _rows_that_may_help(framework, result)
    if not len(rows):
        return found
    rows = np.roll(rows, -rng.randrange(len(rows)))
    wanted = _limits(framework).number(len(rows))
    lower = framework.cache.columns.lowest_priority[rows] < pod.priority
    tried = len(rows)
    try_node = _trial(framework, pod, result, now)
    for i in np.flatnonzero(lower).tolist():
        row = int(rows[i])
        found.add(try_node(row), row)
        if found.enough(wanted):
            tried = i + 1
            break
    without = rows[:tried][~lower[:tried]]
    if len(without):
        found.statuses.codes[without] = found.statuses.code_of(NO_VICTIMS)
    return found


def _rows_that_may_help(framework: Framework, result: ScheduleResult) -> Ints:
    """The rows whose status is Unschedulable, in the order of Nodes."""
    order = framework.cache.order()
    helpful = np.zeros(len(result.diagnosis.statuses.codes), dtype=np.bool_)
    helpful[result.diagnosis.statuses.rows_with(Code.UNSCHEDULABLE)] = True
    rows: Ints = order[helpful[order]]
    return rows


def _trial(framework: Framework, pod: Pod, result: ScheduleResult, now: SimTime) -> Callable[[int], Candidate | Status]:
    """What tries one Node."""
    cache = framework.cache
    search = Search(framework, pod, result.state, result.diagnosis)
    local = not pod.node_name and framework.filters_locally(result.state)
    select: Callable[[Search, NodeInfo, SimTime], Candidate | Status] = dry_runs(cache).victims if local else select_victims
    return lambda row: select(search, cache.infos[cache.columns.names[row]], now)


def _limits(framework: Framework) -> CandidateLimits:
    args = getattr(framework.plugin("DefaultPreemption"), "args", None)
    if args is None:
        return CandidateLimits()
    return CandidateLimits(args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute)
