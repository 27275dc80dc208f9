"""Usage of nominated Pods, kept up to date, equals what a count over all nominations gives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulations.engine.scheduler.cache.nominated_usage import nominated_usage
from tests.builders import make_node, make_pod
from tests.unit.engine.scheduler.cluster_of import Cluster

PODS = 5
NODES = 3
GPU = "example.com/gpu"
steps = st.lists(
    st.one_of(
        st.tuples(st.just("nominate"), st.integers(0, PODS - 1), st.integers(0, NODES - 1)),
        st.tuples(st.just("forget"), st.integers(0, PODS - 1), st.just(0)),
        st.tuples(st.just("raise"), st.integers(0, PODS - 1), st.sampled_from([0, 10, 20])),
        st.tuples(st.just("node"), st.just(0), st.integers(0, 3)),
    ),
    max_size=12,
)


def pod_of(i, priority):
    made = make_pod(f"p{i}").priority(priority).request(cpu=f"{i + 1}00m")
    return (made.resource(GPU, "1") if i % 2 else made).build()


def counted(cluster, pod):
    """Pods, CPU and GPUs per row, from the nominations themselves."""
    columns = cluster.cache.columns
    found = np.zeros((3, len(columns.valid)), dtype=np.int64)
    for name, info in cluster.cache.infos.items():
        for other in cluster.cache.nominator.pods_on(name):
            if other.uid != pod.uid and other.priority >= pod.priority:
                found[:, info.row] += [1, other.spec.requests["cpu"], other.spec.requests.get(GPU, 0)]
    return found


def answered(cluster, pod):
    usage, columns = nominated_usage(cluster.cache, pod), cluster.cache.columns
    view = usage.added_to(columns)
    more = [view.requested(resource) - columns.requested(resource) for resource in ("cpu", GPU)]
    return np.array([usage.pods, *more])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(steps)
def test_usage_follows_every_change(drawn):
    cluster = Cluster([make_node(f"n{i}").allocatable(cpu="8", pods="10") for i in range(NODES)])
    known = {i: pod_of(i, 10 * (i % 3)) for i in range(PODS)}
    for kind, i, value in drawn:
        if kind == "nominate":
            cluster.cache.nominator.add(known[i], f"n{value}")
        elif kind == "forget":
            cluster.cache.nominator.delete(known[i].uid)
        elif kind == "raise":
            known[i] = pod_of(i, value)
            cluster.cache.nominator.update(known[i])
        else:
            cluster.cache.add_node(make_node(f"new-{value}").allocatable(cpu="8", pods="10").build())
        for pod in known.values():
            assert answered(cluster, pod).tolist() == counted(cluster, pod).tolist()
