"""The scheduler's metrics against traces written by hand, and against what must hold for real runs."""

import re
from pathlib import Path

import pytest
from analysis_story import descheduler_story
from prometheus_client.parser import text_string_to_metric_families

from simulations.analysis.descheduler_metrics import DeschedulerMetrics
from simulations.analysis.metric_catalogue import SchedulerMetrics
from simulations.analysis.metrics import MetricsFold, event_label
from simulations.analysis.queue_gauges import QueueGauges
from simulations.analysis.summary import SummaryFold
from simulations.exporters.prometheus import write_metrics
from tests.unit.analysis.analysis_story import LACKS_CPU, Story, preemption_story
from tests.unit.analysis.test_folds_over_runs import records_of

PROFILE = "default-scheduler"
SLUGS = ("busy-shop", "sync-preemption", "gated-pods", "api-refuses-deletions", "two-schedulers")
DOCUMENTED = re.compile(r"^\| `(\w+)` \| (\w+) \| ([\w, ]*?) ?\|", re.MULTILINE)


def shown(records):
    """What Prometheus reads: families by name, and a function that gives one value."""
    fold = MetricsFold()
    for record in records:
        fold.feed(record)
    families = {family.name: family for family in text_string_to_metric_families(write_metrics(fold.metrics()).decode())}
    samples = {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families.values() for s in family.samples}
    return families, lambda name, **labels: samples.get((f"scheduler_{name}", tuple(sorted(labels.items()))))


class TestOneStory:
    def test_cycles_are_counted_by_result_when_they_are_over(self):
        _, value = shown(preemption_story().records)
        assert value("schedule_attempts_total", result="scheduled", profile=PROFILE) == 2
        assert value("schedule_attempts_total", result="unschedulable", profile=PROFILE) == 1
        name = "scheduling_attempt_duration_seconds"
        assert value(f"{name}_sum", result="scheduled", profile=PROFILE) == pytest.approx(
            0.010
        )  # 2 ms of cycle, 3 of binding, twice
        assert value(f"{name}_bucket", result="scheduled", profile=PROFILE, le="0.004") == 0
        assert value(f"{name}_bucket", result="scheduled", profile=PROFILE, le="0.008") == 2

    def test_the_wait_of_a_pod_runs_from_its_first_entry_into_active_q(self):
        _, value = shown(preemption_story().records)
        assert value("pod_scheduling_sli_duration_seconds_sum", attempts="2") == pytest.approx(2.006)
        assert value("pod_scheduling_sli_duration_seconds_sum", attempts="1") == pytest.approx(0.005)
        assert value("pod_scheduling_attempts_sum") == 3

    def test_moves_are_counted_under_the_real_labels(self):
        _, value = shown(preemption_story().records)
        assert value("queue_incoming_pods_total", queue="active", event="UnschedulablePodAdd") == 2
        assert value("queue_incoming_pods_total", queue="unschedulable", event="ScheduleAttemptFailure") == 1
        assert value("queue_incoming_pods_total", queue="active", event="AssignedPodDelete") == 1

    def test_background_preemptions_show_a_success_without_time_even_when_a_deletion_is_refused(self):
        families, value = shown(preemption_story(refuse=2).records)
        assert value("preemption_goroutines_execution_total", result="success") == 1
        assert value("preemption_goroutines_duration_seconds_sum", result="success") == 0
        assert value("preemption_victims_sum") == value("preemption_attempts_total") == 1
        assert "scheduler_preemption_goroutines_execution" in families

    def test_without_the_gate_there_are_no_metrics_of_background_preemption(self):
        story = preemption_story(executor="sync")
        story.records[0].data["featureGates"] = {"SchedulerAsyncPreemption": False}
        families, value = shown(story.records)
        assert not any("goroutines" in name for name in families)
        assert value("preemption_victims_sum") == 1

    def test_victims_that_are_leaving_already_are_not_observed_by_the_asynchronous_executor(self):
        story = Story()
        tried = story.attempt(1005, "urgent-1", 0, message=LACKS_CPU)
        story.preempt(1005, "urgent-1", tried, "node-1", "web-1")
        story.records[-1].data["victims"][0]["terminating"] = True
        _, value = shown(story.records)
        assert (value("preemption_victims_count"), value("preemption_attempts_total")) == (None, 1)

    def test_a_binding_that_fails_is_an_error_not_a_success(self):
        story = Story()
        tried = story.attempt(1005, "web-1", story.enqueue(1000, "web-1"), reason="Scheduled")
        story.of_pod(1012, "scheduler", "forget", "web-1", cause=tried)
        _, value = shown(story.records)
        assert value("schedule_attempts_total", result="error", profile=PROFILE) == 1
        assert value("schedule_attempts_total", result="scheduled", profile=PROFILE) is None

    def test_plugins_that_hold_pods_off_are_counted_until_the_next_cycle(self):
        story = Story()
        story.enqueue(1000, "gated-1", "gated", plugin="SchedulingGates")
        for at in (1005, 3005):
            story.attempt(at, "big-1", 0, rejecting=["NodeResourcesFit", "TaintToleration"])
        _, value = shown(story.records)
        for plugin in ("SchedulingGates", "NodeResourcesFit", "TaintToleration"):
            assert value("unschedulable_pods", plugin=plugin, profile=PROFILE) == 1
        story.attempt(5005, "big-1", 0, reason="Scheduled")
        assert shown(story.records)[1]("unschedulable_pods", plugin="NodeResourcesFit", profile=PROFILE) is None

    def test_a_pod_bound_after_the_five_minute_sweep_is_counted(self):
        story = Story()
        story.enqueue(1000, "web-1")
        tried = story.attempt(1005, "web-1", 0, message=LACKS_CPU)
        story.enqueue(1005, "web-1", "unschedulable", "ScheduleAttemptFailure", cause=tried)
        story.enqueue(330_000, "web-1", "active", "UnschedulableTimeout")
        story.bind(330_005, "web-1", "node-1", story.attempt(330_004, "web-1", 0, reason="Scheduled", attempt=2))
        assert shown(story.records)[1]("pod_scheduled_after_flush_total") == 1


