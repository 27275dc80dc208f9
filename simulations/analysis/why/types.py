"""What the answer to "why?" is made of. Times are virtual ns; `seq` names the record that says so."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from simulations.engine.kernel.clock import SimTime


class Outcome(StrEnum):
    """What a Filter plugin said about a node."""

    PASSED = "passed"
    REJECTED = "rejected"
    NOT_RUN = "not run"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One scheduling cycle of the pod."""

    seq: int
    number: int
    started: SimTime
    ended: SimTime
    reason: str
    message: str
    node: str
    nodes: int
    evaluated: int
    feasible: int
    woken_by: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A Filter plugin on a node."""

    outcome: Outcome
    status: str = ""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A node: one cell per plugin of the table."""

    node: str
    outcome: Outcome
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class RejectedGroup:
    """All nodes that a plugin rejected with the same words; `names` are the first few."""

    plugin: str
    status: str
    reasons: tuple[str, ...]
    nodes: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilterTable:
    """Filter, node by plugin. `hidden` rows were left out because of the limit; `groups` are always complete.

    `skipped` plugins said in PreFilter that they have nothing to check; `not_evaluated` nodes were not looked at because
    enough feasible ones had been found.
    """

    plugins: tuple[str, ...]
    rows: tuple[FilterRow, ...]
    groups: tuple[RejectedGroup, ...]
    skipped: tuple[str, ...]
    nodes: int
    evaluated: int
    feasible: int
    not_evaluated: int
    hidden: int


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """A Score plugin on a node; `weighted` is what counts: normalised times weight."""

    raw: int
    normalized: int
    weighted: int


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A feasible node: one cell per plugin of the table."""

    node: str
    cells: tuple[ScoreCell, ...]
    total: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Lead:
    """What a Score plugin gave the winner and the runner-up, weighted, and by how much the winner leads (below zero: it trails)."""

    plugin: str
    weight: int
    winner: int
    runner_up: int
    lead: int


@dataclass(frozen=True, slots=True)
class Duel:
    """The winner of Score against the runner-up, the plugin that tells them apart most first; `lead` is the difference of totals."""

    winner: str
    runner_up: str
    lead: int
    parts: tuple[Lead, ...]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores, best node first. `note` says in words how the node was chosen, also where nothing was scored."""

    plugins: tuple[tuple[str, int], ...]
    rows: tuple[ScoreRow, ...]
    complete: bool
    tied: int
    note: str
    duel: Duel | None = None


@dataclass(frozen=True, slots=True)
class VictimFate:
    """What became of one victim of this preemptor. `refused` counts all deletions of it that the API server refused."""

    pod: str
    uid: str
    priority: int
    pdb_violated: bool
    was_terminating: bool
    deletion_seq: int
    deletion_asked: SimTime | None
    refused: int
    gone: SimTime | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node where victims could make room, with the numbers that the choice goes by, in their order."""

    node: str
    chosen: bool
    violations: int
    highest_priority: int
    priority_sum: int
    victims: int
    latest_start: SimTime | None
    names: tuple[str, ...]


class NodeAnswer(StrEnum):
    """What preemption came to on a node."""

    CHOSEN = "chosen"
    CANDIDATE = "candidate"
    NO_ROOM = "no room"
    """The dry run was made: pods of lower priority are not there, or the preemptor does not fit even without them."""
    NOT_HELPFUL = "not helpful"
    """What rejected the node no leaving pod would change (the scheduler counts it as "Preemption is not helpful")."""
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class PreemptionNode:
    """A node and what preemption came to on it; `reason` names the victims of a candidate, else says why there is none."""

    node: str
    answer: NodeAnswer
    reason: str


@dataclass(frozen=True, slots=True)
class NoCandidate:
    """Nodes on which preemption does not help, and why; `names` are the first few."""

    reason: str
    nodes: int
    names: tuple[str, ...]
    answer: NodeAnswer = NodeAnswer.NO_ROOM


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule of the choice: what it compares of the winner and the runner-up, how many candidates were left after it.

    The values are counts, priorities or (of the start) virtual ns; None for the last rule, which takes the first of equals.
    """

    rule: str
    winner: int | None
    runner_up: int | None
    left: int
    decided: bool
    is_time: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Why the winner of several candidates won: the rule that decided, and the rules up to it."""

    runner_up: str
    rule: str
    rows: tuple[RuleRow, ...]


@dataclass(frozen=True, slots=True)
class Preemption:
    """What PostFilter found for the attempt; `nodes` are at most as many as the Filter table has rows, `without` covers all."""

    seq: int
    helped: bool
    node: str
    executor: str
    rule: str
    message: str
    victims: tuple[VictimFate, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    without: tuple[NoCandidate, ...] = ()
    nodes: tuple[PreemptionNode, ...] = ()
    hidden: int = 0
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class Victimhood:
    """Why and by whom this pod was preempted, and where its replacement went."""

    seq: int
    time: SimTime
    preemptor: str
    preemptor_priority: int
    priority: int
    node: str
    pdb_violated: bool
    rule: str
    executor: str
    refused: int
    terminating: SimTime | None
    gone: SimTime | None
    replacement: str
    replacement_node: str


@dataclass(frozen=True, slots=True)
class ConditionChange:
    """A condition that was written."""

    seq: int
    time: SimTime
    actor: str
    type: str
    status: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event about the pod."""

    seq: int
    time: SimTime
    actor: str
    type: str
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Calls about the pod that the API server refused, repeats counted."""

    seq: int
    first: SimTime
    last: SimTime
    actor: str
    call: str
    code: int
    reason: str
    message: str
    count: int


@dataclass(frozen=True, slots=True)
class Revision:
    """A manifest as it was written, and what changed against the one before."""

    seq: int
    time: SimTime
    actor: str
    manifest: dict[str, Any] = field(hash=False)
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """Everything that the trace says about one pod, as of one record.

    `attempt` is the cycle that the tables are about: the last one at or before `seq`.
    """

    pod: str
    uid: str
    seq: int
    time: SimTime
    state: str
    priority: int
    node: str
    nominated_node: str
    sentence: str
    attempts: tuple[AttemptRow, ...]
    attempt: AttemptRow | None
    filters: FilterTable | None
    scores: ScoreTable | None
    preemption: Preemption | None
    victim: Victimhood | None
    conditions: tuple[ConditionChange, ...]
    events: tuple[EventRow, ...]
    refusals: tuple[Refusal, ...]
    revisions: tuple[Revision, ...]
    explained: bool = True
    """Whether the run recorded verdicts and scores (`explanations` of its scenario)."""
