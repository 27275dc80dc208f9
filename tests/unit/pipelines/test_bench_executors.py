"""What the executors cost the scheduling loop, in the shape that was measured on the real scheduler (5.0 against 42 ms)."""

from functools import cache

import pytest

from simulations.analysis.loop import LoopFold
from simulations.pipelines.bench import EXECUTORS, Sizes, bench_document, measure, with_executor

SIZES = Sizes(nodes=500, pods=60, low=2000, high=14)


@cache
def loop_of(executor):
    fold = LoopFold()
    measure(with_executor(bench_document("async", SIZES), executor), lambda: 0.0, fold)
    return fold.loop_time()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_every_preemptor_preempts_and_hardly_any_twice(executor):
    assert SIZES.high <= loop_of(executor).post_filters <= SIZES.high + 2


def test_with_the_asynchronous_executor_the_loop_is_free_after_a_few_milliseconds():
    assert 2 < loop_of("async").post_filter_mean_ms <= loop_of("async").post_filter_max_ms < 10


def test_with_the_synchronous_one_it_is_held_several_times_longer():
    assert 3 * loop_of("async").post_filter_mean_ms < loop_of("sync").post_filter_mean_ms < 60


def test_the_time_that_the_loop_waits_for_calls_differs_not_the_time_that_it_decides():
    assert loop_of("sync").waited_seconds > 3 * loop_of("async").waited_seconds
    assert loop_of("sync").busy_seconds == pytest.approx(loop_of("async").busy_seconds, rel=0.2)
