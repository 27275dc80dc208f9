"""Where the scheduling loop's time went, told from traces that are written by hand."""

from simulations.analysis.cycles import CycleFold
from simulations.analysis.loop import LoopFold
from tests.unit.analysis.analysis_story import Story, preemption_story

POST_FILTER = {"status": "Success", "took": 1_000_000}


def failing(executor, *, code=200, status=True, gates=None):
    """urgent-1 preempts web-1 with one call of 40 ms; its own status takes 6 ms."""
    story = Story()
    story.records[0].data["featureGates"] = gates or {}
    woken = story.enqueue(1000, "urgent-1")
    tried = story.attempt(1005, "urgent-1", woken, took=5, postFilter=dict(POST_FILTER))
    chosen = story.preempt(1005, "urgent-1", tried, "node-1", "web-1", executor=executor)
    after = 1005 if executor == "async" else 1045
    if executor == "sync":
        story.of_pod(1045, "scheduler", "delete", "web-1", code=code, cause=chosen)
    story.enqueue(after, "urgent-1", "unschedulable", "ScheduleAttemptFailure", cause=chosen)
    if executor == "async":
        story.of_pod(1045, "scheduler", "delete", "web-1", code=code, cause=chosen)
    if status:
        story.of_pod(after + 6, "scheduler", "patch", "urgent-1", "pods/status", code=200, cause=chosen)
    return story.records


def read(records):
    fold = CycleFold()
    cycles = [cycle for record in records for cycle in fold.feed(record)]
    return fold, [*cycles, *fold.finish()]


class TestCycles:
    def test_the_asynchronous_executor_holds_the_loop_for_the_dry_run_only(self):
        fold, [cycle] = read(failing("async"))
        assert (cycle.post_filter.status, cycle.post_filter.took) == ("Success", 1_000_000)
        assert (fold.busy, fold.waited) == (5_000_000, 6_000_000)

    def test_the_synchronous_one_holds_it_until_the_victims_are_deleted(self):
        fold, [cycle] = read(failing("sync"))
        assert (cycle.post_filter.status, cycle.post_filter.took) == ("Success", 41_000_000)
        assert (fold.busy, fold.waited) == (5_000_000, 46_000_000)

    def test_a_refused_deletion_makes_a_synchronous_post_filter_fail_and_no_asynchronous_one(self):
        assert read(failing("sync", code=422))[1][0].post_filter.status == "Error"
        assert read(failing("sync", code=404))[1][0].post_filter.status == "Success"
        assert read(failing("async", code=422))[1][0].post_filter.status == "Success"

    def test_a_status_that_does_not_change_is_not_waited_for(self):
        assert read(failing("async", status=False))[0].waited == 0

    def test_with_asynchronous_calls_the_loop_does_not_wait_for_the_status(self):
        assert read(failing("async", gates={"SchedulerAsyncAPICalls": True}))[0].waited == 0

    def test_the_cycle_of_a_pod_that_is_gone_ends_with_the_next_one(self):
        story = Story()
        story.attempt(1005, "gone-1", 0)
        story.attempt(1010, "web-1", 0, reason="Scheduled")
        assert [(c.name, c.over) for c in read(story.records)[1]] == [("gone-1", 1_005_000_000), ("web-1", 1_010_000_000)]


class TestLoopTime:
    def test_waits_run_from_the_queue_to_the_binding(self):
        fold = LoopFold()
        for record in preemption_story().records:
            fold.feed(record)
        found = fold.loop_time()
        assert (found.waits.pods, found.waits.max_seconds) == (2, 2.006)
        assert (found.waits_of_others.pods, found.waits_of_others.max_seconds) == (1, 0.005)
        assert found.cycles == 3
        assert found.bound_per_second == round(2 / 2.005, 3)

    def test_without_cycles_there_are_no_figures(self):
        found = LoopFold().loop_time()
        assert (found.busy_seconds, found.bound_per_second, found.post_filter_mean_ms, found.waits.pods) == (0, None, None, 0)
