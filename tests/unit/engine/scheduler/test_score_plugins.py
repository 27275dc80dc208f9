"""What each Score plugin gives, with worked examples."""

import pytest

from tests.builders import HOSTNAME, PREFERRED, ZONE, make, make_node, make_pod
from tests.unit.engine.scheduler.cluster_of import Cluster


def fit_config(**strategy):
    return {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}]}]}


def shape(*points):
    return {"shape": [{"utilization": u, "score": s} for u, s in points]}


@pytest.mark.parametrize(
    "strategy, score",
    [
        ({}, 62),
        ({"type": "MostAllocated"}, 37),
        ({"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": shape((0, 10), (100, 0))}, 63),
    ],
)
def test_fit_scores_by_strategy(strategy, score):
    used = make_pod("a").request(cpu="1", memory="2Gi").on("n1")
    cluster = Cluster([make_node("n1"), make_node("n2")], [used], config=fit_config(**strategy))
    assert cluster.scores(make_pod("p").request(cpu="500m", memory="1Gi"), "NodeResourcesFit")["n1"] == score


def test_the_ratio_leaves_out_resources_that_score_nothing():
    nodes = [make_node("n1").allocatable(memory="1000Mi"), make_node("n2")]
    config = fit_config(type="RequestedToCapacityRatio", requestedToCapacityRatio=shape((0, 0), (100, 10)))
    pod = make_pod("p").request(cpu="0", memory="600Mi")
    assert Cluster(nodes, config=config).scores(pod, "NodeResourcesFit")["n1"] == 60


def test_fit_counts_something_for_pods_that_ask_for_nothing():
    cluster = Cluster([make_node("n1").allocatable(cpu="1", memory="1000Mi"), make_node("n2")])
    assert cluster.scores(make_pod("p"), "NodeResourcesFit")["n1"] == (90 + 80) // 2


@pytest.mark.parametrize(
    "used, wanted, score",
    [
        ({"cpu": "1", "memory": "4Gi"}, {"cpu": "1", "memory": "512Mi"}, 79),
        ({"cpu": "1", "memory": "2Gi"}, {"cpu": "1", "memory": "2Gi"}, 75),
    ],
)
def test_balanced_allocation_scores_the_change(used, wanted, score):
    cluster = Cluster([make_node("n1"), make_node("n2")], [make_pod("a").request(**used).on("n1")])
    assert cluster.scores(make_pod("p").request(**wanted), "NodeResourcesBalancedAllocation")["n1"] == score


def test_balanced_allocation_is_skipped_for_best_effort_pods():
    cluster = Cluster([make_node("n1"), make_node("n2")])
    assert cluster.scores(make_pod("p"), "NodeResourcesBalancedAllocation") == {}


