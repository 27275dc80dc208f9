"""The samples show what their stories say."""

from functools import cache

import pytest

from simulations.analysis.spans import SpanFold
from simulations.analysis.summary import SummaryFold
from simulations.engine.kernel.clock import SECOND
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from simulations.samples import sample


@cache
def run(slug):
    """Summary, findings and spans of a sample."""
    summary, fold, spans = SummaryFold(), SpanFold(), {}

    def take(records):
        for record in records:
            summary.feed(record)
            for span in fold.feed(record):
                spans[span.id] = span

    Simulation(parse_scenario(sample(slug).document()), on_records=take).run()
    return summary.summary(), summary.findings(), list(spans.values())


def spans_of(slug, kind, pod=""):
    return [span for span in run(slug)[2] if span.kind == kind and (not pod or span.pod.endswith(f"/{pod}"))]


def small_pod_waits(slug):
    """From the first queueing to the binding of each small pod, sorted."""
    starts = {span.pod: span.start for span in reversed(spans_of(slug, "queued")) if "/small-" in span.pod}
    ends = {span.pod: span.end for span in spans_of(slug, "binding")}
    return sorted(ends[pod] - start for pod, start in starts.items())


def test_small_pods_hardly_notice_asynchronous_preemption_but_queue_behind_the_synchronous_one():
    fast, slow = small_pod_waits("async-preemption"), small_pod_waits("sync-preemption")
    assert len(fast) == len(slow) == 40
    assert fast[20] < SECOND // 100
    assert max(fast) < SECOND // 10  # the nomination of an urgent pod is written while the loop waits, one call of 60 ms
    assert max(slow) > SECOND // 2


@pytest.mark.parametrize("slug", ["async-preemption", "sync-preemption"])
def test_both_kinds_of_preemption_place_all_pods_and_cost_the_same_victims(slug):
    summary, findings, _ = run(slug)
    assert (summary.pending, summary.victims, findings) == (0, 12, [])


def test_the_synchronous_ghost_appears_only_after_the_deletions():
    for slug, nominated_first in (("async-preemption", True), ("sync-preemption", False)):
        [ghost] = spans_of(slug, "nominated", "urgent-1")
        graces = [span for span in spans_of(slug, "terminating") if ("preempts", span.id) in ghost.links]
        assert len(graces) == 3
        assert all((ghost.start < grace.start) is nominated_first for grace in graces)


def test_the_room_goes_to_the_higher_priority_and_the_other_ghost_is_cleared():
    [lost], [won] = spans_of("race-higher-takes", "nominated", "normal-1"), spans_of("race-higher-takes", "nominated", "urgent-1")
    assert (lost.reason, won.reason) == ("cleared", "bound here")
    assert lost.start < won.start < lost.end
    assert run("race-higher-takes")[0].pending == 1


def test_refused_deletions_are_repeated_as_often_as_by_the_real_scheduler():
    summary, findings, _ = run("api-refuses-deletions")
    assert 470 <= summary.refused_calls <= 475
    assert summary.calls["kube-scheduler"]["422"] == len(spans_of("api-refuses-deletions", "refused", "victim-1"))
    assert [finding.kind for finding in findings] == ["stuck nomination", "preemption loop", "refused calls"]
    assert run("api-refuses-deletions-no-limits")[0].refused_calls > 2 * summary.refused_calls


def test_the_kep_and_the_code_part_where_a_deletion_is_refused():
    kep, observed = run("refused-as-the-kep-has-it")[0], run("refused-as-observed")[0]
    assert (kep.refused_calls, kep.placed, kep.pending) == (4, 1, 1)
    assert (observed.placed, observed.pending) == (0, 2)
    assert observed.refused_calls > 100 * kep.refused_calls
    ghosts = spans_of("refused-as-the-kep-has-it", "nominated", "urgent-1")
    assert [ghost.reason for ghost in ghosts] == ["cleared"] * 4
    assert len(spans_of("refused-as-observed", "nominated", "urgent-1")) == 1


