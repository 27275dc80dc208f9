"""The dry run over the Nodes where preemption may help: who would have to go on each.

Source: pkg/scheduler/framework/preemption/preemption.go, findCandidates, DryRunPreemption, v1.36
"""

from dataclasses import dataclass, field
from random import Random

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.cache.columns import Ints
from simulations.engine.scheduler.framework.diagnosis import NodeStatuses
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.framework.search import ScheduleResult, Search
from simulations.engine.scheduler.framework.status import Code, Status
from simulations.engine.scheduler.preemption.memory import Kind, dry_runs
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
    search = Search(framework, pod, result.state, result.diagnosis)
    local = not pod.node_name and framework.filters_locally(result.state)
    enough_after = (_try_locally if local else _try_each)(search, found, rows[lower], wanted, now)
    found.dry_runs = int(np.count_nonzero(lower)) if enough_after is None else enough_after
    tried = len(rows) if enough_after is None else int(np.flatnonzero(lower)[enough_after - 1]) + 1
    without = rows[:tried][~lower[:tried]]
    if len(without):
        found.statuses.codes[without] = found.statuses.code_of(NO_VICTIMS)
    return found


def _try_locally(search: Search, found: Candidates, rows: Ints, wanted: int, now: SimTime) -> int | None:
    """Try the Nodes in order, as far as their dry runs are not remembered; return after how many it was enough, None if never."""
    outcomes, enough_after = dry_runs(search.cache).run(search, rows, wanted, now)
    rows = rows[:enough_after]
    found.unbroken = outcomes.candidates(rows, Kind.UNBROKEN)
    found.violating = outcomes.candidates(rows, Kind.VIOLATING)
    without = np.zeros(len(outcomes.kinds), dtype=np.bool_)
    without[rows[outcomes.kinds[rows] == Kind.NO_CANDIDATE]] = True
    found.statuses.adopt(without, outcomes.statuses)
    return enough_after


def _try_each(search: Search, found: Candidates, rows: Ints, wanted: int, now: SimTime) -> int | None:
    """Try the Nodes in order; return after how many it was enough, None if never."""
    infos, names = search.cache.infos, search.cache.columns.names
    for i, row in enumerate(rows.tolist()):
        found.add(select_victims(search, infos[names[row]], now), row)
        if found.enough(wanted):
            return i + 1
    return None


def _rows_that_may_help(framework: Framework, result: ScheduleResult) -> Ints:
    """The rows whose status is Unschedulable, in the order of Nodes."""
    order = framework.cache.order()
    helpful = np.zeros(len(result.diagnosis.statuses.codes), dtype=np.bool_)
    helpful[result.diagnosis.statuses.rows_with(Code.UNSCHEDULABLE)] = True
    rows: Ints = order[helpful[order]]
    return rows


def _limits(framework: Framework) -> CandidateLimits:
    args = getattr(framework.plugin("DefaultPreemption"), "args", None)
    if args is None:
        return CandidateLimits()
    return CandidateLimits(args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute)
