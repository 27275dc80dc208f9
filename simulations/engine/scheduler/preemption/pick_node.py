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


def pick(candidates: Sequence[Candidate], now: SimTime) -> tuple[list[Candidate], str]:
    """The candidates that are best under all rules, and the rule that decided; the first of them is taken."""
    rules: tuple[tuple[str, Callable[[Candidate], int]], ...] = (
        ("fewest PDB violations", lambda c: c.violations),
        ("lowest highest-priority victim", lambda c: c.highest_priority),
        ("smallest sum of priorities, 2^31 added for each victim", lambda c: c.priority_sum + _OFFSET * len(c.victims)),
        ("fewest victims", lambda c: len(c.victims)),
        ("latest start of the most important victims", lambda c: -c.earliest_start(now)),
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
