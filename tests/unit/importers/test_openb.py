"""The openb trace: read row by row, mapped to Nodes and Pods; its published figures."""

from collections import Counter

import pytest

from simulations.engine.kernel.errors import ScenarioErrors
from simulations.importers.openb import GPU, MODEL_LABEL, node_manifest, pod_manifest, read_nodes, read_pods
from simulations.pipelines.openb import bundled_trace

NODES = b"sn,cpu_milli,memory_mib,gpu,model\n"
PODS = b"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"


@pytest.fixture(scope="module")
def trace():
    return bundled_trace()


def test_the_nodes_are_those_of_the_published_trace(trace):
    nodes, with_cards = trace.nodes, [node for node in trace.nodes if node.cards]
    assert [len(nodes), sum(n.cpu_milli for n in nodes), sum(n.memory_mib for n in nodes)] == [1523, 125_514_000, 612_028_416]
    assert sum(n.cards for n in nodes) == 6212
    assert [len(with_cards), sum(n.cpu_milli for n in with_cards), sum(n.memory_mib for n in with_cards)] == [
        1213,
        107_018_000,
        503_828_480,
    ]


@pytest.mark.parametrize(
    "model, number, cards",
    [
        ("G2", 549, 4392), ("T4", 404, 842), ("P100", 134, 265), ("V100M16", 55, 195), ("G3", 39, 312), ("V100M32", 30, 204),
        ("A10", 2, 2), ("", 310, 0),
    ],
)  # fmt: skip
def test_each_model_has_its_nodes_and_cards(trace, model, number, cards):
    of_model = [node for node in trace.nodes if node.model == model]
    assert (len(of_model), sum(node.cards for node in of_model)) == (number, cards)


def test_the_pods_are_those_of_the_published_trace(trace):
    pods = trace.pods
    assert [len(pods), pods[0].name, pods[-1].name] == [8152, "openb-pod-0000", "openb-pod-8151"]
    assert Counter(pod.qos for pod in pods) == {"LS": 4647, "BE": 3398, "Burstable": 100, "Guaranteed": 7}
    assert Counter(pod.cards for pod in pods) == {0: 1088, 1: 6989, 2: 16, 4: 15, 8: 44}
    assert sum(1 for pod in pods if 0 < pod.card_milli < 1000) == 3078
    assert [sum(p.cpu_milli for p in pods), sum(p.memory_mib for p in pods)] == [85_436_012, 303_546_211]
    assert [sum(p.cards for p in pods), sum(p.gpu_milli for p in pods)] == [7433, 6_086_800]
    assert [max(p.cpu_milli for p in pods), max(p.memory_mib for p in pods)] == [120_200, 737_280]


def test_the_times_are_those_of_the_published_trace(trace):
    pods = trace.pods
    assert (min(p.created for p in pods), max(p.created for p in pods)) == (0, 12_901_761)
    assert (min(p.deleted for p in pods), max(p.deleted for p in pods)) == (9_964_972, 12_902_960)
    assert sum(1 for p in pods if p.scheduled is None) == 897
    assert max(p.scheduled for p in pods if p.scheduled is not None) == 12_901_762
    changes = sorted([(p.created, 1) for p in pods] + [(p.deleted, -1) for p in pods])
    alive, peak = 0, (0, 0)
    for second, step in changes:
        alive += step
        peak = max(peak, (alive, -second))
    assert (peak[0], -peak[1]) == (56, 11_821_598)


def test_first_fit_by_single_cards_places_as_many_as_upstream_counted(trace):
    """The check of docs/openb.md: cards one by one, and then sums per node, which let too many in."""
    nodes = [node for node in trace.nodes if node.cards]
    for single, placed in ((True, 7784), (False, 7911)):
        free = [[n.cpu_milli, n.memory_mib, [1000] * n.cards if single else [n.cards * 1000]] for n in nodes]
        assert sum(1 for pod in trace.pods if _place(pod, free, single=single)) == placed


def _place(pod, free, *, single):
    for room in free:
        cards = room[2]
        if room[0] < pod.cpu_milli or room[1] < pod.memory_mib:
            continue
        if single:
            fitting = [(left, i) for i, left in enumerate(cards) if left >= pod.card_milli]
            if len(fitting) < pod.cards:
                continue
            for _left, i in sorted(fitting)[: pod.cards]:
                cards[i] -= pod.card_milli
        elif cards[0] < pod.gpu_milli:
            continue
        else:
            cards[0] -= pod.gpu_milli
        room[0] -= pod.cpu_milli
        room[1] -= pod.memory_mib
        return True
    return False


