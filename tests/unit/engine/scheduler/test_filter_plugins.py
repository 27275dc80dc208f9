"""What each Filter plugin rejects, with the real scheduler's reasons."""

import pytest

from simulations.engine.api.decode import decode_object
from simulations.engine.scheduler.framework.status import Code
from tests.builders import EPOCH, HOSTNAME, ZONE, make, make_node, make_pod
from tests.unit.engine.scheduler.cluster_of import Cluster

LABEL = "node(s) didn't match pod topology spread constraints"


def reasons(nodes, pod, pods=(), **more):
    return Cluster(nodes, pods, **more).verdicts(pod)


@pytest.mark.parametrize(
    "node, pod, expected",
    [
        pytest.param(make_node("n").cordoned(), make_pod("p"), "NodeUnschedulable: node(s) were unschedulable", id="cordoned"),
        pytest.param(
            make_node("n").cordoned(),
            make_pod("p").tolerate("node.kubernetes.io/unschedulable", effect="NoSchedule"),
            None,
            id="cordoned and tolerated",
        ),
        pytest.param(
            make_node("n"),
            make_pod("p").on("other"),
            "NodeName: node(s) didn't match the requested node name",
            id="other node named",
        ),
        pytest.param(
            make_node("n").taint("k", "v"), make_pod("p"), "TaintToleration: node(s) had untolerated taint(s)", id="taint"
        ),
        pytest.param(
            make_node("n").taint("k", "v"), make_pod("p").tolerate("k", "Equal", "v", "NoSchedule"), None, id="taint tolerated"
        ),
        pytest.param(
            make_node("n").taint("k", "v"),
            make_pod("p").tolerate("k", "Equal", "other"),
            "TaintToleration: node(s) had untolerated taint(s)",
            id="another value tolerated",
        ),
        pytest.param(
            make_node("n").taint("k", "5"),
            make_pod("p").tolerate("k", "Gt", "3"),
            "TaintToleration: node(s) had untolerated taint(s)",
            id="Gt is off",
        ),
        pytest.param(make_node("n").taint("k", effect="PreferNoSchedule"), make_pod("p"), None, id="PreferNoSchedule only scores"),
        pytest.param(
            make_node("n").cordoned().taint("k"),
            make_pod("p").request(cpu="99"),
            "NodeUnschedulable: node(s) were unschedulable",
            id="first plugin wins",
        ),
        pytest.param(
            make_node("n"),
            make_pod("p").node_selector(disk="ssd"),
            "NodeAffinity: node(s) didn't match Pod's node affinity/selector",
            id="selector",
        ),
        pytest.param(make_node("n"), make_pod("p").request(cpu="5"), "NodeResourcesFit: Insufficient cpu", id="too much cpu"),
        pytest.param(
            make_node("n"),
            make_pod("p").request(cpu="5", memory="9Gi").resource("example.com/gpu", "1"),
            "NodeResourcesFit: Insufficient cpu, Insufficient memory, Insufficient example.com/gpu",
            id="everything too much",
        ),
        pytest.param(
            make_node("n").allocatable(pods="0"), make_pod("p"), "NodeResourcesFit: Too many pods", id="no room for a pod"
        ),
    ],
)
def test_a_node_is_rejected_for_its_own_sake(node, pod, expected):
    assert reasons([node], pod) == ({"n": expected} if expected else {})


def test_only_requested_resources_are_compared():
    overcommitted = Cluster([make_node("n")], [make_pod("a").request(cpu="3").on("n"), make_pod("b").request(cpu="3").on("n")])
    assert overcommitted.verdicts(make_pod("p").request(memory="1Gi")) == {}
    assert overcommitted.verdicts(make_pod("p")) == {}


def test_what_a_node_can_never_offer_is_unresolvable():
    cluster = Cluster([make_node("n")], [make_pod("a").request(cpu="3").on("n")])
    for cpu, code in (("2", Code.UNSCHEDULABLE), ("5", Code.UNSCHEDULABLE_AND_UNRESOLVABLE)):
        status = cluster.schedule(make_pod("p").request(cpu=cpu)).diagnosis.statuses.get(0)
        assert status is not None
        assert status.code is code


def test_ignored_resources_do_not_count():
    config = {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResourceGroups": ["example.com"]}}]}]}
    pod = make_pod("p").resource("example.com/gpu", "1")
    assert reasons([make_node("n")], pod) != {}
    assert reasons([make_node("n")], pod, config=config) == {}


@pytest.mark.parametrize(
    "used, wanted, free",
    [
        ((80,), (80,), False),
        ((80,), (81,), True),
        ((80, "UDP"), (80,), True),
        ((80, "TCP", "10.0.0.1"), (80, "TCP", "10.0.0.2"), True),
        ((80, "TCP", "10.0.0.1"), (80,), False),
        ((80, "TCP", "::"), (80, "TCP", "10.0.0.1"), True),
    ],
)
def test_host_ports_conflict_by_protocol_port_and_address(used, wanted, free):
    found = reasons([make_node("n")], make_pod("p").host_port(*wanted), [make_pod("a").host_port(*used).on("n")])
    assert found == ({} if free else {"n": "NodePorts: node(s) didn't have free ports for the requested pod ports"})


def test_pinned_pods_look_at_their_node_only():
    field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}
    pod = (
        make_pod("p")
        .request(cpu="5")
        .spec(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [field]}}})
    )
    result = Cluster([make_node(f"n{i}") for i in range(1, 6)]).schedule(pod)
    assert result.diagnosis.message() == (
        "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )
    assert result.diagnosis.rejecting == ["NodeAffinity", "NodeResourcesFit"]
    assert result.evaluated == 1


def test_terms_that_name_no_common_node_conflict():
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("n1", "n2")]
    term = {"matchFields": fields}
    pod = make_pod("p").spec(
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    )
    result = Cluster([make_node("n1"), make_node("n2")]).schedule(pod)
    assert result.diagnosis.message() == "0/2 nodes are available: pod affinity terms conflict."


