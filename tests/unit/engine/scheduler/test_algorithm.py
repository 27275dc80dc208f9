"""Which Nodes are looked at, which one is taken, and what is said where none fits."""

import numpy as np
import pytest

from simulations.engine.scheduler.algorithm import nodes_to_find
from simulations.engine.scheduler.attempt_data import attempt_data
from simulations.engine.scheduler.host_selection import select_host
from tests.builders import make_node, make_pod
from tests.unit.engine.scheduler.cluster_of import Cluster


@pytest.mark.parametrize(
    "nodes, percentage, found",
    [
        (1, 0, 1),
        (99, 0, 99),
        (100, 0, 100),
        (500, 0, 230),
        (1000, 0, 420),
        (5000, 0, 500),
        (6000, 0, 300),
        (1000, 5, 100),
        (1000, 50, 500),
    ],
)
def test_how_many_feasible_nodes_end_the_search(nodes, percentage, found):
    assert nodes_to_find(nodes, percentage) == found


@pytest.mark.parametrize(
    "scores, chosen",
    [
        ([7], 0),
        ([1, 3, 3], 1),
        ([5, 5, 5], 0),
        ([1, 3, 5, 5], 3),
        ([1, 5, 5, 2], 1),
        ([0, 0, 9, 0, 0, 9, 9], 2),
        ([0, 0, 0, 0, 4, 4], 4),
    ],
)
def test_ties_are_decided_by_the_shape_of_gos_heap(scores, chosen):
    assert select_host(np.array(scores)) == chosen


@pytest.mark.parametrize("size", [2, 3, 5, 8, 13])
def test_the_shortcut_chooses_as_the_heap_itself(size):
    rng = np.random.default_rng(size)
    for _ in range(200):
        scores = rng.integers(0, 3, size).tolist()
        heap = list(range(size))
        for i in range(size // 2 - 1, -1, -1):
            _sift_down(heap, scores, i)
        assert select_host(np.array(scores)) == heap[0]


def _sift_down(heap, scores, i):
    while 2 * i + 1 < len(heap):
        child = 2 * i + 1
        if child + 1 < len(heap) and scores[heap[child + 1]] > scores[heap[child]]:
            child += 1
        if scores[heap[child]] <= scores[heap[i]]:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child


def test_nodes_are_visited_one_of_each_zone_per_round():
    nodes = [make_node(name).zone(zone) for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("c1", "c"), ("a3", "a"))]
    cluster = Cluster(nodes)
    order = [cluster.cache.columns.names[row] for row in cluster.cache.order()]
    assert order == ["a1", "b1", "c1", "a2", "a3"]


def test_a_node_that_comes_back_is_visited_last():
    cluster = Cluster([make_node("n1"), make_node("n2"), make_node("n3")])
    cluster.cache.remove_node("n1")
    cluster.cache.add_node(make_node("n1").build())
    assert [cluster.cache.columns.names[row] for row in cluster.cache.order()] == ["n2", "n3", "n1"]


def test_a_changed_zone_counts_when_the_next_node_comes():
    nodes = [make_node("n1").zone("a"), make_node("n2").zone("a"), make_node("n3").zone("b")]
    cluster = Cluster(nodes)
    names = cluster.cache.columns.names
    assert [names[r] for r in cluster.cache.order()] == ["n1", "n3", "n2"]
    cluster.cache.update_node(make_node("n1").zone("b").build())
    assert [names[r] for r in cluster.cache.order()] == ["n1", "n3", "n2"]
    cluster.cache.add_node(make_node("n4").build())
    assert [names[r] for r in cluster.cache.order()] == ["n2", "n3", "n4", "n1"]


