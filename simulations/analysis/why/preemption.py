"""Preemption seen from both sides: what the preemptor found, and why a victim had to go."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simulations.analysis.reading import RunFacts, TraceReader
from simulations.analysis.why.decision import decision_of, grouped, nodes_of
from simulations.analysis.why.tables import NAMES_SHOWN
from simulations.analysis.why.types import Candidate, NoCandidate, Preemption, VictimFate, Victimhood
from simulations.analysis.words import object_name, of
from simulations.engine.kernel.trace import Record

_MOST_STEPS = 8


def preemption_of(attempt: Record, trace: TraceReader, facts: RunFacts, limit: int) -> Preemption | None:
    """What PostFilter said in the cycle of `attempt`; None when it did not run."""
    found = next((effect for effect in trace.effects(attempt.seq) if effect.verb in ("preempt", "nopreempt")), None)
    return None if found is None else preemption_from(found, trace, facts, limit)


def preemption_from(found: Record, trace: TraceReader, facts: RunFacts, limit: int) -> Preemption:
    """What a `preempt` or `nopreempt` record says, node by node (at most `limit`), and what became of the victims."""
    data = found.data or {}
    node = data.get("node") or ""
    candidates = tuple(_candidate(entry, node, facts) for entry in data.get("candidates") or ())
    nodes = nodes_of(found, trace.record(found.cause), facts)
    return Preemption(
        seq=found.seq,
        helped=found.verb == "preempt",
        node=node,
        executor=data.get("executor", ""),
        rule=data.get("rule") or "",
        message=found.message,
        victims=tuple(_fate(entry, trace, found.seq) for entry in data.get("victims") or ()),
        candidates=candidates,
        without=tuple(
            NoCandidate(reason, len(names), tuple(names[:NAMES_SHOWN]), answer)
            for (answer, reason), names in grouped(nodes).items()
        ),
        nodes=nodes[:limit],
        hidden=max(0, len(nodes) - limit),
        decision=decision_of(candidates, node),
    )


def _candidate(entry: Mapping[str, Any], chosen: str, facts: RunFacts) -> Candidate:
    node = entry.get("node") or facts.node_name(entry.get("row", -1))
    return Candidate(
        node, node == chosen, entry.get("violations", 0), entry.get("highest", 0), entry.get("sum", 0),
        entry.get("victims", 0), entry.get("start"), tuple(entry.get("names") or ()),
    )  # fmt: skip


def _fate(entry: Mapping[str, Any], trace: TraceReader, since: int) -> VictimFate:
    namespace, name, uid = entry.get("namespace", ""), entry["name"], entry.get("uid", "")
    records = _of_uid(trace.about(f"pods/{namespace}/{name}"), uid)
    later = [record for record in records if record.seq >= since]
    deletions = [record for record in later if _is_deletion(record)]
    accepted = next((record for record in deletions if record.code < 400), None)
    gone = next((record for record in later if record.verb == "gone"), None)
    return VictimFate(
        pod=object_name(namespace, name),
        uid=uid,
        priority=entry.get("priority", 0),
        pdb_violated=bool(entry.get("pdb_violated")),
        was_terminating=bool(entry.get("terminating")),
        deletion_seq=accepted.seq if accepted is not None else 0,
        deletion_asked=accepted.t if accepted is not None else None,
        refused=sum(_is_deletion(record) and record.code >= 400 for record in records),
        gone=gone.t if gone is not None else None,
    )


def _is_deletion(record: Record) -> bool:
    return record.verb == "delete" and record.resource == "pods"


def _of_uid(records: Iterable[Record], uid: str) -> list[Record]:
    """Of the records about a name, those of one object: names are used again."""
    return [record for record in records if not uid or not record.uid or record.uid == uid]


def victimhood_of(records: Sequence[Record], trace: TraceReader, until: int) -> Victimhood | None:
    """Why the pod whose `records` these are was preempted; None when it had not been at the record `until`."""
    found = _decision([record for record in records if record.seq <= until], trace)
    if found is None:
        return None
    decision, entry = found
    data = decision.data or {}
    later = [record for record in records if record.seq > decision.seq]
    deletions = [record for record in records if _is_deletion(record) and record.actor == "kube-scheduler"]
    terminating = next((record for record in later if of(of(record.data, "after"), "deletion") is not None), None)
    gone = next((record for record in later if record.verb == "gone"), None)
    replacement, node = _replacement(records, trace)
    return Victimhood(
        seq=decision.seq,
        time=decision.t,
        preemptor=object_name(decision.namespace, decision.name),
        preemptor_priority=_priority(decision, trace),
        priority=entry.get("priority", 0),
        node=data.get("node") or "",
        pdb_violated=bool(entry.get("pdb_violated")),
        rule=data.get("rule") or "",
        executor=data.get("executor", ""),
        refused=sum(record.code >= 400 for record in deletions),
        terminating=terminating.t if terminating is not None else None,
        gone=gone.t if gone is not None else None,
        replacement=replacement,
        replacement_node=node,
    )


def _decision(records: Sequence[Record], trace: TraceReader) -> tuple[Record, Mapping[str, Any]] | None:
    """The `preempt` record that chose this pod, reached over the causes of what the scheduler did to it."""
    for record in reversed(records):
        if record.actor != "kube-scheduler" or record.verb not in ("delete", "patch"):
            continue
        cause: Record | None = record
        for _ in range(_MOST_STEPS):
            cause = trace.record(cause.cause) if cause is not None and cause.cause else None
            if cause is None:
                break
            entry = _entry(cause, record)
            if entry is not None:
                return cause, entry
    return None


def _entry(decision: Record, victim: Record) -> Mapping[str, Any] | None:
    if decision.verb != "preempt":
        return None
    for entry in of(decision.data, "victims") or ():
        if entry["name"] == victim.name and entry.get("namespace", "") == victim.namespace:
            return entry  # type: ignore[no-any-return]
    return None


def _priority(preempt: Record, trace: TraceReader) -> int:
    """The preemptor's priority, from the last state that was written of it before the decision."""
    priority = 0
    for record in _of_uid(trace.about(f"pods/{preempt.namespace}/{preempt.name}"), preempt.uid):
        if record.seq > preempt.seq:
            break
        priority = of(of(record.data, "after"), "priority", priority)
    return priority


def _replacement(records: Sequence[Record], trace: TraceReader) -> tuple[str, str]:
    """The pod that a controller made because this one left, and where it is now."""
    leaving = [r for r in records if r.verb == "gone" or of(of(r.data, "after"), "deletion") is not None]
    for record in leaving:
        for effect in trace.effects(record.seq):
            if effect.verb == "create" and effect.resource == "pods" and 0 < effect.code < 400:
                return object_name(effect.namespace, effect.name), _last_node(effect, trace)
    return "", ""


def _last_node(created: Record, trace: TraceReader) -> str:
    node = ""
    for record in _of_uid(trace.about(f"pods/{created.namespace}/{created.name}"), created.uid):
        node = of(of(record.data, "after"), "node") or node
    return node
