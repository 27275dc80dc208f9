"""The tables of one attempt: Filter by node and plugin, and Score."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulations.analysis.reading import RunFacts, rows_of
from simulations.analysis.why.types import (
    Cell,
    Duel,
    FilterRow,
    FilterTable,
    Lead,
    Outcome,
    RejectedGroup,
    ScoreCell,
    ScoreRow,
    ScoreTable,
)
from simulations.analysis.words import plural

NAMES_SHOWN = 5
_PASSED = Cell(Outcome.PASSED)
_NOT_RUN = Cell(Outcome.NOT_RUN)
_SKIPPED = Cell(Outcome.SKIPPED)


def filter_table(data: Mapping[str, Any], facts: RunFacts, seq: int, limit: int) -> FilterTable:
    """Filter of the attempt `seq`, with at most `limit` rows: each kind of rejection at least once, then feasible nodes."""
    verdicts: Sequence[Any] = data.get("verdicts") or ()
    skipped = tuple(data.get("skipped") or ())
    plugins = _plugins(facts.filters(data.get("profile", "")), verdicts)
    groups = tuple(_group(verdict, facts) for verdict in verdicts)
    rejected: dict[int, Sequence[Any]] = {row: verdict for verdict in verdicts for row in rows_of(verdict[3])}
    unseen = sorted(rows_of(data.get("notRun") or ()))
    unseen_set = frozenset(unseen)
    total = data.get("nodes", 0)
    passed = [row for row in facts.rows_at(seq) if row not in rejected and row not in unseen_set]
    order = _first_of_each(verdicts) + passed + sorted(rejected) + unseen
    shown = sorted(list(dict.fromkeys(order))[:limit])
    rows = tuple(_row(row, rejected.get(row), row in unseen_set, plugins, skipped, facts) for row in shown)
    return FilterTable(
        plugins, rows, groups, skipped, total, data.get("evaluated", 0), data.get("feasible", 0), len(unseen),
        max(0, total - len(rows)),
    )  # fmt: skip


def _plugins(known: Sequence[str], verdicts: Sequence[Any]) -> tuple[str, ...]:
    """Columns in the order in which the plugins run; unknown ones that rejected something come last."""
    return tuple(known) + tuple(dict.fromkeys(verdict[0] for verdict in verdicts if verdict[0] not in known))


def _group(verdict: Sequence[Any], facts: RunFacts) -> RejectedGroup:
    plugin, status, reasons, runs = verdict
    names: list[str] = []
    for row in rows_of(runs):
        if len(names) == NAMES_SHOWN:
            break
        names.append(facts.node_name(row))
    return RejectedGroup(plugin, status, tuple(reasons), sum(count for _, count in runs), tuple(names))


def _first_of_each(verdicts: Sequence[Any]) -> list[int]:
    return [runs[0][0] for _, _, _, runs in verdicts if runs]


def _row(
    row: int, verdict: Sequence[Any] | None, unseen: bool, plugins: Sequence[str], skipped: Sequence[str], facts: RunFacts
) -> FilterRow:  # fmt: skip
    name = facts.node_name(row)
    if unseen:
        return FilterRow(name, Outcome.NOT_RUN, (_NOT_RUN,) * len(plugins))
    cells: list[Cell] = []
    seen_rejection = False
    for plugin in plugins:
        if verdict is not None and plugin == verdict[0]:
            seen_rejection = True
            cells.append(Cell(Outcome.REJECTED, verdict[1], tuple(verdict[2])))
        elif seen_rejection:
            cells.append(_NOT_RUN)
        else:
            cells.append(_SKIPPED if plugin in skipped else _PASSED)
    return FilterRow(name, Outcome.PASSED if verdict is None else Outcome.REJECTED, tuple(cells))


def score_table(data: Mapping[str, Any], facts: RunFacts) -> ScoreTable | None:
    """Scores of an attempt; None when no node was feasible. With exactly one, Score is not run and the note says so."""
    feasible = data.get("feasible", 0)
    chosen = data.get("node") or ""
    scores = data.get("scores")
    if not feasible:
        return None
    if not scores:
        note = f"{chosen} was the only feasible node: it is taken without being scored."
        if data.get("nominatedFirst"):
            note = f"{chosen} was tried first because the pod was nominated to it, and it fits: nothing was scored."
        row = ScoreRow(chosen, (), 0, True)
        return ScoreTable((), (row,) if chosen else (), True, 1, note)
    plugins = tuple((name, weight) for name, weight, _, _ in scores["plugins"])
    rows = [
        ScoreRow(
            facts.node_name(row),
            tuple(
                ScoreCell(raw[index], normalized[index], normalized[index] * weight)
                for _, weight, raw, normalized in scores["plugins"]
            ),
            scores["total"][index],
            facts.node_name(row) == chosen,
        )
        for index, row in enumerate(scores["rows"])
    ]
    rows.sort(key=lambda row: (-row.total, not row.chosen, row.node))
    tied = data.get("tie", 1)
    return ScoreTable(
        plugins, tuple(rows), scores.get("kept") == "all", tied, _score_note(rows, tied, chosen), _duel(rows, plugins)
    )


def _duel(rows: Sequence[ScoreRow], plugins: Sequence[tuple[str, int]]) -> Duel | None:
    winner = next((row for row in rows if row.chosen), None)
    runner_up = next((row for row in rows if not row.chosen), None)
    if winner is None or runner_up is None:
        return None
    cells = zip(plugins, winner.cells, runner_up.cells, strict=True)
    parts = [
        Lead(name, weight, own.weighted, other.weighted, own.weighted - other.weighted) for (name, weight), own, other in cells
    ]
    parts.sort(key=lambda part: -abs(part.lead))
    return Duel(winner.node, runner_up.node, winner.total - runner_up.total, tuple(parts))


def _score_note(rows: Sequence[ScoreRow], tied: int, chosen: str) -> str:
    best = rows[0].total if rows else 0
    if tied > 1:
        return f"{plural(tied, 'node')} share the highest total, {best}; {chosen} came first of them in the scheduler's heap."
    runner_up = next((row for row in rows if not row.chosen), None)
    if runner_up is None:
        return f"{chosen} has the highest total, {best}."
    return f"{chosen} has the highest total, {best}; next is {runner_up.node} with {runner_up.total}."
