"""How much of a decision is recorded: no verdicts and scores, the usual, all."""

import pytest

from simulations.analysis.reading import MemoryTrace, RunFacts
from simulations.analysis.why import explain
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from tests.builders import make_node, make_pod

NODES = 230
LARGE = "0/230 nodes are available: 230 Insufficient cpu."


def records(explanations):
    pods = {"small": make_pod("small").request(cpu="1"), "large": make_pod("large").request(cpu="9")}
    document = {
        "apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"},
        "spec": {
            "until": "Settled", "controllers": [], "explanations": explanations,
            "schedulers": [{"percentageOfNodesToScore": 100}],
            "initial": [*(make_node(f"n{i}").manifest() for i in range(NODES)), *(pod.manifest() for pod in pods.values())],
        },
    }  # fmt: skip
    found = []
    Simulation(parse_scenario(document), on_records=found.extend).run()
    return found


def attempt(found, name):
    return next(r.data for r in found if r.verb == "attempt" and r.name == name)


@pytest.mark.parametrize("explanations, scores, verdicts", [("none", 0, None), ("usual", 10, 1), ("all", NODES, 1)])
def test_scores_and_verdicts_are_kept_as_the_scenario_says(explanations, scores, verdicts):
    found = records(explanations)
    assert len(attempt(found, "small").get("scores", {"rows": ()})["rows"]) == scores
    assert (len(attempt(found, "large")["verdicts"]) if verdicts else attempt(found, "large").get("verdicts")) == verdicts


def test_the_decisions_are_the_same_whatever_is_recorded():
    kept = [
        [(r.seq, r.t, r.verb, r.name, r.message, (r.data or {}).get("node")) for r in records(e)] for e in ("none", "usual", "all")
    ]
    assert kept[0] == kept[1] == kept[2]


def test_without_verdicts_the_explanation_says_so_and_invents_none():
    found = records("none")
    why = explain("default/large", MemoryTrace(found), RunFacts.of(found))
    assert (why.explained, why.filters, why.scores) == (False, None, None)
    assert LARGE.removesuffix(".") in why.sentence


def test_another_word_is_refused():
    with pytest.raises(ScenarioErrors) as found:
        records("everything")
    assert (found.value.errors[0].code, found.value.errors[0].path) == ("E0302", "spec.explanations")
