"""Which events wake a Pod that a plugin rejected."""

import pytest

from simulations.engine.scheduler.framework.events import Action, ClusterEvent, Resource
from tests.builders import HOSTNAME, ZONE, make_node, make_pod
from tests.unit.engine.scheduler.cluster_of import Cluster


def wakes(plugin, action, pod, old, new, resource=None):
    """Whether any registration of the plugin queues the Pod."""
    framework = Cluster([]).framework
    kind = resource or (Resource.NODE if "NODE" in (action.name or "") else Resource.POD)
    happened = ClusterEvent(kind, action)
    hints = [r.hint for r in framework.registrations()[plugin] if r.event.matches(happened)]
    before, after = (x.build() if x is not None else None for x in (old, new))
    return any(hint is None or hint(pod.build(), before, after) for hint in hints)


NODE, POD = Resource.NODE, Resource.POD
ADD, DELETE = Action.ADD, Action.DELETE
TAINT, LABEL, ROOM = Action.UPDATE_NODE_TAINT, Action.UPDATE_NODE_LABEL, Action.UPDATE_NODE_ALLOCATABLE


@pytest.mark.parametrize(
    "plugin, action, pod, old, new, woken",
    [
        ("NodeUnschedulable", TAINT, make_pod("p"), make_node("n").cordoned(), make_node("n"), True),
        ("NodeUnschedulable", TAINT, make_pod("p"), make_node("n"), make_node("n").taint("k"), False),
        ("TaintToleration", TAINT, make_pod("p"), make_node("n").taint("k"), make_node("n"), True),
        ("TaintToleration", TAINT, make_pod("p"), make_node("n").taint("k"), make_node("n").taint("other"), False),
        ("TaintToleration", TAINT, make_pod("p"), make_node("n"), make_node("n"), False),
        (
            "NodeAffinity",
            LABEL,
            make_pod("p").node_selector(disk="ssd"),
            make_node("n"),
            make_node("n").labels({"disk": "ssd"}),
            True,
        ),
        (
            "NodeAffinity",
            LABEL,
            make_pod("p").node_selector(disk="ssd"),
            make_node("n"),
            make_node("n").labels({"disk": "hdd"}),
            False,
        ),
        ("NodeResourcesFit", ROOM, make_pod("p").request(cpu="2"), make_node("n").allocatable(cpu="1"), make_node("n"), True),
        ("NodeResourcesFit", ROOM, make_pod("p").request(cpu="9"), make_node("n").allocatable(cpu="1"), make_node("n"), False),
        ("NodeResourcesFit", ROOM, make_pod("p").request(cpu="2"), make_node("n"), make_node("n").allocatable(memory="9Gi"), False),
        ("PodTopologySpread", LABEL, make_pod("p").labels(a="b").spread(ZONE), make_node("n"), make_node("n").zone("a"), True),
        (
            "PodTopologySpread",
            LABEL,
            make_pod("p").labels(a="b").spread(ZONE),
            make_node("n"),
            make_node("n").labels({"x": "y"}),
            False,
        ),
        ("InterPodAffinity", LABEL, make_pod("p").near(ZONE, app="w"), make_node("n"), make_node("n").zone("a"), True),
        ("InterPodAffinity", LABEL, make_pod("p").near(ZONE, app="w"), make_node("n").zone("a"), make_node("n"), False),
        ("InterPodAffinity", LABEL, make_pod("p").apart(ZONE, app="w"), make_node("n").zone("a"), make_node("n"), True),
        ("InterPodAffinity", LABEL, make_pod("p").apart(ZONE, app="w"), make_node("n"), make_node("n").zone("a"), False),
    ],
)
def test_a_changed_node_wakes_a_pod_that_it_may_suit_now(plugin, action, pod, old, new, woken):
    assert wakes(plugin, action, pod, old, new) is woken


