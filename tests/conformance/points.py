"""How much is compared with each recording: what docs/fidelity.md counts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"
HANDS = {"user", "kubelet"}
"""Actors of a timeline whose calls are input, not output."""


def attempts(recorded: dict[str, Any]) -> int:
    """Of a recorded cluster with arriving Pods: the first and the last attempt of each Pod; of a descheduler's cycle: its outcome."""
    if "policy" in recorded:
        return 1
    tried = ([a for a in step["decision"]["attempts"] if "node" in a or "message" in a] for step in recorded["steps"])
    return sum(min(len(found), 2) for found in tried)


def stretches(recorded: dict[str, Any], expected: dict[str, Any]) -> int:
    """Of a recorded timeline: calls and events of each actor about each object, first notes, orders, counts, final states."""
    calls = recorded["timeline"]
    number = len(expected.get("orders", [])) + len(expected.get("counts", []))
    number += len(recorded["final"]) if expected.get("finals", True) else 0
    if not expected.get("objects", True):
        return number
    actors = {c["actor"] for c in calls} - HANDS
    free = set(expected.get("free", []))
    objects = {c.get("name") or c.get("regarding") for c in calls if c["resource"].startswith(("pods", "events"))} - {None} - free
    pairs = {(c["actor"], c.get("name") or c.get("regarding")) for c in calls if c["actor"] in actors}
    notes = {c["regarding"] for c in calls if c["resource"] == "events" and c["reason"] == "FailedScheduling"}
    return number + sum(1 for _actor, name in pairs if name in objects) + len(notes)


def families(kind: str) -> Iterator[tuple[str, list[Path]]]:
    """The families of a kind of recording, with their files."""
    for folder in sorted(CASES.glob(f"*/{kind}/*")):
        yield folder.name, sorted(folder.glob("*.json"))


def counted(kind: str, known: dict[str, list[str]]) -> list[tuple[str, int, int, int]]:
    """(family, files, points, equal) of the decisions; `known` are the cases that differ, by reason."""
    differing = {name for names in known.values() for name in names}
    rows = []
    for family, files in families(kind):
        points = {f: attempts(json.loads(f.read_text(encoding="utf-8"))) for f in files}
        equal = sum(n for f, n in points.items() if str(f.relative_to(CASES).with_suffix("")) not in differing)
        rows.append((family, len(files), sum(points.values()), equal))
    return rows