def zoned(counts):
    nodes = [make_node(f"n-{zone}").zone(zone) for zone in counts]
    pods = [make_pod(f"{zone}{i}").labels(app="web").on(f"n-{zone}") for zone, number in counts.items() for i in range(number)]
    return nodes, pods


def test_spread_allows_only_domains_within_the_skew():
    nodes, pods = zoned({"a": 2, "b": 0, "c": 1})
    assert reasons(nodes, make_pod("p").labels(app="web").spread(ZONE), pods) == {
        "n-a": f"PodTopologySpread: {LABEL}",
        "n-c": f"PodTopologySpread: {LABEL}",
    }


def test_spread_rejects_nodes_without_the_key_for_good():
    nodes, pods = zoned({"a": 0})
    found = reasons([*nodes, make_node("bare")], make_pod("p").labels(app="web").spread(ZONE), pods)
    assert found == {"bare": f"PodTopologySpread: {LABEL} (missing required label)"}


def test_spread_with_too_few_domains_takes_the_minimum_as_zero():
    nodes, pods = zoned({"a": 1, "b": 1})
    pod = make_pod("p").labels(app="web")
    assert reasons(nodes, pod.spread(ZONE, minDomains=2), pods) == {}
    assert set(reasons(nodes, make_pod("q").labels(app="web").spread(ZONE, minDomains=3), pods)) == {"n-a", "n-b"}


def test_spread_does_not_count_terminating_pods_and_pods_of_other_namespaces():
    nodes, _ = zoned({"a": 0, "b": 0})
    pods = [make_pod("t").labels(app="web").on("n-a").terminating(), make_pod("o").labels(app="web").namespace("other").on("n-a")]
    assert reasons(nodes, make_pod("p").labels(app="web").spread(ZONE), pods) == {}


def test_an_empty_spread_selector_counts_no_pod_but_the_pod_itself():
    nodes, pods = zoned({"a": 3, "b": 0})
    assert reasons(nodes, make_pod("p").labels(app="web").spread(ZONE, match={}), pods) == {}


def test_affinity_wants_a_pod_that_matches_all_terms():
    nodes = [make_node("n1").zone("a"), make_node("n2").zone("b")]
    pods = [make_pod("w").labels(app="web", tier="front").on("n1"), make_pod("x").labels(app="web").on("n2")]
    pod = make_pod("p").near(ZONE, app="web").near(ZONE, tier="front")
    assert reasons(nodes, pod, pods) == {"n2": "InterPodAffinity: node(s) didn't match pod affinity rules"}


def test_the_first_pod_of_a_group_may_go_anywhere_that_has_the_key():
    nodes = [make_node("n1").zone("a"), make_node("n2")]
    pod = make_pod("p").labels(app="web").near(ZONE, app="web")
    assert reasons(nodes, pod) == {"n2": "InterPodAffinity: node(s) didn't match pod affinity rules"}
    assert set(reasons(nodes, make_pod("q").near(ZONE, app="web"))) == {"n1", "n2"}


def test_anti_affinity_works_both_ways_and_counts_terminating_pods():
    nodes = [make_node("n1"), make_node("n2"), make_node("n3")]
    pods = [make_pod("w").labels(app="web").on("n1").terminating(), make_pod("shy").apart(HOSTNAME, app="db").on("n2")]
    assert reasons(nodes, make_pod("p").labels(app="db").apart(HOSTNAME, app="web"), pods) == {
        "n1": "InterPodAffinity: node(s) didn't match pod anti-affinity rules",
        "n2": "InterPodAffinity: node(s) didn't satisfy existing pods anti-affinity rules",
    }


def test_namespaces_of_a_term_follow_the_labels_of_namespaces():
    term = {"topologyKey": HOSTNAME, "labelSelector": {}, "namespaceSelector": {"matchLabels": {"team": "red"}}}
    pod = make_pod("p").affinity("podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", term)
    cluster = Cluster([make_node("n1")], [make_pod("w").namespace("shop").on("n1")])
    assert cluster.verdicts(pod) == {}
    namespace = make("Namespace", "shop")
    cluster.cache.store(namespace)
    assert cluster.verdicts(pod) == {}
    document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "red"}}}
    cluster.cache.store(decode_object(document, epoch=EPOCH))
    assert set(cluster.verdicts(pod)) == {"n1"}


def test_added_affinity_is_checked_first_and_named():
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    added = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    config = {"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": added}}]}]}
    nodes = [make_node("n1").labels({"disk": "ssd"}), make_node("n2")]
    assert reasons(nodes, make_pod("p"), config=config) == {
        "n2": "NodeAffinity: node(s) didn't match scheduler-enforced node affinity"
    }
