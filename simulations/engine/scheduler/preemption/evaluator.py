"""PostFilter: is the Pod eligible, which Nodes are candidates, which one wins. Pure: it makes no calls and takes no time.

Source: pkg/scheduler/framework/preemption/preemption.go, Preempt; plugins/defaultpreemption/default_preemption.go, v1.36
"""

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Final

from simulations.engine.api.pod import Pod
from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.framework.diagnosis import NodeStatuses, Runs, reason_list, runs_of
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.framework.search import ScheduleResult
from simulations.engine.scheduler.framework.status import Code, unresolvable
from simulations.engine.scheduler.preemption.dry_run import find_candidates
from simulations.engine.scheduler.preemption.pick_node import pick
from simulations.engine.scheduler.preemption.victims import Candidate

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
    none: list[tuple[str, Runs]] = field(default_factory=list)
    """Per reason the rows, as [first, length], of the Nodes where the dry run found no victims."""
    error: bool = False
    """Whether PostFilter itself failed."""
    called: bool = True
    """Whether DefaultPreemption ran at all (it counts in preemption_attempts_total)."""
    dry_runs: int = 0
    """On how many Nodes it was tried."""

    @property
    def node(self) -> str:
        """The Node that the Pod is nominated for; empty without a winner."""
        return self.winner.node if self.winner is not None else ""

    @property
    def status(self) -> str:
        """The word of PostFilter's status."""
        code = Code.SUCCESS if self.winner is not None else Code.ERROR if self.error else Code.UNSCHEDULABLE
        return code.word

    @property
    def victims(self) -> tuple[Pod, ...]:
        """Who has to leave it, most important first."""
        return self.winner.victims if self.winner is not None else ()


def evaluate(framework: Framework, pod: Pod, result: ScheduleResult, now: SimTime, rng: Random) -> PreemptionOutcome:
    """Run PostFilter for a Pod that found no Node: its plugins in order, until one succeeds or fails for good.

    `rng` draws the Node where the dry run begins; `now` is the start of Pods that have not started.
    """
    reasons: list[str] = []
    outcome = PreemptionOutcome("unchanged", called=False)
    for name in framework.points.get("postFilter", ()):
        if name == DYNAMIC_RESOURCES:
            if framework.runs(name, "preFilter") and name not in result.diagnosis.pre_filters:
                return PreemptionOutcome("unchanged", "not found", error=True, called=False)
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
    found = find_candidates(framework, pod, result, now, rng)
    outcome = PreemptionOutcome("cleared", candidates=found.all(), dry_runs=found.dry_runs)
    outcome.none = [(status.message, runs_of(rows)) for status, rows in found.statuses.by_status()]
    if outcome.candidates:
        outcome.equals, outcome.rule = pick(outcome.candidates, now)
        outcome.winner, outcome.nomination = outcome.equals[0], "set"
        return outcome
    errors = [status.message for status, _rows in found.statuses.by_status() if status.code is Code.ERROR]
    if errors:
        outcome.error, outcome.nomination = True, "unchanged"
    text = _error_text(errors) if errors else _why_not(result.diagnosis.nodes, found.statuses)
    outcome.message = f"preemption: {text}"
    return outcome


def _error_text(errors: list[str]) -> str:
    return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"


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


def _why_not(nodes: int, statuses: NodeStatuses) -> str:
    """The nested message; Nodes that got no dry run are those where preemption is not helpful."""
    reasons: Counter[str] = Counter()
    unhelped = nodes
    for status, rows in statuses.by_status():
        unhelped -= len(rows)
        for reason in status.reasons:
            reasons[reason] += len(rows)
    if unhelped:
        reasons[NOT_HELPFUL.reasons[0]] += unhelped
    return f"0/{nodes} nodes are available:{reason_list(reasons)}"
