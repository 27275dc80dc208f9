"""Why one candidate of a preemption won, and why preemption did not help on the other nodes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from simulations.analysis.reading import RunFacts, rows_of
from simulations.analysis.why.types import Candidate, Decision, NodeAnswer, PreemptionNode, RuleRow
from simulations.analysis.words import of
from simulations.engine.kernel.trace import Record

_OFFSET: Final = 2**31
START: Final = 4
"""The number of the rule that compares times."""
RULES: Final = (
    "fewest PDB violations",
    "lowest highest-priority victim",
    "smallest sum of priorities, 2^31 added for each victim",
    "fewest victims",
    "latest start of the most important victims",
    "equal under every rule: the first one",
)
"""In the order in which they are asked, in the trace's words.

Source: pkg/scheduler/framework/preemption/preemption.go, pickOneNodeForPreemption, v1.36
"""


def decision_of(candidates: Sequence[Candidate], node: str) -> Decision | None:
    """The rules with the values of the winner and of the runner-up, who would have won without it; None with fewer than two."""
    winner = next((candidate for candidate in candidates if candidate.node == node), None)
    others = [candidate for candidate in candidates if candidate is not winner]
    if winner is None or not others:
        return None
    runner_up = min(others, key=_values)  # of equals the first, as the scheduler takes it
    rows: list[RuleRow] = []
    left = list(candidates)
    for number, rule in enumerate(RULES[:-1]):
        best = _values(winner)[number]
        left = [candidate for candidate in left if _values(candidate)[number] == best]
        values = _shown(winner, number), _shown(runner_up, number)
        rows.append(RuleRow(rule, *values, len(left), len(left) == 1, is_time=number == START))
        if len(left) == 1:
            return Decision(runner_up.node, rule, tuple(rows))
    rows.append(RuleRow(RULES[-1], None, None, 1, decided=True))
    return Decision(runner_up.node, RULES[-1], tuple(rows))


def _values(candidate: Candidate) -> tuple[int, ...]:
    """What the rules compare, smaller is better."""
    return (
        candidate.violations, candidate.highest_priority, candidate.priority_sum + _OFFSET * candidate.victims, candidate.victims,
        -(candidate.latest_start or 0),
    )  # fmt: skip


def _shown(candidate: Candidate, number: int) -> int:
    return candidate.latest_start or 0 if number == START else _values(candidate)[number]


def nodes_of(found: Record, attempt: Record | None, facts: RunFacts) -> tuple[PreemptionNode, ...]:
    """Every node that the attempt looked at or knew, by what preemption came to there, in the order of nodes."""
    data = found.data or {}
    answers: dict[int, PreemptionNode] = {}
    for verdict in of(attempt.data if attempt is not None else None, "verdicts") or ():
        answers |= dict(_by_verdict(verdict, found, facts))
    for reason, runs in data.get("none") or ():
        answers |= {row: PreemptionNode(facts.node_name(row), NodeAnswer.NO_ROOM, reason) for row in rows_of(runs)}
    for entry in data.get("candidates") or ():
        chosen = entry.get("node") == data.get("node")
        name = entry.get("node") or facts.node_name(entry.get("row", -1))
        answers[entry.get("row", -1)] = PreemptionNode(name, NodeAnswer.CHOSEN if chosen else NodeAnswer.CANDIDATE, _leave(entry))
    return tuple(answers[row] for row in sorted(answers))


def _by_verdict(verdict: Sequence[Any], found: Record, facts: RunFacts) -> Iterable[tuple[int, PreemptionNode]]:
    """What holds of a node that got no dry run: removing pods changes nothing there, or nobody tried."""
    plugin, status, reasons, runs = verdict
    rejected = f"{plugin}: {', '.join(reasons)}"
    if status == "UnschedulableAndUnresolvable":
        answer, reason = NodeAnswer.NOT_HELPFUL, rejected
    elif "not eligible" in found.message:
        answer, reason = NodeAnswer.NOT_TRIED, found.message.rpartition("preemption: ")[2].rstrip(".")
    else:
        answer, reason = NodeAnswer.NOT_TRIED, "enough candidates were found before it"
    for row in rows_of(runs):
        yield row, PreemptionNode(facts.node_name(row), answer, reason)


def _leave(entry: Mapping[str, Any]) -> str:
    names = entry.get("names") or ()
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def grouped(nodes: Sequence[PreemptionNode]) -> dict[tuple[NodeAnswer, str], list[str]]:
    """The nodes without a candidate by what was answered, the largest group first."""
    groups: dict[tuple[NodeAnswer, str], list[str]] = {}
    for node in nodes:
        if node.answer not in (NodeAnswer.CHOSEN, NodeAnswer.CANDIDATE):
            groups.setdefault((node.answer, node.reason), []).append(node.node)
    return dict(sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])))