@pytest.mark.parametrize(
    "plugin, pod, node, woken",
    [
        ("NodeUnschedulable", make_pod("p"), make_node("n").cordoned(), False),
        ("NodeName", make_pod("p"), make_node("n"), True),
        ("NodePorts", make_pod("p"), make_node("n"), True),
        ("NodeResourcesFit", make_pod("p").request(cpu="9"), make_node("n"), False),
        ("InterPodAffinity", make_pod("p"), make_node("n"), False),
        ("InterPodAffinity", make_pod("p").apart(ZONE, app="w"), make_node("n"), True),
    ],
)
def test_an_added_node_wakes_a_pod_that_it_may_suit(plugin, pod, node, woken):
    assert wakes(plugin, ADD, pod, None, node, NODE) is woken


@pytest.mark.parametrize(
    "plugin, pod, gone, woken",
    [
        ("NodeResourcesFit", make_pod("p"), make_pod("x").on("n"), True),
        ("NodeResourcesFit", make_pod("p"), make_pod("x"), False),
        ("NodeResourcesFit", make_pod("p"), make_pod("x").nominated("n"), True),
        ("NodePorts", make_pod("p").host_port(80), make_pod("x").host_port(80).on("n"), True),
        ("NodePorts", make_pod("p").host_port(80), make_pod("x").host_port(81).on("n"), False),
        ("PodTopologySpread", make_pod("p").labels(a="b").spread(ZONE), make_pod("x").labels(a="b").on("n"), True),
        ("PodTopologySpread", make_pod("p").labels(a="b").spread(ZONE), make_pod("x").labels(a="c").on("n"), False),
        ("PodTopologySpread", make_pod("p").labels(a="b").spread(ZONE), make_pod("x").labels(a="b").namespace("o").on("n"), False),
        ("InterPodAffinity", make_pod("p").apart(HOSTNAME, a="b"), make_pod("x").labels(a="b").on("n"), True),
        ("InterPodAffinity", make_pod("p").apart(HOSTNAME, a="b").apart(ZONE, a="c"), make_pod("x").labels(a="b").on("n"), False),
        ("InterPodAffinity", make_pod("p").labels(a="b"), make_pod("x").apart(HOSTNAME, a="b").on("n"), True),
        ("DefaultPreemption", make_pod("p"), make_pod("x").on("n"), False),
    ],
)
def test_a_deleted_pod_wakes_one_that_it_may_have_kept_away(plugin, pod, gone, woken):
    assert wakes(plugin, DELETE, pod, gone, None, POD) is woken


def test_an_added_pod_wakes_those_that_want_to_be_near_it():
    pod = make_pod("p").near(HOSTNAME, a="b")
    assert wakes("InterPodAffinity", ADD, pod, None, make_pod("x").labels(a="b").on("n"), POD)
    assert not wakes("InterPodAffinity", ADD, pod, None, make_pod("x").labels(a="c").on("n"), POD)


def test_gates_wake_only_the_pod_that_lost_its_last_one():
    action = Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    assert wakes("SchedulingGates", action, make_pod("p"), make_pod("p"), make_pod("p"))
    assert not wakes("SchedulingGates", action, make_pod("p"), make_pod("x"), make_pod("x"))


@pytest.mark.parametrize("plugin", ["NodeName", "NodeAffinity", "NodePorts", "NodeResourcesFit", "InterPodAffinity"])
def test_plugins_that_hear_of_new_nodes_but_not_of_taints_are_woken_by_every_taint_change(plugin):
    assert wakes(plugin, TAINT, make_pod("p").request(cpu="99"), make_node("n"), make_node("n").taint("k"))


def test_a_gated_pod_says_what_it_waits_for():
    framework = Cluster([]).framework
    status = framework.run_pre_enqueue(make_pod("p").spec(schedulingGates=[{"name": "a"}, {"name": "b"}]).build())
    assert status is not None
    assert (status.plugin, status.message) == ("SchedulingGates", "waiting for scheduling gates: [a b]")
    assert framework.run_pre_enqueue(make_pod("p").build()) is None


def test_a_preemptor_is_gated_while_its_preemption_is_under_way():
    cluster = Cluster([])
    cluster.framework.handle.preempting = lambda pod: pod.name == "p"
    status = cluster.framework.run_pre_enqueue(make_pod("p").build())
    assert status is not None
    assert status.message == "waiting for the preemption for this pod to be finished"
    assert cluster.framework.run_pre_enqueue(make_pod("q").build()) is None