def test_the_search_stops_at_the_first_feasible_node_too_many_and_goes_on_there():
    cluster = Cluster(
        [make_node(f"n{i}").allocatable(cpu="1" if i % 2 else "4") for i in range(200)], config={"percentageOfNodesToScore": 50}
    )
    result = cluster.schedule(make_pod("p").request(cpu="2"))
    assert (len(result.feasible), result.evaluated, result.next_start) == (100, 200, 0)
    cluster = Cluster([make_node(f"n{i}") for i in range(150)])
    result = cluster.schedule(make_pod("p"), start=10)
    assert (len(result.feasible), result.evaluated, result.next_start) == (100, 100, 110)
    data = attempt_data(result, cluster.cache.columns, "default-scheduler")
    assert data["notRun"] == [[0, 10], [110, 40]]
    assert data["verdicts"] == []
    assert data["scores"]["kept"] == "all"
    assert data["tie"] == 100


def test_of_many_scores_the_best_and_the_chosen_one_are_kept():
    cluster = Cluster([make_node(f"n{i}") for i in range(300)], config={"percentageOfNodesToScore": 100})
    result = cluster.schedule(make_pod("p"))
    data = attempt_data(result, cluster.cache.columns, "default-scheduler")
    assert data["scores"]["kept"] == "top"
    assert 10 <= len(data["scores"]["rows"]) <= 11
    assert cluster.cache.infos[result.node].row in data["scores"]["rows"]


def test_a_single_feasible_node_is_not_scored():
    result = Cluster([make_node("n1"), make_node("n2").cordoned()]).schedule(make_pod("p"))
    assert (result.node, result.scores) == ("n1", None)


def test_the_nominated_node_is_tried_first_and_taken_without_scoring():
    cluster = Cluster([make_node(f"n{i}") for i in range(5)])
    result = cluster.schedule(make_pod("p").nominated("n3"), start=2)
    assert (result.node, result.nominated_first, result.next_start, result.evaluated) == ("n3", True, 2, 1)


def test_where_the_nominated_node_does_not_fit_all_are_looked_at():
    cluster = Cluster([make_node("n0"), make_node("n1").cordoned()])
    result = cluster.schedule(make_pod("p").nominated("n1"))
    assert (result.node, result.nominated_first) == ("n0", False)
    assert result.diagnosis.rejecting == ["NodeUnschedulable"]


def nominate(cluster, pod):
    cluster.cache.nominator.add(pod.build(), "n1")


@pytest.mark.parametrize("priority, fits", [(200, False), (100, False), (50, True)])
def test_room_is_kept_for_nominated_pods_of_equal_or_higher_priority(priority, fits):
    cluster = Cluster([make_node("n1")])
    nominate(cluster, make_pod("hopes").request(cpu="3").priority(priority))
    result = cluster.schedule(make_pod("p").request(cpu="2").priority(100))
    assert bool(result.node) is fits


def test_affinity_to_a_nominated_pod_alone_is_not_enough():
    cluster = Cluster([make_node("n1")])
    nominate(cluster, make_pod("hopes").labels(app="web").priority(100))
    assert cluster.verdicts(make_pod("p").near("kubernetes.io/hostname", app="web")) == {
        "n1": "InterPodAffinity: node(s) didn't match pod affinity rules"
    }


def test_reasons_are_counted_and_sorted_as_texts():
    nodes = [make_node(f"n{i}").cordoned() for i in range(10)] + [
        make_node("small").allocatable(cpu="1"),
        make_node("tiny").allocatable(cpu="1"),
    ]
    message = Cluster(nodes).schedule(make_pod("p").request(cpu="2")).diagnosis.message()
    assert message == "0/12 nodes are available: 10 node(s) were unschedulable, 2 Insufficient cpu."


def test_an_empty_cluster_is_an_error_without_a_rejecting_plugin():
    result = Cluster([]).schedule(make_pod("p"))
    assert result.no_nodes
    assert result.diagnosis.message() == "no nodes available to schedule pods"
    assert result.diagnosis.rejecting == []


def test_nodes_that_left_are_not_looked_at():
    cluster = Cluster([make_node("n1"), make_node("n2")], [make_pod("a").on("n1")])
    cluster.cache.remove_node("n1")
    result = cluster.schedule(make_pod("p"))
    assert (result.node, result.diagnosis.nodes) == ("n2", 1)
