"""Why a candidate won and why preemption did not help elsewhere, held against what real runs decided."""

from collections import Counter

import pytest
from analysis_story import VERDICTS, Story

from simulations.analysis.reading import MemoryTrace, RunFacts
from simulations.analysis.why import explain
from simulations.analysis.why.decision import RULES, decision_of
from simulations.analysis.why.types import Candidate, NodeAnswer
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from simulations.samples import sample


def candidate(node, *, violations=0, highest=0, total=0, victims=1, start=0, chosen=False):
    return Candidate(node, chosen, violations, highest, total, victims, start, ("shop/x",) * victims)


@pytest.mark.parametrize(
    "winner, loser, rule, values",
    [
        ({}, {"violations": 1}, RULES[0], (0, 1)),
        ({"highest": 5, "total": 5}, {"highest": 7, "total": 7}, RULES[1], (5, 7)),
        ({"total": 5}, {"total": 9}, RULES[2], (2**31 + 5, 2**31 + 9)),
        ({"total": -(2**31), "victims": 1}, {"total": -(2**32), "victims": 2}, RULES[3], (1, 2)),
        ({"start": 9}, {"start": 4}, RULES[4], (9, 4)),
        ({}, {}, RULES[5], (None, None)),
    ],
    ids=["budgets", "highest priority", "sum", "number of victims", "start", "equal"],
)
def test_each_rule_can_decide_and_shows_both_values(winner, loser, rule, values):
    candidates = [candidate("a", chosen=True, **winner), candidate("b", **loser)]
    found = decision_of(candidates, "a")
    assert (found.runner_up, found.rule) == ("b", rule)
    assert (found.rows[-1].winner, found.rows[-1].runner_up) == values
    assert [row.decided for row in found.rows] == [False] * (len(found.rows) - 1) + [True]


def test_the_runner_up_is_who_would_have_won_without_the_winner():
    candidates = [
        candidate("far", violations=2),
        candidate("won", chosen=True),
        candidate("near", total=3),
        candidate("late", start=-9),
    ]
    found = decision_of(candidates, "won")
    assert (found.runner_up, found.rule) == ("late", RULES[4])
    assert [row.left for row in found.rows] == [3, 3, 2, 2, 1]


def test_a_single_candidate_needs_no_rule():
    assert decision_of([candidate("a", chosen=True)], "a") is None


@pytest.fixture(scope="module", params=["busy-shop", "cordon-and-uncordon", "async-preemption"])
def run(request):
    records = []
    Simulation(parse_scenario(sample(request.param).document()), on_records=records.extend).run()
    return records


def test_the_rule_of_every_decision_of_a_run_is_the_one_that_the_scheduler_recorded(run):
    trace, facts = MemoryTrace(run), RunFacts.of(run)
    seen = 0
    for record in run:
        if record.verb == "preempt" and len(record.data["candidates"]) > 1:
            why = explain(f"{record.namespace}/{record.name}", trace, facts, record.seq)
            assert why.preemption.decision.rule == record.data["rule"]
            seen += 1
    assert seen or not any(record.verb == "preempt" and len(record.data["candidates"]) > 1 for record in run)


def test_nodes_without_a_candidate_add_up_to_the_counts_of_the_message(run):
    trace, facts = MemoryTrace(run), RunFacts.of(run)
    for record in run:
        if record.verb != "nopreempt" or "not eligible" in record.message:
            continue
        why = explain(f"{record.namespace}/{record.name}", trace, facts, record.seq)
        counts = Counter()
        for group in why.preemption.without:
            helpless = group.answer is NodeAnswer.NOT_HELPFUL
            counts["Preemption is not helpful for scheduling" if helpless else group.reason] += group.nodes
        for reason, nodes in counts.items():
            assert f"{nodes} {reason}" in record.message


class TestNodes:
    def test_every_node_has_its_answer(self):
        story, attempt = _tried()
        none = [["No preemption victims found for incoming pod", [[1, 1]]]]
        data = {"node": "node-1", "rule": "r", "executor": "async", "victims": [], "none": none, "candidates": [
            {"row": 0, "node": "node-1", "names": ["shop/a"], "victims": 1}]}  # fmt: skip
        story.of_pod(1005, "scheduler", "preempt", "web-1", cause=attempt, data=data)
        assert [(n.node, n.answer, n.reason) for n in _why(story).preemption.nodes] == [
            ("node-1", NodeAnswer.CHOSEN, "shop/a"),
            ("node-2", NodeAnswer.NO_ROOM, "No preemption victims found for incoming pod"),
            ("node-3", NodeAnswer.NOT_HELPFUL, "TaintToleration: tainted"),
            ("node-4", NodeAnswer.NOT_TRIED, "enough candidates were found before it"),
        ]

    def test_a_pod_that_may_not_preempt_says_so_for_each_node_that_it_could_have_helped_on(self):
        story, attempt = _tried()
        message = "preemption: not eligible due to preemptionPolicy=Never."
        story.of_pod(1005, "scheduler", "nopreempt", "web-1", cause=attempt, message=message, data={"none": []})
        answers = [(n.answer, n.reason) for n in _why(story).preemption.nodes]
        assert answers[0] == (NodeAnswer.NOT_TRIED, "not eligible due to preemptionPolicy=Never")
        assert answers[2] == (NodeAnswer.NOT_HELPFUL, "TaintToleration: tainted")


def _tried():
    story = Story()
    for row in range(4):
        story.node(0, f"node-{row + 1}", row)
    created = story.create(1000, "web-1", priority=5)
    woken = story.enqueue(1002, "web-1", cause=created)
    verdicts = [
        [VERDICTS[0][0], "Unschedulable", ["Insufficient cpu"], [[0, 2], [3, 1]]],
        ["TaintToleration", "UnschedulableAndUnresolvable", ["tainted"], [[2, 1]]],
    ]
    return story, story.attempt(1004, "web-1", woken, nodes=4, evaluated=4, verdicts=verdicts, message="0/4")


def _why(story):
    return explain("shop/web-1", MemoryTrace(story.records), RunFacts.of(story.records), None)
