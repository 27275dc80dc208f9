"""Scenarios of the openb trace: fill in the order of the file, recorded at the trace's own times."""

import pytest

from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from simulations.pipelines.openb import bundled_trace, openb_document

DAY = 24 * 3600 * 10**9


@pytest.fixture(scope="module")
def trace():
    return bundled_trace()


def run(document):
    records = []
    result = Simulation(parse_scenario(document), on_records=records.extend).run()
    return result, records


def test_fill_decides_every_pod_once_and_in_the_order_of_the_file(trace):
    small = trace.cut(gpu_nodes_only=True, pods=300)
    result, records = run(openb_document(small, "fill"))
    attempts = [record.name for record in records if record.verb == "attempt"]
    assert attempts == [pod.name for pod in small.pods]
    assert (result.counts["nodes"], result.counts["bound"], result.reason) == (1213, 300, "Settled")


def test_in_a_full_cluster_nobody_leaves_and_nobody_is_tried_twice(trace):
    crowded = type(trace)(tuple(node for node in trace.nodes if node.cards)[:20], trace.pods[:300])
    result, records = run(openb_document(crowded, "fill"))
    assert result.counts["pending"] > 50
    assert len([record for record in records if record.verb == "attempt"]) == 300
    assert not [record for record in records if record.verb in ("preempt", "gone")]


def test_recorded_times_pass_149_days_and_leave_the_cluster_empty(trace):
    result, records = run(openb_document(trace.cut(pods=8152), "recorded"))
    assert (result.counts["pods"], result.end // DAY) == (0, 149)
    assert len([record for record in records if record.verb == "create" and record.resource == "pods/binding"]) == 8152


def test_a_sum_per_node_is_said_to_be_one(trace):
    _result, records = run(openb_document(trace.cut(pods=1), "fill"))
    assert any("single card" in limit for limit in records[0].data["limits"])


def test_an_unknown_mode_is_refused(trace):
    with pytest.raises(ScenarioError, match="E0643"):
        openb_document(trace, "nonsense")
