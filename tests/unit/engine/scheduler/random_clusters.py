"""Hypothesis strategies for small clusters in which every default plugin has something to decide."""

from hypothesis import strategies as st

from tests.builders import HOSTNAME, PREFERRED, REQUIRED, ZONE, NodeBuilder, PodBuilder, make_node, make_pod

APPS = ("web", "db", "cache")
KEYS = (HOSTNAME, ZONE, "disk")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
GPU = "example.com/gpu"
IMAGES = {"example/app:v1": 3 * 10**8, "example/big:v1": 2 * 10**9}
"""One size each: of several sizes the first one seen would count, and so the history of the cluster."""

maybe = st.sampled_from([True, False, False])


@st.composite
def nodes(draw, name):
    node = make_node(name).allocatable(
        cpu=draw(st.sampled_from(["1", "2", "4"])),
        memory=draw(st.sampled_from(["1Gi", "3Gi", "8Gi"])),
        pods=draw(st.sampled_from(["2", "4", "110"])),
    )
    if draw(st.booleans()):
        node.zone(draw(st.sampled_from(["a", "b"])))
    if draw(st.booleans()):
        node.labels({"disk": draw(st.sampled_from(["ssd", "5", "12"]))})
    if draw(maybe):
        node.taint("dedicated", draw(st.sampled_from(["", "db"])), draw(st.sampled_from(EFFECTS)))
    if draw(maybe):
        node.cordoned()
    if draw(maybe):
        node.resource(GPU, draw(st.sampled_from(["0", "1", "4"])))
    for image, size in IMAGES.items():
        if draw(st.booleans()):
            node.image(image, size)
    return node


selectors = st.one_of(
    st.sampled_from(APPS).map(lambda app: {"matchLabels": {"app": app}}),
    st.sampled_from([{}, {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}]),
)


@st.composite
def pod_terms(draw):
    term = {"topologyKey": draw(st.sampled_from(KEYS)), "labelSelector": draw(selectors)}
    scope = draw(st.sampled_from(["own", "list", "all"]))
    if scope == "list":
        term["namespaces"] = ["default", "other"]
    if scope == "all":
        term["namespaceSelector"] = {}
    return term


node_terms = st.sampled_from(
    [
        {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd", "5"]}]},
        {"matchExpressions": [{"key": "disk", "operator": "Gt", "values": ["6"]}]},
        {"matchExpressions": [{"key": ZONE, "operator": "DoesNotExist"}]},
        {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["node-0"]}]},
        {},
    ]
)


def _add_affinities(draw, pod: PodBuilder) -> None:
    for kind in ("podAffinity", "podAntiAffinity"):
        if draw(maybe):
            pod.affinity(kind, REQUIRED, draw(pod_terms()))
        if draw(maybe):
            pod.affinity(kind, PREFERRED, {"weight": draw(st.integers(1, 100)), "podAffinityTerm": draw(pod_terms())})
    node_affinity = {}
    if draw(maybe):
        node_affinity[REQUIRED] = {"nodeSelectorTerms": draw(st.lists(node_terms, min_size=1, max_size=2))}
    if draw(maybe):
        node_affinity[PREFERRED] = [{"weight": draw(st.integers(1, 100)), "preference": draw(node_terms)}]
    if node_affinity:
        pod.spec(affinity={**pod.manifest()["spec"].get("affinity", {}), "nodeAffinity": node_affinity})


@st.composite
def pods(draw, name):
    pod = make_pod(name).labels(app=draw(st.sampled_from(APPS))).priority(draw(st.sampled_from([0, 10, 100])))
    pod.namespace(draw(st.sampled_from(["default", "default", "other"])))
    if draw(st.booleans()):
        pod.request(cpu=draw(st.sampled_from(["0", "300m", "1", "3"])))
    if draw(st.booleans()):
        pod.request(memory=draw(st.sampled_from(["100Mi", "1Gi", "5Gi"])))
    if draw(maybe):
        pod.resource(GPU, "1")
    if draw(maybe):
        pod.host_port(draw(st.sampled_from([80, 443])), ip=draw(st.sampled_from(["", "10.0.0.1", "10.0.0.2"])))
    pod.image(draw(st.sampled_from(list(IMAGES))))
    if draw(maybe):
        pod.tolerate("dedicated", effect=draw(st.sampled_from(["", *EFFECTS])))
    for key, hard in draw(st.lists(st.tuples(st.sampled_from(KEYS), st.booleans()), max_size=2, unique=True)):
        policies = {"nodeTaintsPolicy": "Honor"} if draw(st.booleans()) else {"nodeAffinityPolicy": "Ignore"}
        pod.spread(
            key,
            draw(st.integers(1, 2)),
            hard,
            {"app": draw(st.sampled_from(APPS))},
            **policies,
        )
    _add_affinities(draw, pod)
    return pod


@st.composite
def clusters(draw) -> tuple[list[NodeBuilder], list[PodBuilder], PodBuilder, list[PodBuilder]]:
    """Nodes, Pods on them, a Pod to schedule, and Pods that are nominated."""
    number = draw(st.integers(2, 7))
    made = [draw(nodes(f"node-{i}")) for i in range(number)]
    places = st.integers(0, number - 1)
    placed = []
    for i in range(draw(st.integers(0, 8))):
        pod = draw(pods(f"run-{i}")).on(f"node-{draw(places)}").started(draw(st.integers(0, 5)))
        placed.append(pod.terminating() if draw(maybe) else pod)
    nominated = [draw(pods(f"nominated-{i}")).nominated(f"node-{draw(places)}") for i in range(draw(st.integers(0, 2)))]
    return made, placed, draw(pods("new")), nominated
