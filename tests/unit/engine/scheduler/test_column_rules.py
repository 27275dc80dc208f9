"""Every rule over columns answers as its rule for one Node does; and the search as a plain walk over the Nodes would."""

import random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulations.engine.scheduler.algorithm import schedule_pod
from simulations.engine.scheduler.framework.diagnosis import Diagnosis, NodeStatuses
from simulations.engine.scheduler.framework.plugin import CycleState, takes_part
from simulations.engine.scheduler.framework.search import Search
from simulations.engine.scheduler.preemption.evaluator import evaluate
from tests.builders import make
from tests.unit.engine.scheduler.cluster_of import Cluster
from tests.unit.engine.scheduler.random_clusters import clusters

many = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def built(drawn):
    made, placed, new, nominated = drawn
    others = [
        make("Namespace", "default"),
        make("Namespace", "other"),
        make("Service", "web", spec={"selector": {"app": "web"}}),
        make(
            "PodDisruptionBudget",
            "db",
            "policy/v1",
            spec={"selector": {"matchLabels": {"app": "db"}}},
            status={"disruptionsAllowed": 1},
        ),
    ]
    cluster = Cluster(made, placed, others)
    for builder in nominated:
        pod = builder.build()
        cluster.cache.nominator.add(pod, pod.nominated_node_name)
    return cluster, new.build()


def prepared(cluster, pod):
    state = CycleState()
    diagnosis = Diagnosis(NodeStatuses.empty(len(cluster.cache.columns.valid)), len(cluster.cache.infos))
    ended = cluster.framework.run_pre_filter(state, pod, diagnosis).status
    return state, diagnosis, ended


@many
@given(clusters())
def test_filter_over_columns_equals_filter_of_each_node(drawn):
    cluster, pod = built(drawn)
    state, _, ended = prepared(cluster, pod)
    for plugin in cluster.framework.active_filters(state) if ended is None else ():
        column = plugin.filter_columns(state, pod, cluster.cache.columns)
        for info in cluster.cache.infos.values():
            code = 0 if column is None else int(column.codes[info.row])
            by_column = column.statuses[code - 1] if code else None
            assert by_column == plugin.filter(state, pod, info), f"{plugin.NAME} on {info.name}"


@many
@given(clusters())
def test_score_over_columns_equals_score_of_each_node(drawn):
    cluster, pod = built(drawn)
    state, _, _ = prepared(cluster, pod)
    infos = list(cluster.cache.infos.values())
    rows = np.array([info.row for info in infos], dtype=np.int64)
    for plugin in cluster.framework.plugins:
        if not takes_part(plugin, "score_columns") or plugin.pre_score(state, pod, rows) is not None:
            continue
        scores = plugin.score_columns(state, pod, cluster.cache.columns, rows)
        assert scores.tolist() == [plugin.score(state, pod, info) for info in infos], plugin.NAME


@many
@given(clusters(), st.integers(0, 20))
def test_a_cycle_equals_a_walk_over_the_nodes(drawn, start):
    cluster, pod = built(drawn)
    result = schedule_pod(cluster.framework, pod, start)
    state, diagnosis, ended = prepared(cluster, pod)
    if ended is not None:
        assert not result.node
        assert result.diagnosis.pre_filter_message == ended.message
        return
    search = Search(cluster.framework, pod, state, diagnosis)
    statuses = {info.row: search.filter_with_nominated(info) for info in cluster.cache.infos.values()}
    assert {row: result.diagnosis.statuses.get(row) for row in statuses} == statuses
    assert set(result.feasible.tolist()) == {row for row, status in statuses.items() if status is None}


def same_decision(ours, theirs):
    assert ours.node == theirs.node
    assert ours.diagnosis.message() == theirs.diagnosis.message()
    assert ours.diagnosis.rejecting == theirs.diagnosis.rejecting
    assert (ours.scores is None) == (theirs.scores is None)
    if ours.scores is not None and theirs.scores is not None:
        assert ours.scores.total.tolist() == theirs.scores.total.tolist()


