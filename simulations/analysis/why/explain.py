"""Answers "why?" for one pod, as of one record of the trace."""

from collections.abc import Mapping, Sequence

from simulations.analysis.reading import RunFacts, TraceReader
from simulations.analysis.why import history, sentence, tables
from simulations.analysis.why.preemption import preemption_from, preemption_of, victimhood_of
from simulations.analysis.why.sentence import Findings
from simulations.analysis.why.state import state_of
from simulations.analysis.why.types import AttemptRow, Why
from simulations.analysis.words import of
from simulations.engine.kernel.trace import Record

MOST_ROWS = 200


def explain(pod: str, trace: TraceReader, facts: RunFacts, at: int | None = None, limit: int = MOST_ROWS) -> Why | None:
    """Explain the pod `namespace/name` as of the record `at`, or as of now; None when the trace has no such pod.

    What followed from an attempt or a preemption is told to its end, also where `at` lies before it. `limit` bounds the rows of
    the tables by node. Of pods that had the same name one after the other, the one that `at` belongs to is meant, or the last.
    """
    records = _one_object(trace.about(f"pods/{pod}"), at)
    if not records:
        return None
    until = records[-1].seq if at is None else at
    past = [record for record in records if record.seq <= until] or records[:1]
    state = state_of(past)
    if at is None and facts.now is not None and not state.gone:
        state.now = max(state.now, facts.now)
    attempts = [record for record in past if record.verb == "attempt"]
    woken_by = {record.seq: of(record.data, "event", "") for record in past if record.verb == "enqueue"}
    rows = tuple(_attempt_row(record, number, woken_by) for number, record in enumerate(attempts, start=1))
    last = attempts[-1] if attempts else None
    data = (last.data if last is not None else None) or {}
    explained = facts.begin.get("explanations") != "none"
    filters = tables.filter_table(data, facts, last.seq, limit) if last is not None and explained else None
    preemption = preemption_of(last, trace, facts, limit) if last is not None else None
    chosen = next((record for record in reversed(past) if record.verb == "preempt"), None)
    room = preemption_from(chosen, trace, facts, limit) if chosen is not None else None
    victim = victimhood_of(records, trace, until)
    return Why(
        pod=pod,
        uid=past[-1].uid,
        seq=past[-1].seq,
        time=state.now,
        state=state.word,
        priority=state.priority,
        node=state.node,
        nominated_node=state.nominated,
        sentence=sentence.of_pod(state, Findings(rows, filters, preemption, room, victim)),
        attempts=rows,
        attempt=rows[-1] if rows else None,
        filters=filters,
        scores=tables.score_table(data, facts) if last is not None and explained else None,
        preemption=preemption,
        victim=victim,
        conditions=history.conditions_of(past),
        events=history.events_of(past),
        refusals=history.refusals_of(past),
        revisions=history.revisions_of(past),
        explained=explained,
    )


def _one_object(records: Sequence[Record], at: int | None) -> list[Record]:
    """Of all records about a name, those of the object that the record `at`, or the last one, is about."""
    if at is None:
        candidates = [record for record in records if record.uid]
    else:
        candidates = [record for record in records if record.uid and record.seq <= at] or list(records)
    owners = [record for record in candidates if record.verb == "create" and record.resource == "pods"] or candidates
    uid = owners[-1].uid if owners else ""
    return [record for record in records if not uid or _uid_of(record) in ("", uid)]


def _uid_of(record: Record) -> str:
    """The uid of the object that a record is about; of an event, of what it regards."""
    if record.resource == "events":
        return str(of(of(record.data, "regarding"), "uid", "") or "")
    return record.uid


def _attempt_row(record: Record, number: int, woken_by: Mapping[int, str]) -> AttemptRow:
    data = record.data or {}
    return AttemptRow(
        seq=record.seq,
        number=data.get("attempt", number),
        started=data.get("started", record.t),
        ended=record.t,
        reason=record.reason,
        message=record.message,
        node=data.get("node") or "",
        nodes=data.get("nodes", 0),
        evaluated=data.get("evaluated", 0),
        feasible=data.get("feasible", 0),
        woken_by=woken_by.get(record.cause, ""),
    )