class TestQueueGauges:
    def test_a_pod_in_its_cycle_is_not_in_the_queue(self):
        gauges = QueueGauges()
        gauges.moved("a", "active", 10)
        gauges.moved("b", "active", 15)  # while a is being scheduled, which is known only when that ends
        gauges.popped("a", 10)
        gauges.popped("b", 20)
        gauges.finish()
        assert (gauges.peaks["active"], gauges.sizes["active"]) == (1, 0)

    def test_a_pod_is_in_one_queue_at_a_time(self):
        gauges = QueueGauges()
        gauges.moved("a", "unschedulable", 10)
        gauges.moved("a", "backoff", 20)
        assert (gauges.sizes["unschedulable"], gauges.sizes["backoff"]) == (0, 1)


class TestRealRuns:
    @pytest.mark.parametrize("slug", SLUGS)
    def test_the_metrics_agree_with_the_summary(self, slug):
        families, _ = shown(records_of(slug))
        summary = SummaryFold()
        for record in records_of(slug):
            summary.feed(record)
        found = summary.summary()

        def total(name, suffix=""):
            samples = families[f"scheduler_{name}"].samples
            return sum(s.value for s in samples if s.name == f"scheduler_{name}{suffix}")

        assert total("schedule_attempts", "_total") == sum(found.attempts.values())
        assert total("pod_scheduling_sli_duration_seconds", "_count") == total("pod_scheduling_attempts", "_count") == found.placed
        nobody_s = 1 if slug == "two-schedulers" else 0  # a pod that names a scheduler which does not run
        assert total("pending_pods") == found.pending - nobody_s
        nodes = {s.value for s in families["scheduler_cache_size"].samples if s.labels["type"] == "nodes"}
        assert nodes == {found.nodes}

    @pytest.mark.parametrize("slug", SLUGS)
    def test_buckets_add_up(self, slug):
        families, _ = shown(records_of(slug))
        for family in families.values():
            if family.type != "histogram":
                continue
            runs = {}
            for s in family.samples:
                key = tuple(sorted((k, v) for k, v in s.labels.items() if k != "le"))
                runs.setdefault(key, []).append(s)
            for samples in runs.values():
                buckets = [s.value for s in samples if s.name.endswith("_bucket")]
                assert buckets == sorted(buckets)
                assert buckets[-1] == next(s.value for s in samples if s.name.endswith("_count"))

    def test_several_schedulers_are_told_apart(self):
        families, _ = shown(records_of("two-schedulers"))
        for family in families.values():
            assert all("instance" in sample.labels for sample in family.samples)


class TestCatalogue:
    def test_every_metric_is_documented_with_its_type_and_labels(self):
        page = (Path(__file__).resolve().parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
        rows = {name: (kind, tuple(filter(None, labels.split(", ")))) for name, kind, labels in DOCUMENTED.findall(page)}
        descheduler = DeschedulerMetrics()
        for record in descheduler_story().records:
            descheduler.feed(record)
        metrics = [*SchedulerMetrics().all({"SchedulerAsyncPreemption": True, "SchedulerAsyncAPICalls": True}), *descheduler.all()]
        assert rows == {m.name: (getattr(m, "kind", "histogram"), m.labels) for m in metrics}

    @pytest.mark.parametrize(
        "ours, real",
        [("PodAdd", "UnschedulablePodAdd"), ("NodeTaintChange", "NodeUpdateNodeTaint"), ("AssignedPodDelete", "AssignedPodDelete")],
    )
    def test_events_have_their_real_label(self, ours, real):
        assert event_label(ours) == real

    def test_bounds_are_decimal_seconds_and_labels_are_escaped(self):
        metric = SchedulerMetrics().attempt_duration
        metric.observe(("scheduled", 'a "quoted"\nname'), 1_000_000)
        [family] = text_string_to_metric_families(write_metrics([metric]).decode())
        buckets = [(s.labels["le"], s.value) for s in family.samples if s.name.endswith("_bucket")]
        assert buckets[:3] == [("0.001", 1), ("0.002", 1), ("0.004", 1)]
        assert len(buckets) == 16
        assert {s.labels["profile"] for s in family.samples} == {'a "quoted"\nname'}
