"""The overview's facts: what nodes offer, what pods ask for, what a dump shows."""

from functools import cache
from pathlib import Path

from simulations.analysis import overview
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from simulations.importers.kubectl import import_paths
from simulations.samples import sample

SHOP = Path(__file__).resolve().parents[2] / "data" / "clusters" / "shop-40-nodes.yaml"


@cache
def records_of(slug):
    records = []
    Simulation(parse_scenario(sample(slug).document()), on_records=records.extend).run()
    return records


def test_every_node_and_every_pod_of_a_run_is_told_of_with_its_amounts():
    found = overview.fold(records_of("busy-shop"))
    assert len(found.nodes) == 14
    created = {r.uid for r in records_of("busy-shop") if (r.verb, r.resource) == ("create", "pods") and r.code < 300}
    assert set(found.pods) == created
    assert all(amounts.get("cpu", 0) > 0 for amounts in found.pods.values())
    assert found.as_dict()["resources"] == ["cpu", "memory", "pods"]


def test_pods_that_controllers_make_have_their_requests_too():
    found = overview.fold(records_of("urgent-rollout"))
    assert {amounts["cpu"] for amounts in found.pods.values()} == {50, 250, 500, 600, 700, 1000, 1500, 2000}


def test_a_dump_is_shown_as_it_was():
    dump = import_paths([SHOP])
    found, spans = overview.of_snapshot(dump.objects)
    kinds = {kind: sum(span.kind == kind for span in spans) for kind in ("node", "running", "unschedulable")}
    assert (kinds["node"], kinds["running"] + kinds["unschedulable"]) == (40, 236)
    assert found.nodes[next(iter(found.nodes))]["labels"]["topology.kubernetes.io/zone"].startswith("eu-1")


def test_resources_that_only_some_nodes_offer_come_last():
    found = overview.Overview({"a": {"allocatable": {"example.com/gpu": 4, "pods": 10, "cpu": 1000}, "labels": {}}})
    assert found.as_dict()["resources"] == ["cpu", "pods", "example.com/gpu"]
