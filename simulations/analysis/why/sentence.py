"""The first sentence of an explanation: what is the matter with the pod, in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass

from simulations.analysis.why import phrases
from simulations.analysis.why.state import PodState
from simulations.analysis.why.types import AttemptRow, FilterTable, Preemption, Victimhood
from simulations.analysis.words import duration, plural, shortened


@dataclass(frozen=True, slots=True)
class Findings:
    """What the sentence is about: the attempts, the tables of the last one, and the last preemption that found room."""

    attempts: Sequence[AttemptRow]
    filters: FilterTable | None
    preemption: Preemption | None
    room: Preemption | None
    victim: Victimhood | None


def of_pod(state: PodState, found: Findings) -> str:
    """One sentence, the cause before the consequence."""
    victim = found.victim
    if victim is not None and (state.deleting or state.gone or victim.refused):
        return _victim(state, victim)
    if state.gone:
        ran = f"; it was on {state.node}" if state.node else ""
        return f"Deleted {duration(state.now - state.created)} after it was created{ran}."
    if state.deleting:
        return f"Terminating on {state.node}." if state.node else "Terminating."
    if state.node:
        return _placed(state, found.attempts)
    if state.queue == "gated":
        return _gated(state, found.room)
    return _pending(state, found)


def _victim(state: PodState, victim: Victimhood) -> str:
    text = (
        f"Preempted by {victim.preemptor} (priority {victim.preemptor_priority} over {victim.priority})"
        f" to make room on {victim.node}"
    )
    if victim.pdb_violated:
        text += ", against its disruption budget"
    if victim.refused and not state.deleting and not state.gone:
        return f"To be p{text[1:]}, but the API server refused its deletion {_times(victim.refused)}; it still runs."
    if victim.refused:
        text += f"; its deletion was refused {_times(victim.refused)} before"
    if not state.gone:
        text += "; it is still terminating"
    if victim.replacement:
        where = f"runs on {victim.replacement_node}" if victim.replacement_node else "has no node yet"
        text += f"; its replacement {victim.replacement} {where}"
    return text + "."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _placed(state: PodState, attempts: Sequence[AttemptRow]) -> str:
    verb = "Runs on" if state.phase == "Running" else "Bound to"
    if state.phase in ("Succeeded", "Failed"):
        verb = f"{state.phase} on"
    if state.bound is None:
        return f"{verb} {state.node} since before the run began."
    waited = duration(state.bound - state.created)
    text = f"{verb} {state.node}: bound {waited} after it was created, at attempt {len(attempts) or 1}"
    return f"{text}, having preempted {shortened(list(dict.fromkeys(state.victims)))}." if state.victims else f"{text}."


def _gated(state: PodState, room: Preemption | None) -> str:
    waited = duration(state.now - state.created)
    if state.nominated and room is not None:
        return f"Pending {waited}: {_leaving(state, room)}; {state.gate or 'a gate'} holds it back until then."
    return f"Held back for {waited} by {state.gate or 'a scheduling gate'}; the scheduler does not try it meanwhile."


def _pending(state: PodState, found: Findings) -> str:
    waited = duration(state.now - state.created)
    if not found.attempts:
        return f"Pending {waited}: the scheduler has not tried it yet."
    last = found.attempts[-1]
    if last.reason == "Scheduled":
        return f"Pending {waited}: {last.node} was chosen, binding is under way."
    text = f"Pending {waited}: {(found.filters and _rejections(found.filters)) or last.message.rstrip('.')}"
    if state.nominated and found.room is not None:
        return f"{text}; {_leaving(state, found.room)}."
    preemption = found.preemption
    if preemption is None:
        return f"{text}."
    if not preemption.helped:
        return f"{text}; preemption cannot help because {phrases.helpless(preemption.message or last.message)}."
    if state.nominations:
        return f"{text}; preemption on {preemption.node} was begun, but the nomination is gone again."
    return f"{text}; preempts {shortened([victim.pod for victim in preemption.victims])} on {preemption.node}."


def _leaving(state: PodState, room: Preemption) -> str:
    staying = [victim for victim in room.victims if victim.gone is None or victim.gone > state.now]
    if not staying:
        return f"nominated to {state.nominated}, where its victims have left"
    text = f"nominated to {state.nominated}, waits for {shortened([victim.pod for victim in staying])} to leave"
    refused = sum(victim.refused for victim in staying if victim.deletion_asked is None)
    return f"{text}, whose deletion the API server has refused {_times(refused)}" if refused else text


def _rejections(filters: FilterTable) -> str:
    """`3 of 5 nodes lack cpu, 2 are tainted`."""
    counts: dict[str, int] = {}
    for group in filters.groups:
        words = " and ".join(phrases.rejection(reason) for reason in group.reasons) or f"are rejected by {group.plugin}"
        counts[words] = counts.get(words, 0) + group.nodes
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    parts = [
        f"{nodes:,} of {plural(filters.nodes, 'node')} {_agree(words, nodes)}"
        if index == 0
        else f"{nodes:,} {_agree(words, nodes)}"
        for index, (words, nodes) in enumerate(ordered)
    ]
    return ", ".join(parts)


_SINGULAR = {"lack": "lacks", "have": "has", "are": "is", "do": "does", "hold": "holds", "say": "says"}


def _agree(words: str, count: int) -> str:
    verb, _, rest = words.partition(" ")
    return f"{_SINGULAR.get(verb, verb)} {rest}" if count == 1 else words
