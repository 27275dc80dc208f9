"""What the trace keeps of a preemption: victims, candidates with what the rules compared, Nodes without victims.

The form is that of the records `preempt` and `nopreempt` (see docs/trace-format.md).
"""

from typing import Any

from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.preemption.evaluator import PreemptionOutcome
from simulations.engine.scheduler.preemption.victims import Candidate

Data = dict[str, Any]


def outcome_data(outcome: PreemptionOutcome, now: SimTime) -> Data:
    """The decision; the caller of a preemption that helps adds `executor`."""
    data: Data = {}
    if outcome.winner is not None:
        data["node"] = outcome.winner.node
        data["rule"] = outcome.rule
        data["victims"] = _victims(outcome.winner)
        data["candidates"] = [_candidate(candidate, now) for candidate in outcome.candidates]
    data["none"] = [[reason, runs] for reason, runs in outcome.none]
    return data


def _victims(winner: Candidate) -> list[Data]:
    return [
        {
            "namespace": victim.namespace,
            "name": victim.name,
            "uid": victim.uid,
            "priority": victim.priority,
            "start": victim.start_time,
            "pdb_violated": victim.uid in winner.violating,
            "terminating": victim.terminating,
        }
        for victim in winner.victims
    ]


def _candidate(candidate: Candidate, now: SimTime) -> Data:
    return {
        "row": candidate.row,
        "node": candidate.node,
        "violations": candidate.violations,
        "highest": candidate.highest_priority,
        "sum": candidate.priority_sum,
        "victims": len(candidate.victims),
        "start": candidate.earliest_start(now),
        "names": candidate.names,
    }
