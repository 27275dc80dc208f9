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


def test_the_busy_shop_is_lively_and_ends_well():
    summary, findings, spans = run("busy-shop")
    assert (summary.nodes, summary.pending, findings) == (14, 0, [])
    assert summary.victims >= 10
    assert all(spans_of("busy-shop", "nominated", f"checkout-{number}") for number in range(1, 7))
    assert any(kind == "replaced by" for span in spans for kind, _ in span.links)
    [gated] = spans_of("busy-shop", "gated", "migration-1")
    assert (gated.start // SECOND, gated.end // SECOND) == (14, 24)
    assert len([span for span in spans_of("busy-shop", "node") if span.reason == "cordoned"]) == 1
    seconds = {span.start // SECOND for span in spans if 0 <= span.start < 60 * SECOND}
    assert len(seconds) > 20
