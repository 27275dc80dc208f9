"""The first sentence of an explanation: what is the matter with the pod, in plain words."""

from collections.abc import Sequence

from simulations.analysis.why import phrases
from simulations.analysis.why.state import PodState
from simulations.analysis.why.types import AttemptRow, FilterTable, Preemption, Victimhood
from simulations.analysis.words import duration, plural, shortened


def of_pod(
    state: PodState,
    attempts: Sequence[AttemptRow],
    filters: FilterTable | None,
    preemption: Preemption | None,
    victim: Victimhood | None,
) -> str:
    """One sentence, or two where the pod is both waiting and about to be helped."""
    if victim is not None and (state.deleting or state.gone or victim.refused):
        return _victim(state, victim)
    if state.gone:
        return f"Deleted {duration(state.now - state.created)} after it was created."
    if state.deleting:
        return f"Terminating on {state.node}." if state.node else "Terminating."
    if state.node:
        return _placed(state, attempts)
    if state.queue == "gated":
        return _gated(state, preemption)
    return _pending(state, attempts, filters, preemption)


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


def _gated(state: PodState, preemption: Preemption | None) -> str:
    waited = duration(state.now - state.created)
    if state.nominated and preemption is not None:
        return f"Pending {waited}: {_leaving(state, preemption)}; {state.gate or 'a gate'} holds it back until then."
    return f"Held back for {waited} by {state.gate or 'a scheduling gate'}; the scheduler does not try it meanwhile."


def _pending(state: PodState, attempts: Sequence[AttemptRow], filters: FilterTable | None, preemption: Preemption | None) -> str:
    waited = duration(state.now - state.created)
    if not attempts or filters is None:
        return f"Pending {waited}: the scheduler has not tried it yet."
    last = attempts[-1]
    if last.reason == "Scheduled":
        return f"Pending {waited}: {last.node} was chosen, binding is under way."
    text = f"Pending {waited}: {_rejections(filters) or last.message.rstrip('.')}"
    if state.nominated and preemption is not None and preemption.helped:
        return f"{text}; {_leaving(state, preemption)}."
    if preemption is not None and preemption.helped and not state.nominations:
        return f"{text}; preempts {shortened([victim.pod for victim in preemption.victims])} on {preemption.node}."
    if preemption is not None and preemption.helped:
        return f"{text}; preemption on {preemption.node} was begun, but the nomination is gone again."
    if preemption is not None:
        return f"{text}; preemption cannot help because {phrases.helpless(preemption.message)}."
    return f"{text}."


def _leaving(state: PodState, preemption: Preemption) -> str:
    staying = [victim.pod for victim in preemption.victims if victim.gone is None or victim.gone > state.now]
    if not staying:
        return f"nominated to {state.nominated}, where room is being made"
    return f"nominated to {state.nominated}, waits for {shortened(staying)} to leave"


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
