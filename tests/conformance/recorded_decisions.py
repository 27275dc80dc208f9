"""Compares replayed decisions with recorded ones, step by step."""

from collections.abc import Iterator, Mapping
from typing import Any

Document = Mapping[str, Any]
UNSCORED = ("total", "DynamicResources")
"""Not plugins' scores, or 0 in every recording."""


def differences(recorded: Document, replayed: Document, *, exact: bool) -> list[str]:
    """What differs, one line each; `exact` demands the very Node where several are equal."""
    found = []
    for step, ours in zip(recorded["steps"], replayed["steps"], strict=True):
        pod = step["pod"]["metadata"]["name"]
        attempts = [a for a in step["decision"]["attempts"] if "node" in a or "message" in a]
        if not attempts:
            continue
        assert ours["pod"] == pod, "the steps of both are in one order"
        pairs = [(attempts[0], ours["attempts"][0])]
        if len(attempts) > 1:
            pairs.append((attempts[-1], ours["attempts"][-1]))
        for theirs, mine in pairs:
            found.extend(f"{pod}: {line}" for line in _attempt(theirs, mine, exact=exact))
    return found


def _attempt(theirs: Document, mine: Document, *, exact: bool) -> Iterator[str]:
    if theirs.get("message") != mine.get("message"):
        yield f"message {mine.get('message')!r}, recorded {theirs.get('message')!r}"
    if "feasibleNodes" in theirs and theirs["feasibleNodes"] != mine["feasible"]:
        yield f"{mine['feasible']} nodes feasible, recorded {theirs['feasibleNodes']}"
    if theirs.get("scores"):
        yield from _scores(theirs["scores"], mine.get("scores") or {})
    yield from _node(theirs.get("node"), mine, exact=exact)
    yield from _victims(theirs, mine, exact=exact)


def _scores(theirs: Document, mine: Document) -> Iterator[str]:
    if set(theirs) != set(mine):
        yield f"scores of {sorted(mine)}, recorded {sorted(theirs)}"
        return
    for node, recorded in theirs.items():
        if recorded["total"] != mine[node]["total"]:
            yield f"total {mine[node]['total']} on {node}, recorded {recorded['total']}"
        plugins = [p for p in {**recorded, **mine[node]} if p not in UNSCORED] if len(recorded) > 1 else []
        for plugin in plugins:
            if recorded.get(plugin, 0) != mine[node].get(plugin, 0):
                yield f"{plugin} {mine[node].get(plugin, 0)} on {node}, recorded {recorded.get(plugin, 0)}"


def _node(recorded: str | None, mine: Document, *, exact: bool) -> Iterator[str]:
    scores = mine.get("scores")
    allowed = {mine["node"]}
    if scores and not exact:
        best = max(s["total"] for s in scores.values())
        allowed = {node for node, s in scores.items() if s["total"] == best}
    if recorded not in allowed:
        yield f"node {mine['node']} (equals: {sorted(map(str, allowed))}), recorded {recorded}"


def _victims(theirs: Document, mine: Document, *, exact: bool) -> Iterator[str]:
    nominated = theirs.get("nominatedNode")
    candidates = mine["victimsByNode"]
    if nominated is None and mine["nominated"] is None:
        return
    if nominated not in candidates or (exact and nominated != mine["nominated"]):
        yield f"nominated {mine['nominated']}, recorded {nominated}"
    elif sorted(candidates[nominated]) != sorted(theirs.get("victims") or []):
        yield f"victims {candidates[nominated]} on {nominated}, recorded {theirs.get('victims')}"