def test_a_node_offers_the_sum_of_its_cards_and_says_their_model():
    [plain, gpu] = read_nodes(NODES + b"a,32000,262144,0,\nb,64000,1024,8,G2\n", "n.csv")
    assert node_manifest(gpu)["status"]["allocatable"] == {"cpu": "64000m", "memory": "1024Mi", "pods": "110", GPU: "8000"}
    assert node_manifest(gpu)["metadata"]["labels"][MODEL_LABEL] == "G2"
    assert GPU not in node_manifest(plain)["status"]["allocatable"]


def test_a_pod_asks_for_the_sum_of_its_shares_on_the_models_that_it_names():
    [pod] = read_pods(PODS + b"p,500,16,1,460,G2|T4,LS,Running,0,5,\n", "p.csv")
    manifest = pod_manifest(pod, priorities=True)
    resources = manifest["spec"]["containers"][0]["resources"]
    assert resources["requests"] == resources["limits"] == {"cpu": "500m", "memory": "16Mi", GPU: "460"}
    terms = manifest["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms[0]["matchExpressions"] == [{"key": MODEL_LABEL, "operator": "In", "values": ["G2", "T4"]}]
    assert manifest["spec"]["priorityClassName"] == "openb-high"
    assert (pod.scheduled, "priorityClassName" in pod_manifest(pod, priorities=False)["spec"]) == (None, False)


@pytest.mark.parametrize(
    "read, content, said",
    [
        pytest.param(read_nodes, b"", "E0640", id="nothing"),
        pytest.param(read_nodes, NODES, "E0640", id="a head alone"),
        pytest.param(read_nodes, b"a,b\n1,2\n", "n.csv:1: E0640", id="other columns"),
        pytest.param(read_nodes, NODES + b"a,1,1,0\n", "n.csv:2: E0640", id="a column missing"),
        pytest.param(read_nodes, NODES + b"a,-1,1,0,\n", "n.csv:2: E0641: cpu_milli", id="negative"),
        pytest.param(read_nodes, NODES + b"a,1,1.5,0,\n", "n.csv:2: E0641: memory_mib", id="no whole number"),
        pytest.param(read_nodes, NODES + b"a,1,99999999999999999999,0,\n", "n.csv:2: E0641: memory_mib", id="too large"),
        pytest.param(read_nodes, NODES + b"a,1,1,2,\n", "n.csv:2: E0641: model", id="cards of no model"),
        pytest.param(read_nodes, NODES + b"A b,1,1,0,\n", "n.csv:2: E0203: sn", id="a bad name"),
        pytest.param(read_nodes, NODES + b"a,1,1,0,\na,1,1,0,\n", "E0642", id="a name twice"),
        pytest.param(read_nodes, NODES + b'a,1,1,0,"\n', "E0640", id="an open quote"),
        pytest.param(read_nodes, NODES + b"\xff\xfe", "E0102", id="not UTF-8"),
        pytest.param(read_pods, PODS + b"p,1,1,2,500,,LS,Running,0,5,0\n", "n.csv:2: E0641: gpu_milli", id="shares of two cards"),
        pytest.param(read_pods, PODS + b"p,1,1,0,500,,LS,Running,0,5,0\n", "n.csv:2: E0641: gpu_milli", id="a share of no card"),
        pytest.param(read_pods, PODS + b"p,1,1,1,1001,,LS,Running,0,5,0\n", "n.csv:2: E0641: gpu_milli", id="more than a card"),
        pytest.param(
            read_pods, PODS + b"p,1,1,0,0,,LS,Running,9,5,\n", "n.csv:2: E0641: deletion_time", id="deleted before created"
        ),
        pytest.param(
            read_pods, PODS + b"p,1,1,0,0,,LS,Running,0,5,6\n", "n.csv:2: E0641: deletion_time", id="scheduled after deleted"
        ),
        pytest.param(read_pods, PODS + b"p,1,1,1,10,a b,LS,Running,0,5,0\n", "n.csv:2: E0641: gpu_spec", id="no label value"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_column(read, content, said):
    with pytest.raises(ScenarioErrors) as refused:
        read(content, "n.csv")
    assert said in str(refused.value)


def test_everything_that_is_wrong_is_said_at_once():
    with pytest.raises(ScenarioErrors) as refused:
        read_nodes(NODES + b"a,x,y,0,\nb,1,z,0,\n", "n.csv")
    assert [(error.line, error.path) for error in refused.value.errors] == [(2, "cpu_milli"), (2, "memory_mib"), (3, "memory_mib")]