def totals(cluster, result):
    """The scores by Node name, or the only Node that fits."""
    if result.scores is None:
        return result.node
    names = [cluster.cache.columns.names[row] for row in result.scores.rows]
    return dict(zip(names, result.scores.total.tolist(), strict=True))


def preemption(cluster, pod, result):
    """What PostFilter makes of it, in comparable form."""
    if result.node:
        return None
    outcome = evaluate(cluster.framework, pod, result, 100, random.Random(1))
    return outcome.message, outcome.rule, [(c.node, sorted(v.name for v in c.victims), c.violations) for c in outcome.candidates]


def changed(cluster, builder, rng, nodes):
    """Let a Pod stay, go, change or move; None if it went."""
    fate = rng.choice(["stays", "goes", "changes", "moves"])
    if fate == "goes":
        cluster.cache.remove_pod(builder.build().uid)
        return None
    if fate == "changes":
        cluster.cache.update_pod(builder.terminating().build())
    elif fate == "moves":
        cluster.cache.update_pod(builder.on(f"node-{rng.randrange(nodes)}").build())
    return builder


@many
@given(clusters(), st.randoms(use_true_random=False))
def test_what_is_remembered_follows_pods_that_come_change_and_go(drawn, rng: random.Random):
    made, placed, new, nominated = drawn
    cluster, pod = built(drawn)
    kept = placed
    for _ in range(3):
        preemption(cluster, pod, schedule_pod(cluster.framework, pod, 0))  # asks, and remembers
        kept = [b for b in kept if changed(cluster, b, rng, len(made)) is not None]
    fresh, _ = built((made, kept, new, nominated))
    ours, theirs = (schedule_pod(c.framework, pod, 0) for c in (cluster, fresh))
    same_decision(ours, theirs)
    assert preemption(cluster, pod, ours) == preemption(fresh, pod, theirs)


def _change(builder, fate):
    if fate == "cordoned":
        builder.cordoned()
    elif fate == "tainted":
        builder.taint("new")
    else:
        builder.labels({"disk": "12"})


@many
@given(clusters(), st.randoms(use_true_random=False))
def test_what_is_remembered_follows_nodes_that_come_change_and_go(drawn, rng: random.Random):
    made, placed, new, nominated = drawn
    cluster, pod = built(drawn)
    schedule_pod(cluster.framework, pod, 0)
    order = list(made)
    for builder in made:
        fate = rng.choice(["stays", "cordoned", "tainted", "relabelled", "comes back"])
        if fate == "comes back":
            name = builder.build().name
            cluster.cache.remove_node(name)
            schedule_pod(cluster.framework, pod, 0)
            order = [b for b in order if b is not builder] + [builder]
            cluster.cache.add_node(builder.build())
        elif fate != "stays":
            _change(builder, fate)
            cluster.cache.update_node(builder.build())
        schedule_pod(cluster.framework, pod, 0)
    fresh, _ = built((order, placed, new, nominated))
    ours, theirs = (schedule_pod(c.framework, pod, 0) for c in (cluster, fresh))
    assert ours.diagnosis.message() == theirs.diagnosis.message()
    assert totals(cluster, ours) == totals(fresh, theirs)  # the order of Nodes, and so the choice among equals, has a history


@many
@given(clusters())
def test_assuming_and_forgetting_a_pod_leaves_no_trace(drawn):
    cluster, pod = built(drawn)
    before = schedule_pod(cluster.framework, pod, 0)
    if before.node:
        cluster.cache.assume(pod, before.node)
        schedule_pod(cluster.framework, pod.replace(uid="another", name="another"), 0)
        cluster.cache.forget(pod.uid)
    same_decision(schedule_pod(cluster.framework, pod, 0), before)


@many
@given(clusters())
def test_a_dry_run_of_preemption_leaves_no_trace(drawn):
    cluster, pod = built(drawn)
    result = schedule_pod(cluster.framework, pod, 0)
    if not result.node:
        one, other = (evaluate(cluster.framework, pod, result, 100, random.Random(1)) for _ in range(2))
        assert one == other
    same_decision(schedule_pod(cluster.framework, pod, 0), schedule_pod(built(drawn)[0].framework, pod, 0))
