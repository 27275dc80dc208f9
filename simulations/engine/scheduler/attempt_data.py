"""What the trace keeps of one attempt: verdicts as runs of Node rows, and scores.

The form is that of the record `attempt` (see docs/trace-format.md): rows are Node rows in order of creation, runs are
[first, length].
"""

from typing import Any, Final

import numpy as np

from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.framework.diagnosis import Diagnosis, runs_of, runs_where
from simulations.engine.scheduler.framework.framework import PluginScores, ScoreTable
from simulations.engine.scheduler.framework.search import ScheduleResult

NONE, USUAL, ALL = "none", "usual", "all"
EXPLANATIONS: Final = (NONE, USUAL, ALL)
"""How much of a decision is recorded: no verdicts and scores; all verdicts, and scores as far as `KEEP_ALL_SCORES` says; all of both."""
KEEP_ALL_SCORES: Final = 200
"""Up to this many feasible Nodes all scores are usually kept; of more, the best and the chosen one."""
KEEP_TOP_SCORES: Final = 10

Data = dict[str, Any]


def attempt_data(result: ScheduleResult, columns: Columns, profile: str, explanations: str = USUAL) -> Data:
    """The decision of a cycle, as explained as is wanted (see `EXPLANATIONS`); the caller adds `attempt` and `started`."""
    data: Data = {
        "profile": profile,
        "nodes": result.diagnosis.nodes,
        "evaluated": result.evaluated,
        "feasible": len(result.feasible),
        "node": result.node,
        "nominatedFirst": result.nominated_first,
        "skipped": list(result.state.skip_filter),
    }
    if explanations == NONE:
        return data
    data["verdicts"] = _verdicts(result.diagnosis)
    not_run = _not_run(result, columns)
    if not_run:
        data["notRun"] = not_run
    if result.scores is not None:
        total = result.scores.total
        data["scores"] = _scores(result.scores, result.choice, every=explanations == ALL)
        data["tie"] = int(np.count_nonzero(total == total[result.choice]))
    return data


def _verdicts(diagnosis: Diagnosis) -> list[list[Any]]:
    return [[s.plugin, s.code.word, list(s.reasons), runs_of(rows)] for s, rows in diagnosis.statuses.by_status()]


def _not_run(result: ScheduleResult, columns: Columns) -> list[list[int]]:
    """Nodes that Filter did not come to, since enough were found."""
    if result.evaluated == result.diagnosis.nodes:
        return []
    statuses = result.diagnosis.statuses
    unseen = columns.valid[: len(statuses.codes)] & (statuses.codes == 0)
    unseen[result.looked_at] = False
    return runs_where(unseen)


def _scores(table: ScoreTable, choice: int, *, every: bool) -> Data:
    kept = _kept(table, choice, every=every)
    return {
        "kept": "all" if len(kept) == len(table.rows) else "top",
        "rows": table.rows[kept].tolist(),
        "plugins": [_plugin(scores, kept) for scores in table.plugins],
        "total": table.total[kept].tolist(),
    }


def _plugin(scores: PluginScores, kept: Ints) -> list[Any]:
    return [scores.plugin, scores.weight, scores.raw[kept].tolist(), scores.normalized[kept].tolist()]


def _kept(table: ScoreTable, choice: int, *, every: bool) -> Ints:
    """Indices of the scores to keep: all, or the chosen one and the best (earlier ones first among equals)."""
    size = len(table.rows)
    if every or size <= KEEP_ALL_SCORES:
        return np.arange(size, dtype=np.int64)
    best = (-table.total).argsort(kind="stable")[:KEEP_TOP_SCORES].tolist()
    return np.array(list(dict.fromkeys((choice, *best))), dtype=np.int64)