def test_node_affinity_scales_the_weights_that_match():
    disks = {"n1": "hdd", "n2": "ssd", "n3": "nvme"}
    nodes = [make_node(name).labels({"disk": disk}) for name, disk in disks.items()]
    preferred = [
        {"weight": weight, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": [disk]}]}}
        for weight, disk in ((20, "ssd"), (50, "nvme"))
    ]
    pod = make_pod("p").spec(affinity={"nodeAffinity": {PREFERRED: preferred}})
    assert Cluster(nodes).scores(pod, "NodeAffinity") == {"n1": 0, "n2": 40, "n3": 100}


def test_taints_that_are_only_preferred_cost_points():
    nodes = [make_node("n0"), make_node("n1"), make_node("n3")]
    for key in ("a", "b", "c"):
        nodes[2].taint(key, effect="PreferNoSchedule")
    nodes[1].taint("a", effect="PreferNoSchedule")
    assert Cluster(nodes).scores(make_pod("p"), "TaintToleration") == {"n0": 100, "n1": 67, "n3": 0}


def test_without_such_taints_every_node_gets_all_points():
    assert Cluster([make_node("n1"), make_node("n2")]).scores(make_pod("p"), "TaintToleration") == {"n1": 100, "n2": 100}


def test_image_locality_spreads_the_size_over_the_nodes_that_have_it():
    nodes = [make_node(f"n{i}") for i in range(4)]
    for node in nodes[:2]:
        node.image("example/app:latest", 300 * 1024 * 1024)
    scores = Cluster(nodes).scores(make_pod("p").image("example/app"), "ImageLocality")
    assert scores == {"n0": 12, "n1": 12, "n2": 0, "n3": 0}


def test_the_size_of_an_image_is_what_the_node_said_that_had_it_first():
    mebi = 1024 * 1024
    nodes = [make_node("n1").image("example/app:v1", 500 * mebi), make_node("n2").image("example/app:v1", 900 * mebi)]
    assert Cluster(nodes).scores(make_pod("p"), "ImageLocality") == {"n1": 48, "n2": 48}


def preference(weight, **match):
    return {"weight": weight, "podAffinityTerm": {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": match}}}


def test_pod_affinity_stretches_from_the_lowest_to_the_highest():
    nodes = [make_node("n1"), make_node("n2"), make_node("n3")]
    pods = [make_pod("w").labels(app="web").on("n1"), make_pod("d").labels(app="db").on("n2")]
    pod = make_pod("p").affinity("podAffinity", PREFERRED, preference(30, app="web"))
    pod.affinity("podAntiAffinity", PREFERRED, preference(10, app="db"))
    assert Cluster(nodes, pods).scores(pod, "InterPodAffinity") == {"n1": 100, "n2": 0, "n3": 25}


def test_pod_affinity_keeps_the_rounding_of_the_float_operations():
    nodes = [make_node("n1"), make_node("n2"), make_node("n3")]
    pods = [make_pod("a").labels(app="a").on("n1"), make_pod("b").labels(app="b").on("n2")]
    pod = make_pod("p").affinity("podAffinity", PREFERRED, preference(100, app="a"))
    pod.affinity("podAffinity", PREFERRED, preference(29, app="b"))
    assert Cluster(nodes, pods).scores(pod, "InterPodAffinity") == {"n1": 100, "n2": 28, "n3": 0}


def test_required_affinity_of_others_draws_the_pod_with_the_hard_weight():
    pods = [make_pod("w").labels(app="web").near(HOSTNAME, app="p").on("n1")]
    cluster = Cluster([make_node("n1"), make_node("n2")], pods)
    assert cluster.scores(make_pod("p").labels(app="p"), "InterPodAffinity") == {"n1": 100, "n2": 0}
    args = [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 0}}]
    cluster = Cluster([make_node("n1"), make_node("n2")], pods, config={"profiles": [{"pluginConfig": args}]})
    assert cluster.scores(make_pod("p").labels(app="p"), "InterPodAffinity") == {}


def test_preferences_of_others_may_be_ignored_for_pods_that_have_none():
    pods = [make_pod("w").affinity("podAffinity", PREFERRED, preference(10, app="p")).on("n1")]
    args = [{"name": "InterPodAffinity", "args": {"ignorePreferredTermsOfExistingPods": True}}]
    cluster = Cluster([make_node("n1"), make_node("n2")], pods, config={"profiles": [{"pluginConfig": args}]})
    assert cluster.scores(make_pod("p").labels(app="p"), "InterPodAffinity") == {}
    own = make_pod("q").labels(app="p").affinity("podAffinity", PREFERRED, preference(1, app="nobody"))
    assert cluster.scores(own, "InterPodAffinity") == {"n1": 100, "n2": 0}


def test_soft_spread_scores_by_zone():
    nodes = [make_node(f"n-{zone}").zone(zone) for zone in "abc"]
    pods = [make_pod(f"{zone}{i}").labels(app="web").on(f"n-{zone}") for zone, n in (("a", 3), ("b", 1)) for i in range(n)]
    pod = make_pod("p").labels(app="web").spread(ZONE, hard=False)
    assert Cluster(nodes, pods).scores(pod, "PodTopologySpread") == {"n-a": 0, "n-b": 60, "n-c": 100}


def test_the_default_constraints_spread_the_pods_of_a_service():
    nodes = [make_node(f"n{i}").zone(zone) for i, zone in ((1, "a"), (2, "a"), (3, "b"), (4, "b"))]
    pods = [make_pod(f"on{i}").labels(app="web").on(f"n{i}") for i in (1, 2, 4)]
    service = make("Service", "web", spec={"selector": {"app": "web"}})
    cluster = Cluster(nodes, pods, [service])
    pod = make_pod("p").labels(app="web")
    assert cluster.scores(pod, "PodTopologySpread") == {"n1": 63, "n2": 63, "n3": 100, "n4": 81}
    cluster.cache.discard(service)
    assert cluster.scores(pod, "PodTopologySpread") == {}


def test_the_default_constraints_follow_the_selector_of_the_owner():
    workload = make("ReplicaSet", "web", "apps/v1", spec={"selector": {"matchLabels": {"app": "web"}}})
    cluster = Cluster([make_node("n1"), make_node("n2")], [make_pod("a").labels(app="web").on("n1")], [workload])
    pod = make_pod("p").labels(app="web").controlled_by("ReplicaSet", "web")
    assert cluster.scores(pod, "PodTopologySpread") == {"n1": 66, "n2": 100}


def test_nodes_without_the_key_of_an_explicit_constraint_get_nothing():
    nodes = [make_node("n1").zone("a"), make_node("n2").zone("b"), make_node("bare")]
    pod = make_pod("p").labels(app="web").spread(ZONE, hard=False)
    assert Cluster(nodes).scores(pod, "PodTopologySpread") == {"n1": 100, "n2": 100, "bare": 0}
