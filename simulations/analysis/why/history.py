"""What was written about a pod: conditions, events, refused calls, manifests."""

from collections.abc import Sequence
from difflib import unified_diff
from typing import Any

import yaml

from simulations.analysis.why.types import ConditionChange, EventRow, Refusal, Revision
from simulations.analysis.words import of
from simulations.engine.kernel.trace import Record


def conditions_of(records: Sequence[Record]) -> tuple[ConditionChange, ...]:
    """Each condition that was written or changed, in order."""
    known: dict[str, tuple[str, str, str]] = {}
    changes: list[ConditionChange] = []
    for record in records:
        messages = {entry.get("type", ""): entry.get("message", "") for entry in of(of(record.data, "status"), "conditions") or ()}
        for type_, status, *rest in of(of(record.data, "after"), "conditions") or ():
            reason = rest[0] if rest else ""
            message = messages.get(type_) or known.get(type_, ("", "", ""))[2]
            if known.get(type_) == (status, reason, message):
                continue
            known[type_] = (status, reason, message)
            changes.append(ConditionChange(record.seq, record.t, record.actor, type_, status, reason, message))
    return tuple(changes)


def events_of(records: Sequence[Record]) -> tuple[EventRow, ...]:
    """The events about the pod, repeats included."""
    return tuple(_event(record) for record in records if record.resource == "events" and record.code < 400)


def _event(record: Record) -> EventRow:
    data = record.data or {}
    words = (data.get("type") or "", data.get("reason") or "", data.get("note") or "")
    return EventRow(record.seq, record.t, record.actor, *words)


def refusals_of(records: Sequence[Record]) -> tuple[Refusal, ...]:
    """Refused calls, equal ones counted together."""
    found: dict[tuple[str, str, int, str], Refusal] = {}
    for record in records:
        if record.code < 400:
            continue
        call = f"{record.verb} {record.resource}"
        key = (record.actor, call, record.code, record.message)
        first = found.get(key)
        found[key] = Refusal(
            first.seq if first is not None else record.seq,
            first.first if first is not None else record.t,
            record.t, record.actor, call, record.code, record.reason, record.message,
            (first.count if first is not None else 0) + 1,
        )  # fmt: skip
    return tuple(found.values())


def revisions_of(records: Sequence[Record]) -> tuple[Revision, ...]:
    """The manifests that a person wrote, with what each changed."""
    revisions: list[Revision] = []
    before: list[str] = []
    for record in records:
        manifest: dict[str, Any] | None = of(record.data, "object")
        if manifest is None or record.code >= 400:
            continue
        lines = to_yaml(manifest).splitlines()
        diff = tuple(list(unified_diff(before, lines, lineterm="", n=2))[2:]) if before else ()
        revisions.append(Revision(record.seq, record.t, record.actor, manifest, diff))
        before = lines
    return tuple(revisions)


def to_yaml(manifest: dict[str, Any]) -> str:
    """A manifest as YAML, keys in the order in which they were written."""
    dumped: str = yaml.dump(manifest, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
    return dumped