def test_the_busy_shop_is_lively_and_ends_well():
    summary, findings, spans = run("busy-shop")
    assert (summary.nodes, summary.pending, findings) == (14, 0, [])
    assert summary.victims >= 10
    assert all(spans_of("busy-shop", "nominated", f"checkout-{number}") for number in range(1, 7))
    assert any(kind == "replaced by" for span in spans for kind, _ in span.links)
    [gated] = spans_of("busy-shop", "gated", "migration-1")
    assert (gated.start // SECOND, gated.end // SECOND) == (14, 24)
    cordoned = [span for span in spans_of("busy-shop", "node") if span.reason == "cordoned"]
    assert (len({span.node for span in cordoned}), cordoned[-1].text) == (1, "taints: node.kubernetes.io/unschedulable:NoSchedule")
    seconds = {span.start // SECOND for span in spans if 0 <= span.start < 60 * SECOND}
    assert len(seconds) > 20


def reasons(slug, pod):
    """How the ghosts of a pod ended."""
    return [span.reason for span in spans_of(slug, "nominated", pod)]


def test_a_smaller_pod_does_not_get_the_room_that_is_free_already():
    slug = "race-lower-fits"
    assert (reasons(slug, "urgent-1"), reasons(slug, "equal-1"), reasons(slug, "normal-1")) == (
        ["bound here"],
        ["bound here"],
        ["cleared"],
    )
    assert (run(slug)[0].victims, run(slug)[0].pending) == (1, 1)


def test_a_second_preemptor_does_not_count_on_room_that_is_promised():
    slug = "race-lower-preempts"
    places = {pod: spans_of(slug, "nominated", pod)[0].node for pod in ("urgent-1", "normal-1", "normal-2")}
    assert places == {"urgent-1": "node-1", "normal-1": "node-2", "normal-2": "node-2"}
    assert (run(slug)[0].victims, run(slug)[0].pending) == (2, 0)


def test_a_higher_priority_takes_the_nomination_of_another_away():
    slug = "race-higher-preempts"
    assert (reasons(slug, "normal-1")[0], reasons(slug, "urgent-1")) == ("cleared", ["bound here"])
    assert (run(slug)[0].victims, run(slug)[0].pending) == (2, 1)


def test_a_ghost_ends_with_its_node_and_the_pod_waits_in_backoff():
    slug = "nominated-node-gone"
    [ghost] = spans_of(slug, "nominated", "urgent-1")
    assert (ghost.end // SECOND, ghost.reason) == (2, "node gone")
    assert [span.end // SECOND for span in spans_of(slug, "backoff", "urgent-1")] == [6, 9]
    assert run(slug)[0].pending == 0


def test_a_gate_holds_until_the_last_one_is_gone():
    [licensed], [never] = spans_of("gated-pods", "gated", "licensed-1"), spans_of("gated-pods", "gated", "train-4")
    assert (licensed.end // SECOND, never.end) == (16, None)
    assert run("gated-pods")[0].victims == 1


def test_backoff_doubles_up_to_ten_seconds():
    ends = [span.end // SECOND for span in spans_of("backoff-grows", "backoff", "big-1")]
    assert ends == [5, 10, 19, 30, 41, 52]
    assert run("backoff-grows")[0].pending == 0


def test_a_cordoned_node_takes_nobody_until_it_is_uncordoned():
    slug = "cordon-and-uncordon"
    bound = [span for span in spans_of(slug, "binding") if span.node == "node-2"]
    assert not [span for span in bound if 5 * SECOND < span.end < 20 * SECOND]
    assert [span for span in bound if 20 * SECOND <= span.end < 25 * SECOND]
    assert (run(slug)[0].victims, run(slug)[0].pending) == (3, 0)


def test_the_urgent_rollout_ends_with_the_gateway_whole_and_reports_waiting():
    summary, _findings, spans = run("urgent-rollout")
    running = {span.pod for span in spans if span.kind == "running" and span.end is None and "/gateway-" in span.pod}
    assert len(running) == 18
    victims = {
        span.pod.partition("/")[2].partition("-")[0] for span in spans if span.kind == "terminating" and span.reason == "victim"
    }
    assert (victims, summary.budget_violations) == ({"report"}, 0)
    assert summary.victims > 10


def test_two_schedulers_take_the_same_room_and_the_kubelet_refuses():
    slug = "two-schedulers"
    records = []
    Simulation(parse_scenario(sample(slug).document()), on_records=records.extend).run()
    refused = [r for r in records if r.resource == "events" and r.data.get("reason") == "OutOfcpu"]
    actors = {r.actor for r in records if r.resource == "pods/binding"}
    assert len(refused) >= 1
    assert actors == {"kube-scheduler", "kube-scheduler-2"}
    assert not [r for r in records if r.verb == "attempt" and r.name == "lost-1"]
    [waits] = spans_of(slug, "queued", "lost-1")
    assert (waits.end, waits.text) == (None, "no scheduler here is called nobody")
    assert any("waits for a scheduler called nobody" in finding.text for finding in run(slug)[1])
