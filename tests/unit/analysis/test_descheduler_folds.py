"""What a descheduler did, as a table and as metrics, from hand-made records."""

from analysis_story import descheduler_story, preemption_story

from simulations.analysis.catalogue import TABLES
from simulations.analysis.metrics import MetricsFold
from simulations.analysis.tables import table_rows
from simulations.exporters.prometheus import write_metrics


def decisions():
    table = TABLES["descheduler_decisions"]()
    return [dict(zip([c.name for c in table.COLUMNS], row, strict=True)) for row in table_rows(table, descheduler_story().records)]


def test_each_choice_and_each_pod_left_alone_is_a_row():
    """Whom a cycle left alone as the one before did is told again, though the record only points there."""
    found = [(row["cycle"], row["name"], row["decision"], row["code"], row["filter"]) for row in decisions()]
    assert found == [
        (1, "web-1", "evicted", 201, None),
        (1, "web-2", "refused", 429, None),
        (1, "web-3", "node limit", None, None),
        (1, "web-4", "left alone", None, "Filter"),
        (2, "web-4", "left alone", None, "Filter"),
    ]


def test_rows_say_who_decided_why_and_where():
    """Strategy and profile, the reason, the answer's text, the node."""
    first, refused, *_, last = decisions()
    assert (first["strategy"], first["profile"], first["node"], first["why"], first["dry_run"]) == (
        "PodLifeTime",
        "p",
        "node-1",
        "it is 9 s old",
        False,
    )
    assert refused["message"] == 'error when evicting pod (ignoring) "web-2": no'
    assert (last["node"], last["why"], last["sim_seconds"]) == ("node-1", "pod is a mirror pod", "2.02")


def metrics_of(story):
    fold = MetricsFold()
    for record in story.records:
        fold.feed(record)
    return write_metrics(fold.metrics()).decode()


def test_metrics_have_upstream_names_and_the_deprecated_ones():
    """Counters by result; durations of two cycles, 20 ms each."""
    text = metrics_of(descheduler_story())
    labels = '{namespace="shop",node="node-1",profile="p",result="success",strategy="PodLifeTime"} 1.0'
    assert f"descheduler_pods_evicted_total{labels}" in text
    assert f"descheduler_pods_evicted{labels}" in text
    assert 'result="maximum number of evicted pods per node reached"' in text
    assert 'result="error"' in text
    for name in ("descheduler_loop_duration_seconds", "descheduler_descheduler_loop_duration_seconds"):
        assert f'{name}_bucket{{le="0.01"}} 0.0' in text
        assert f'{name}_bucket{{le="0.025"}} 2.0' in text
        assert f"{name}_sum 0.04" in text
    assert 'descheduler_strategy_duration_seconds_count{profile="p",strategy="PodLifeTime"} 2.0' in text


def test_a_run_without_a_descheduler_has_none_of_them():
    """They are registered by its process."""
    assert "descheduler_" not in metrics_of(preemption_story())
