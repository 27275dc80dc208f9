"""Which candidate wins, and by which rule.

Source: pkg/scheduler/framework/preemption/preemption.go, pickOneNodeForPreemption, v1.36
"""

from collections.abc import Callable, Sequence
from typing import Final

from simulations.engine.kernel.clock import SimTime
from simulations.engine.scheduler.preemption.victims import Candidate

_OFFSET: Final = 2**31

ONLY: Final = "only candidate"
FIRST: Final = "equal under every rule: the first one"


def highest_priority(candidate: Candidate) -> int:
    """The priority of the most important victim."""
    return candidate.victims[0].priority


def priority_sum(candidate: Candidate) -> int:
    """The sum of the victims' priorities, each raised by 2^31, so that fewer victims mostly win."""
    return sum(v.priority + _OFFSET for v in candidate.victims)


def earliest_start(candidate: Candidate, now: SimTime) -> SimTime:
    """When the first of the most important victims started."""
    highest = highest_priority(candidate)
    return min(v.start_time if v.start_time is not None else now for v in candidate.victims if v.priority == highest)


def pick(candidates: Sequence[Candidate], now: SimTime) -> tuple[list[Candidate], str]:
    """The candidates that are best under all rules, and the rule that decided; the first of them is taken."""
    rules: tuple[tuple[str, Callable[[Candidate], int]], ...] = (
        ("fewest PDB violations", lambda c: c.violations),
        ("lowest highest-priority victim", highest_priority),
        ("smallest sum of priorities, 2^31 added for each victim", priority_sum),
        ("fewest victims", lambda c: len(c.victims)),
        ("latest start of the most important victims", lambda c: -earliest_start(c, now)),
    )
    best = list(candidates)
    if len(best) == 1:
        return best, ONLY
    for name, measure in rules:
        values = [measure(c) for c in best]
        lowest = min(values)
        best = [c for c, value in zip(best, values, strict=True) if value == lowest]
        if len(best) == 1:
            return best, name
    return best, FIRST
