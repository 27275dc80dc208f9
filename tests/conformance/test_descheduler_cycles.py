"""Our evictions in one cycle are those that the real descheduler was recorded to make."""

import json
from pathlib import Path

import pytest

from simulations.pipelines.replay_descheduler import replay_descheduler

CASES = Path(__file__).parent / "cases"
CREATED = 201


def outcome(evictions):
    """Who was evicted, and who was refused with what code, whatever the order."""
    evicted = frozenset(e["pod"] for e in evictions if e["code"] == CREATED)
    return evicted, frozenset((e["pod"], e["code"]) for e in evictions if e["code"] != CREATED)


@pytest.mark.parametrize("path", [pytest.param(p, id=p.stem) for p in sorted(CASES.glob("*/descheduler/*/*.json"))])
def test_evictions_are_among_those_that_the_real_descheduler_made(path):
    """Where the order of a Go map decides, an outcome that no run showed is right if it is as large and picks from the same pods."""
    recorded = json.loads(path.read_text(encoding="utf-8"))
    runs = [(frozenset(run["evicted"]), frozenset((pod, code) for pod, code in run["refused"])) for run in recorded["outcomes"]]
    ours = outcome(replay_descheduler(recorded, path.stem)["evictions"])
    if len(runs) > 1 and ours not in runs:
        assert len(ours[0]) in {len(evicted) for evicted, _refused in runs}
        assert ours[0] <= frozenset().union(*(evicted for evicted, _refused in runs))
    else:
        assert ours in runs


def test_a_refused_eviction_has_the_message_of_the_recording():
    """The budget's refusal is told in the API server's words."""
    found = 0
    for path in sorted(CASES.glob("*/descheduler/*/*.json")):
        recorded = json.loads(path.read_text(encoding="utf-8"))
        theirs = {e["pod"]: e["message"] for e in recorded["evictions"] if "message" in e}
        for eviction in replay_descheduler(recorded, path.stem)["evictions"]:
            if "message" in eviction and eviction["pod"] in theirs:
                assert eviction["message"] == theirs[eviction["pod"]]
                found += 1
    assert found > 10
