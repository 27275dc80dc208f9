"""Where a pod stands after some of its records."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from simulations.analysis.words import object_name, of
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.trace import Record


@dataclass(slots=True)
class PodState:
    """The pod's stored state and its place in the scheduler.

    `word` is what kubectl would show as STATUS, with the scheduler's queues for a pod that waits. `victims` are all pods that
    it preempted so far, `nominations` counts those since the last preemption.
    """

    word: str = "Pending"
    phase: str = "Pending"
    queue: str = ""
    gate: str = ""
    node: str = ""
    nominated: str = ""
    nomination_kind: str = ""
    priority: int = 0
    created: SimTime = 0
    bound: SimTime | None = None
    running: SimTime | None = None
    now: SimTime = 0
    until: SimTime | None = None
    deleting: bool = False
    gone: bool = False
    victim: bool = False
    nominations: int = 0
    victims: list[str] = field(default_factory=list)


def state_of(records: Sequence[Record]) -> PodState:
    """Fold the records of one pod into its state."""
    state = PodState(created=records[0].t if records else 0)
    for record in records:
        state.now = record.t
        if record.verb == "enqueue":
            state.queue = of(record.data, "queue", "")
            state.gate = of(record.data, "plugin", "")
            state.until = of(record.data, "until")
        elif record.verb == "attempt":
            state.queue = ""
        elif record.verb == "nominate":
            _nominate(state, record)
        elif record.verb == "preempt":
            state.nominations = 0
            state.victims += [object_name(entry.get("namespace", ""), entry["name"]) for entry in of(record.data, "victims") or ()]
        elif record.verb == "gone":
            state.gone = True
        elif record.resource.partition("/")[0] == "pods" and record.code < 400:
            _written(state, record)
    state.word = _word(state)
    return state


def _nominate(state: PodState, record: Record) -> None:
    held = record.reason == "Set" or (record.reason == "Replaced" and of(record.data, "node"))
    state.nominations += 1 if held else 0
    state.nominated = of(record.data, "node") or "" if held else ""
    state.nomination_kind = of(record.data, "kind", "victims") if held else ""


def _written(state: PodState, record: Record) -> None:
    if record.verb == "create" and record.resource == "pods":
        state.created = record.t
    if record.resource == "pods/binding":
        state.bound = record.t
        state.node = of(record.data, "node") or state.node
        state.nominated = ""
    after = of(record.data, "after")
    if not after:
        return
    state.phase = after.get("phase", state.phase)
    state.node = after.get("node") or state.node
    state.priority = after.get("priority", state.priority)
    state.deleting = state.deleting or after.get("deletion") is not None
    if state.phase == "Running" and state.running is None:
        state.running = record.t
    for type_, status, *reason in after.get("conditions", ()):
        if type_ == "DisruptionTarget" and status == "True":
            state.victim = "PreemptionByScheduler" in reason


def _word(state: PodState) -> str:
    if state.gone:
        return "Gone"
    if state.deleting:
        return "Terminating"
    if state.phase == "Pending" and not state.node and state.queue == "gated":
        return "SchedulingGated"
    return state.phase
