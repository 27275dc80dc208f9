"""Jobs: until enough Pods have succeeded, or too many failed."""

from itertools import pairwise

import pytest

from tests.unit.engine.controllers.clusters import Story, delete, node, template, workload


def job(seconds=5, code=0, **spec):
    ends = {"schedscope/run-seconds": str(seconds), "schedscope/exit-code": str(code)}
    return workload("Job", "calc", template(app="calc", annotations=ends, restartPolicy="Never"), **spec)


def status(story):
    raw = story.list("Job")[0].raw.get("status") or {}
    return [c["reason"] for c in raw.get("conditions", [])], raw.get("succeeded"), raw.get("failed")


def test_it_runs_as_many_at_once_as_it_may_until_all_have_succeeded():
    story = Story([node("n1"), job(parallelism=2, completions=5)])
    assert status(story) == (["CompletionsReached"], 5, 0)
    assert {p.phase for p in story.pods().values()} == {"Succeeded"}
    assert len(story.pods()) == 5
    times = story.times("create")
    assert [sum(1 for t in times if start <= t < start + 5) for start in (0, 5, 11)] == [2, 2, 1]
    assert story.events("Completed") == ["Job completed"]


def test_failures_are_tried_again_after_a_growing_wait_until_the_limit():
    story = Story([node("n1"), job(seconds=1, code=3, backoffLimit=2, completions=1)], duration="200s")
    times = story.times("create")
    gaps = [b - a for a, b in pairwise(times)]
    assert status(story) == (["BackoffLimitExceeded"], 0, 3)
    assert [round(gap // 10) for gap in gaps] == [1, 2]


def test_a_deleted_pod_counts_as_failed_and_is_replaced_before_it_is_gone():
    victim = Story([node("n1"), job(seconds=60, completions=1)], duration="5s").pods()
    [name] = victim
    story = Story([node("n1"), job(seconds=30, completions=1)], [delete("10s", "Pod", name)], "90s")
    assert status(story) == (["CompletionsReached"], 1, 1)


def test_indexed_jobs_give_each_pod_a_number():
    story = Story([node("n1"), job(parallelism=3, completions=3, completionMode="Indexed")])
    indexes = sorted(p.annotations["batch.kubernetes.io/job-completion-index"] for p in story.pods().values())
    assert indexes == ["0", "1", "2"]


@pytest.mark.parametrize(
    "action, reasons, failed", [("FailJob", ["PodFailurePolicy"], 1), ("Ignore", [], 0), ("Count", ["BackoffLimitExceeded"], 1)]
)
def test_a_failure_policy_decides_what_an_exit_code_means(action, reasons, failed):
    rule = {"action": action, "onExitCodes": {"operator": "In", "values": [42]}}
    story = Story(
        [node("n1"), job(seconds=1, code=42, backoffLimit=0, completions=1, podFailurePolicy={"rules": [rule]})], duration="30s"
    )
    assert (status(story)[0], status(story)[2]) == (reasons, failed)


def test_a_suspended_job_waits_and_a_deadline_ends_one():
    assert Story([node("n1"), job(suspend=True)]).pods() == {}
    assert status(Story([node("n1"), job(seconds=50, activeDeadlineSeconds=10, completions=1)]))[0] == ["DeadlineExceeded"]


def test_finished_pods_keep_no_finalizer_so_that_they_can_be_deleted():
    story = Story([node("n1"), job(completions=1)], [delete("30s", "Job", "calc")])
    assert (story.pods(), story.list("Job")) == ({}, [])
