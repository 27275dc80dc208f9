"""The volume plugins over columns answer as they do Node by Node, whatever volumes there are and however they change."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulations.engine.scheduler.algorithm import schedule_pod
from simulations.engine.scheduler.framework.diagnosis import Diagnosis, NodeStatuses
from simulations.engine.scheduler.framework.plugin import CycleState
from simulations.engine.scheduler.framework.search import Search
from tests.builders import HOSTNAME, ZONE, make_node, make_pod
from tests.unit.engine.scheduler.cluster_of import Cluster
from tests.volumes import CSI, attached, capacity, claim, csi_driver, csi_node, storage_class, using, volume

many = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
SIZES = ("1Gi", "2Gi", "4Gi")
CLASSES = ("late", "made", "now")
CLAIMS = tuple(f"c{i}" for i in range(5))
PLUGINS = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")
zones = st.sampled_from(["a", "b", "c"])


@st.composite
def volumes(draw, number):
    """Some volumes; each may be bound to the claim of its number, or promised to one."""
    name, cls = f"v{number}", draw(st.sampled_from(CLASSES))
    labels = {ZONE: draw(st.sampled_from(["a", "b", "a__b"]))} if draw(st.booleans()) and draw(st.booleans()) else {}
    fields = {"csi": {"driver": CSI, "volumeHandle": name}} if draw(st.booleans()) else {"hostPath": {"path": "/d"}}
    phase = draw(st.sampled_from(["Available", "Available", "Available", "Pending", "Bound"]))
    if draw(st.sampled_from([True, False, False])):
        fields["claimRef"] = {"namespace": "default", "name": draw(st.sampled_from(CLAIMS))}
    if draw(st.booleans()):
        node = {"key": HOSTNAME, "operator": draw(st.sampled_from(["In", "NotIn"])), "values": [f"node-{draw(st.integers(0, 4))}"]}
        fields["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [node]}]}}
        return volume(name, draw(st.sampled_from(SIZES)), cls, "", phase, labels, **fields)
    return volume(name, draw(st.sampled_from(SIZES)), cls, draw(st.sampled_from(["", "a", "b"])), phase, labels, **fields)


@st.composite
def claims(draw, name):
    bound = f"v{draw(st.integers(0, 4))}" if draw(st.integers(0, 4)) == 0 else ""
    modes = draw(st.sampled_from([("ReadWriteOnce",), ("ReadWriteOnce",), ("ReadWriteOncePod",)]))
    marks = {"volume.kubernetes.io/selected-node": f"node-{draw(st.integers(0, 4))}"} if draw(st.integers(0, 9)) == 0 else {}
    cls = draw(st.sampled_from(("late", "made", "made", "now") if bound else ("late", "made")))
    return claim(name, draw(st.sampled_from(SIZES)), cls, bound, modes, marks)


@st.composite
def surroundings(draw):
    """Classes, volumes, claims, and what drivers say."""
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": draw(st.lists(zones, min_size=1, max_size=2))}]}]
    found = [storage_class(), storage_class("now", "Immediate")]
    found.append(storage_class("made", provisioner=CSI, **({"allowedTopologies": allowed} if draw(st.booleans()) else {})))
    found += [draw(volumes(i)) for i in range(draw(st.integers(4, 7)))]
    found += [draw(claims(name)) for name in CLAIMS]
    if draw(st.booleans()):
        found.append(csi_driver())
        found += [capacity(f"r{i}", draw(zones), "made", capacity=draw(st.sampled_from(SIZES))) for i in range(2)]
    found += [csi_node(f"node-{i}", draw(st.integers(0, 2))) for i in range(5) if draw(st.booleans())]
    found += [attached(f"t{i}", f"node-{draw(st.integers(0, 4))}", f"v{i}") for i in range(3) if draw(st.booleans())]
    return found


@st.composite
def clusters(draw):
    """Nodes, Pods on them, what is around, and a Pod to schedule."""
    nodes = []
    for i in range(draw(st.integers(2, 5))):
        node = make_node(f"node-{i}")
        nodes.append(node.zone(draw(zones)) if draw(st.booleans()) else node)
    chosen = st.lists(st.sampled_from(CLAIMS), min_size=1, max_size=4, unique=True)
    placed = [using(f"run-{i}", *draw(chosen)).on(f"node-{draw(st.integers(0, 4))}") for i in range(draw(st.integers(0, 4)))]
    disk = {"gcePersistentDisk": {"pdName": draw(st.sampled_from(["d", "e"]))}}
    if draw(st.booleans()):
        placed.append(make_pod("disk").spec(volumes=[{"name": "d", "gcePersistentDisk": {"pdName": "d"}}]).on("node-0"))
    new = using("new", *draw(chosen))
    if draw(st.booleans()):
        new.spec(volumes=[*new.manifest()["spec"]["volumes"], {"name": "disk", **disk}])
    return nodes, placed, draw(surroundings()), new


def prepared(cluster, pod):
    state = CycleState()
    diagnosis = Diagnosis(NodeStatuses.empty(len(cluster.cache.columns.valid)), len(cluster.cache.infos))
    return state, diagnosis, cluster.framework.run_pre_filter(state, pod, diagnosis).status


def assert_alike(cluster, pod):
    state, _, ended = prepared(cluster, pod)
    for plugin in cluster.framework.active_filters(state) if ended is None else ():
        if plugin.NAME not in PLUGINS:
            continue
        column = plugin.filter_columns(state, pod, cluster.cache.columns)
        for info in cluster.cache.infos.values():
            code = 0 if column is None else int(column.codes[info.row])
            by_column = column.statuses[code - 1] if code else None
            assert by_column == plugin.filter(state, pod, info), f"{plugin.NAME} on {info.name}"
        if plugin.NAME == "VolumeBinding":
            assert_same_decision(state.data["VolumeBinding"], cluster)


def assert_same_decision(found, cluster):
    for name, volumes in found.by_node.items():
        ours = found.offers.on(cluster.cache.infos[name].row)
        assert [(v.name, c.name) for v, c in ours.bindings] == [(v.name, c.name) for v, c in volumes.bindings]
        assert [c.name for c in ours.provisions] == [c.name for c in volumes.provisions]


@many
@given(clusters())
def test_columns_answer_as_the_plugins_do_for_each_node(drawn):
    nodes, placed, others, new = drawn
    assert_alike(Cluster(nodes, placed, others), new.build())


@many
@given(clusters())
def test_a_cycle_equals_a_walk_over_the_nodes(drawn):
    nodes, placed, others, new = drawn
    cluster, pod = Cluster(nodes, placed, others), new.build()
    result = schedule_pod(cluster.framework, pod, 0)
    state, diagnosis, ended = prepared(cluster, pod)
    if ended is not None:
        assert result.diagnosis.pre_filter_message == ended.message
        return
    search = Search(cluster.framework, pod, state, diagnosis)
    statuses = {info.row: search.filter_with_nominated(info) for info in cluster.cache.infos.values()}
    assert {row: result.diagnosis.statuses.get(row) for row in statuses} == statuses


@many
@given(clusters(), surroundings())
def test_what_is_remembered_follows_volumes_that_come_change_and_go(drawn, later):
    nodes, placed, others, new = drawn
    cluster, pod = Cluster(nodes, placed, others), new.build()
    schedule_pod(cluster.framework, pod, 0)
    for item in others:
        cluster.cache.discard(item)
    for item in later:
        cluster.cache.store(item)
    assert_alike(cluster, pod)
    ours = schedule_pod(cluster.framework, pod, 0)
    fresh = schedule_pod(Cluster(nodes, placed, later).framework, pod, 0)
    assert (ours.node, ours.diagnosis.message()) == (fresh.node, fresh.diagnosis.message())


@many
@given(clusters())
def test_reserving_and_giving_back_leaves_no_trace(drawn):
    nodes, placed, others, new = drawn
    cluster, pod = Cluster(nodes, placed, others), new.build()
    result = schedule_pod(cluster.framework, pod, 0)
    if result.node and cluster.framework.run_reserve(result.state, pod, result.node) is None:
        cluster.framework.run_unreserve(result.state, pod, result.node)
    again = schedule_pod(cluster.framework, pod, 0)
    assert (again.node, again.diagnosis.message()) == (result.node, result.diagnosis.message())
