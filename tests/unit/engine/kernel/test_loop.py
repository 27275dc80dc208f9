"""The order of events, futures, processes, and when a run ends."""

from typing import Any

import pytest

from simulations.engine.kernel.clock import MILLISECOND, SECOND
from simulations.engine.kernel.errors import InvariantError
from simulations.engine.kernel.loop import EventLoop, Future, Steps, all_of


def test_events_run_by_time_then_priority_then_order_of_scheduling() -> None:
    loop, seen = EventLoop(), []
    loop.at(2, seen.append, "late")
    loop.at(1, seen.append, "first")
    loop.at(1, seen.append, "second")
    loop.at(1, seen.append, "urgent", priority=-1)
    loop.run()
    assert seen == ["urgent", "first", "second", "late"]
    assert loop.now == 2


def test_an_event_scheduled_for_now_runs_after_those_that_wait_already() -> None:
    loop, seen = EventLoop(), []
    loop.at(5, lambda: (seen.append("a"), loop.after(0, seen.append, "c")))
    loop.at(5, seen.append, "b")
    loop.run()
    assert seen == ["a", "b", "c"]


def test_the_past_cannot_be_scheduled() -> None:
    loop = EventLoop(start=10)
    with pytest.raises(InvariantError):
        loop.at(9, print)


def test_a_cancelled_event_does_not_run_and_does_not_move_the_clock() -> None:
    loop, seen = EventLoop(), []
    handle = loop.at(7, seen.append, "x")
    handle.cancel()
    handle.cancel()
    loop.run()
    assert (seen, loop.now, loop.events, handle.pending) == ([], 0, 0, False)


def test_the_end_is_exclusive_and_the_clock_then_stands_there() -> None:
    loop, seen = EventLoop(start=-SECOND), []
    loop.at(0, seen.append, "at the end")
    assert loop.run(until=0)
    assert (seen, loop.now) == ([], 0)
    loop.run(until=1)
    assert seen == ["at the end"]


def test_a_run_can_be_stopped_from_outside_within_one_instant() -> None:
    loop = EventLoop()

    def again() -> None:
        loop.after(0, again)

    loop.after(0, again)
    assert loop.run(should_stop=lambda: loop.events > 5000) is False
    assert 5000 < loop.events < 7000


def test_periodic_events_do_not_keep_a_run_from_having_settled() -> None:
    loop, ticks = EventLoop(), []

    def tick() -> None:
        ticks.append(loop.now)
        loop.after(SECOND, tick, periodic=True)

    loop.after(SECOND, tick, periodic=True)
    work = loop.at(3 * SECOND + 1, ticks.append, "work")
    assert not loop.settled()
    loop.run(until=100 * SECOND, until_settled=True)
    assert ticks == [SECOND, 2 * SECOND, 3 * SECOND, "work"]
    assert loop.now == 3 * SECOND + 1
    assert not work.pending
    loop.at(50 * SECOND, print).cancel()
    assert loop.settled()


def test_a_process_sleeps_and_waits_for_futures() -> None:
    loop, answer = EventLoop(), Future[str]()
    seen: list[Any] = []

    def steps() -> Steps[int]:
        seen.append(loop.now)
        yield 5 * MILLISECOND
        seen.append(loop.now)
        seen.append((yield answer))
        return 42

    process = loop.spawn(steps(), "worker")
    assert seen == [0], "a process starts at once"
    loop.at(SECOND, answer.resolve, "yes")
    loop.run()
    assert seen == [0, 5 * MILLISECOND, "yes"]
    assert process.done
    assert process.value == 42


def test_a_process_does_not_recurse_over_futures_that_are_done() -> None:
    loop, done = EventLoop(), Future[int]()
    done.resolve(1)

    def steps() -> Steps[int]:
        total = 0
        for _ in range(100_000):
            total += yield done
        return total

    assert loop.spawn(steps()).value == 100_000


def test_a_process_may_wait_for_a_process() -> None:
    loop = EventLoop()

    def inner() -> Steps[str]:
        yield SECOND
        return "inner"

    def outer() -> Steps[str]:
        return (yield loop.spawn(inner())) + " done"

    process = loop.spawn(outer())
    loop.run()
    assert process.value == "inner done"


def test_a_process_that_yields_something_else_is_a_bug() -> None:
    def steps() -> Any:
        yield "soon"

    with pytest.raises(InvariantError, match="'odd' yielded 'soon'"):
        EventLoop().spawn(steps(), "odd")


def test_all_of_waits_for_the_last_and_keeps_the_given_order() -> None:
    loop = EventLoop()
    first, second = Future[str](), Future[str]()
    together = all_of(loop, [first, second])
    second.resolve("b")
    assert not together.done
    first.resolve("a")
    assert together.value == ["a", "b"]
    assert all_of(loop, []).value == []


def test_a_future_has_one_value() -> None:
    future = Future[int]()
    with pytest.raises(InvariantError):
        _ = future.value
    future.resolve(1)
    with pytest.raises(InvariantError):
        future.resolve(2)
    seen: list[int] = []
    future.add_callback(seen.append)
    assert seen == [1]
