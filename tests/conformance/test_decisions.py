"""Our decisions are those that real schedulers were recorded to make: feasible Nodes, scores, choice, messages, victims."""

import json
from pathlib import Path

import pytest

from simulations.pipelines.replay_decisions import replay_decisions
from tests.conformance.recorded_decisions import differences

CASES = Path(__file__).parent / "cases"
KNOWN = json.loads((CASES / "known-differences.json").read_text(encoding="utf-8"))
"""By reason, the cases that differ; each must really differ."""


def case(path):
    name = str(path.relative_to(CASES).with_suffix(""))
    reasons = [reason for reason, names in KNOWN.items() if name in names]
    marks = [pytest.mark.xfail(strict=True, reason=reasons[0])] if reasons else []
    return pytest.param(path, id=name, marks=marks)


@pytest.mark.parametrize("path", [case(p) for p in sorted(CASES.glob("*/decisions/*/*.json"))])
def test_decisions_are_among_those_that_the_real_scheduler_may_make(path):
    recorded = json.loads(path.read_text(encoding="utf-8"))
    assert differences(recorded, replay_decisions(recorded, path.stem), exact=False) == []


@pytest.mark.parametrize("path", [case(p) for p in sorted(CASES.glob("*/exact/*/*.json"))])
def test_decisions_are_exactly_those_of_a_scheduler_with_one_thread(path):
    recorded = json.loads(path.read_text(encoding="utf-8"))
    assert differences(recorded, replay_decisions(recorded, path.stem), exact=True) == []


def test_known_differences_name_cases_that_exist():
    names = [name for cases in KNOWN.values() for name in cases]
    assert [name for name in names if not (CASES / f"{name}.json").exists()] == []
