"""PostFilter: is the Pod eligible, which Nodes are candidates, which one wins. Pure: it makes no calls and takes no time.

Source: pkg/scheduler/framework/preemption/preemption.go, Preempt; plugins/defaultpreemption/default_preemption.go, v1.36
"""

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Final

from simulations.engine.api.pod import Pod
from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.algorithm import ScheduleResult, Search
from simulations.engine.scheduler.framework.diagnosis import reason_list
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.framework.status import Code, Status, unresolvable
from simulations.engine.scheduler.preemption.pick_node import pick
from simulations.engine.scheduler.preemption.victims import Candidate, select_victims

NOT_HELPFUL: Final = unresolvable("DefaultPreemption", "Preemption is not helpful for scheduling")
NO_CLAIMS: Final = "no new claims to deallocate"
PREEMPTION_BY_SCHEDULER: Final = "PreemptionByScheduler"


@dataclass(slots=True)
class PreemptionOutcome:
    """What PostFilter found.

    `winner` is None where preemption does not help; then `message` is what the failure message ends with. `nomination` says what
    becomes of the Pod's nomination: set, cleared or unchanged. `equals` are all candidates that are as good as the winner.
    """

    nomination: str
    message: str = ""
    winner: Candidate | None = None
    rule: str = ""
    candidates: list[Candidate] = field(default_factory=list)
    equals: list[Candidate] = field(default_factory=list)
    statuses: dict[int, Status] = field(default_factory=dict)
    called: bool = True
    """Whether DefaultPreemption ran at all (it counts in preemption_attempts_total)."""


@dataclass(frozen=True, slots=True)
class CandidateLimits:
    """How many candidates the dry run looks for."""

    percentage: int = 10
    absolute: int = 100

    def number(self, nodes: int) -> int:
        """The number for this many Nodes with an Unschedulable status."""
        return min(nodes, max(nodes * self.percentage // 100, self.absolute))


def evaluate(framework: Framework, pod: Pod, result: ScheduleResult, now: SimTime, rng: Random) -> PreemptionOutcome:
    """Run PostFilter for a Pod that found no Node."""
    if result.diagnosis.pre_filter_message and result.diagnosis.statuses.rows_with(Code.UNSCHEDULABLE_AND_UNRESOLVABLE).any():
        return PreemptionOutcome("unchanged", "not found", called=False)
    if framework.plugin("DefaultPreemption") is None:
        return PreemptionOutcome("cleared", NO_CLAIMS, called=False)
    refusal = _not_eligible(framework, pod, result)
    if refusal:
        return PreemptionOutcome("unchanged", f"{NO_CLAIMS}, preemption: {refusal}")
    outcome = PreemptionOutcome("cleared")
    _dry_run(framework, pod, result, now, rng, outcome)
    if not outcome.candidates:
        outcome.message = f"{NO_CLAIMS}, preemption: {_why_not(result, outcome)}"
        return outcome
    outcome.equals, outcome.rule = pick(outcome.candidates, now)
    outcome.winner = outcome.equals[0]
    outcome.nomination = "set"
    return outcome


def _not_eligible(framework: Framework, pod: Pod, result: ScheduleResult) -> str:
    if pod.spec.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    node_name = pod.nominated_node_name
    info = framework.cache.infos.get(node_name) if node_name else None
    if info is None:
        return ""
    status = result.diagnosis.statuses.get(info.row)
    if status is None or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return ""
    if any(_leaving_for_preemption(p) and p.priority < pod.priority for p in info.pods):
        return "not eligible due to a terminating pod on the nominated node."
    return ""


def _leaving_for_preemption(pod: Pod) -> bool:
    condition = pod.condition("DisruptionTarget") if pod.terminating else None
    return condition is not None and condition.status == "True" and condition.reason == PREEMPTION_BY_SCHEDULER


def _dry_run(framework: Framework, pod: Pod, result: ScheduleResult, now: SimTime, rng: Random, outcome: PreemptionOutcome) -> None:
    order = framework.cache.order()
    helpful = set(result.diagnosis.statuses.rows_with(Code.UNSCHEDULABLE).tolist())
    rows = [int(row) for row in order if int(row) in helpful]
    if not rows:
        return
    wanted = _limits(framework).number(len(rows))
    offset = rng.randrange(len(rows))
    search = Search(framework, pod, result.state, result.diagnosis)
    names, infos = framework.cache.columns.names, framework.cache.infos
    unbroken, violating = [], []
    for i in range(len(rows)):
        row = rows[(offset + i) % len(rows)]
        found = select_victims(search, infos[names[row]], now)
        if isinstance(found, Status):
            outcome.statuses[row] = found
            continue
        (violating if found.violations else unbroken).append(found)
        if unbroken and len(unbroken) + len(violating) >= wanted:
            break
    outcome.candidates = unbroken + violating


def _limits(framework: Framework) -> CandidateLimits:
    args = getattr(framework.plugin("DefaultPreemption"), "args", None)
    if args is None:
        return CandidateLimits()
    return CandidateLimits(args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute)


def _why_not(result: ScheduleResult, outcome: PreemptionOutcome) -> str:
    """The nested message; Nodes that got no dry run are those where preemption is not helpful."""
    reasons: Counter[str] = Counter()
    for status in outcome.statuses.values():
        reasons.update(status.reasons)
    unhelped = result.diagnosis.nodes - len(outcome.statuses)
    if unhelped:
        reasons[NOT_HELPFUL.reasons[0]] += unhelped
    return f"0/{result.diagnosis.nodes} nodes are available:{reason_list(reasons)}"


def reasons_by_rows(outcome: PreemptionOutcome) -> list[tuple[str, list[int]]]:
    """Per reason the rows of the Nodes where the dry run failed, ascending."""
    found: dict[str, list[int]] = {}
    for row, status in outcome.statuses.items():
        found.setdefault(status.message, []).append(row)
    return [(reason, sorted(rows)) for reason, rows in sorted(found.items())]


__all__ = ["CandidateLimits", "PreemptionOutcome", "evaluate", "reasons_by_rows"]
