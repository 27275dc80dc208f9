"""PostFilter: is the Pod eligible, which Nodes are candidates, which one wins. Pure: it makes no calls and takes no time.

Source: pkg/scheduler/framework/preemption/preemption.go, Preempt; plugins/defaultpreemption/default_preemption.go, v1.36
"""

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Final

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.framework.diagnosis import Runs, reason_list, runs_of
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.framework.search import ScheduleResult, Search
from simulations.engine.scheduler.framework.status import Code, Status, unresolvable
from simulations.engine.scheduler.preemption.memory import dry_runs
from simulations.engine.scheduler.preemption.pick_node import pick
from simulations.engine.scheduler.preemption.victims import Candidate, select_victims

NOT_HELPFUL: Final = unresolvable("DefaultPreemption", "Preemption is not helpful for scheduling")
NO_CLAIMS: Final = "no new claims to deallocate"
DYNAMIC_RESOURCES: Final = "DynamicResources"
DEFAULT_PREEMPTION: Final = "DefaultPreemption"
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
    """By row, why the dry run of a Node found no victims."""
    error: bool = False
    """Whether the dry run itself failed."""
    called: bool = True
    """Whether DefaultPreemption ran at all (it counts in preemption_attempts_total)."""

    @property
    def node(self) -> str:
        """The Node that the Pod is nominated for; empty without a winner."""
        return self.winner.node if self.winner is not None else ""

    @property
    def victims(self) -> tuple[Pod, ...]:
        """Who has to leave it, most important first."""
        return self.winner.victims if self.winner is not None else ()

    @property
    def none(self) -> list[tuple[str, Runs]]:
        """Per reason the rows, as [first, length], of the Nodes where the dry run found no victims."""
        found: dict[str, list[int]] = {}
        for row, status in self.statuses.items():
            found.setdefault(status.message, []).append(row)
        return [(reason, runs_of(np.array(sorted(rows), dtype=np.int64))) for reason, rows in sorted(found.items())]


@dataclass(frozen=True, slots=True)
class CandidateLimits:
    """How many candidates the dry run looks for."""

    percentage: int = 10
    absolute: int = 100

    def number(self, nodes: int) -> int:
        """The number for this many Nodes with an Unschedulable status."""
        return min(nodes, max(nodes * self.percentage // 100, self.absolute))


def evaluate(framework: Framework, pod: Pod, result: ScheduleResult, now: SimTime, rng: Random) -> PreemptionOutcome:
    """Run PostFilter for a Pod that found no Node: its plugins in order, until one succeeds or fails for good.

    `rng` draws the Node where the dry run begins; `now` is the start of Pods that have not started.
    """
    reasons: list[str] = []
    outcome = PreemptionOutcome("unchanged", called=False)
    for name in framework.points.get("postFilter", ()):
        if name == DYNAMIC_RESOURCES:
            if framework.runs(name, "preFilter") and name not in result.diagnosis.pre_filters:
                return PreemptionOutcome("unchanged", "not found", called=False)
            reasons.append(NO_CLAIMS)
        elif name == DEFAULT_PREEMPTION:
            outcome = _preempt(framework, pod, result, now, rng)
            if outcome.winner is not None or outcome.error:
                return outcome
            reasons.append(outcome.message)
    outcome.message = ", ".join(reasons)
    return outcome


def _preempt(framework: Framework, pod: Pod, result: ScheduleResult, now: SimTime, rng: Random) -> PreemptionOutcome:
    refusal = _not_eligible(framework, pod, result)
    if refusal:
        return PreemptionOutcome("unchanged", f"preemption: {refusal}")
    outcome = PreemptionOutcome("cleared")
    _dry_run(framework, pod, result, now, rng, outcome)
    if outcome.candidates:
        outcome.equals, outcome.rule = pick(outcome.candidates, now)
        outcome.winner, outcome.nomination = outcome.equals[0], "set"
        return outcome
    errors = sorted({s.message for s in outcome.statuses.values() if s.code is Code.ERROR})
    outcome.error = bool(errors)
    if errors:
        outcome.nomination = "unchanged"
    text = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else _why_not(result, outcome)
    outcome.message = f"preemption: {text}"
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
    rows = _rows_that_may_help(framework, result)
    if not rows:
        return
    wanted = _limits(framework).number(len(rows))
    offset = rng.randrange(len(rows))
    search = Search(framework, pod, result.state, result.diagnosis)
    names, infos = framework.cache.columns.names, framework.cache.infos
    local = not pod.node_name and framework.filters_locally(result.state)
    select = dry_runs(framework.cache).victims if local else select_victims
    unbroken: list[Candidate] = []
    violating: list[Candidate] = []
    for row in (*rows[offset:], *rows[:offset]):
        found = select(search, infos[names[row]], now)
        if isinstance(found, Status):
            outcome.statuses[row] = found
            continue
        (violating if found.violations else unbroken).append(found)
        if unbroken and len(unbroken) + len(violating) >= wanted:
            break
    unbroken.sort(key=lambda candidate: candidate.row)
    violating.sort(key=lambda candidate: candidate.row)
    outcome.candidates = unbroken + violating


def _rows_that_may_help(framework: Framework, result: ScheduleResult) -> list[int]:
    """The rows whose status is Unschedulable, in the order of Nodes."""
    order = framework.cache.order()
    helpful = np.zeros(len(result.diagnosis.statuses.codes), dtype=np.bool_)
    helpful[result.diagnosis.statuses.rows_with(Code.UNSCHEDULABLE)] = True
    rows: list[int] = order[helpful[order]].tolist()
    return rows


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
