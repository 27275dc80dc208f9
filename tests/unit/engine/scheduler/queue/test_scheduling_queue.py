"""The scheduling queue: order, backoff, events, gates."""

import pytest

from simulations.engine.kernel.clock import MILLISECOND, MINUTE, SECOND
from simulations.engine.kernel.loop import EventLoop
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.config import DEFAULT_CONFIG
from simulations.engine.scheduler.eventhandlers import ASSIGNED_POD_DELETE, NODE_ADD
from simulations.engine.scheduler.framework.events import Action, ClusterEvent, Resource
from simulations.engine.scheduler.framework.plugin import Handle
from simulations.engine.scheduler.queue.in_flight import Happened
from simulations.engine.scheduler.queue.queued_pod import Backoff
from simulations.engine.scheduler.queue.scheduling_queue import SchedulingQueue
from tests.builders import make_pod


class Bench:
    """A queue with a clock, and every move."""

    def __init__(self, *, whole_seconds=True, preempting=None):
        self.loop = EventLoop()
        self.moves = []
        frameworks = DEFAULT_CONFIG.frameworks(Handle(SchedulerCache(), preempting=preempting))
        self.queue = SchedulingQueue(self.loop, frameworks, Backoff(whole_seconds=whole_seconds), self._moved)

    def _moved(self, queued, queue, event, cause):
        self.moves.append((queued.pod.name, queue, event))
        return len(self.moves)

    def add(self, *pods):
        for pod in pods:
            self.queue.add(pod, 0)

    def at(self, time, action=lambda: None):
        self.loop.at(time, action)
        self.loop.run(time + 1)

    def fail(self, *rejecting):
        """Pop the next Pod and let it fail."""
        queued = self.queue.pop()
        queued.rejecting = list(rejecting)
        self.queue.add_unschedulable(queued, 0)
        return queued

    def last(self):
        return self.moves[-1][1:]


def left(name="gone"):
    return Happened(ASSIGNED_POD_DELETE, make_pod(name).on("n").build(), None, 7)


def test_higher_priority_comes_first_then_the_longer_wait():
    bench = Bench()
    bench.add(make_pod("a").build(), make_pod("b").priority(5).build(), make_pod("c").build())
    assert [bench.queue.pop().pod.name for _ in range(3)] == ["b", "a", "c"]


@pytest.mark.parametrize("failures, seconds", [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (9, 10)])
def test_backoff_doubles_up_to_ten_seconds(failures, seconds):
    bench = Bench()
    bench.add(make_pod("a").build())
    queued = bench.queue.pop()
    queued.unschedulable_count = failures
    assert bench.queue.backoff.duration(queued) == seconds * SECOND


def test_backoff_ends_on_a_whole_second_up_to_one_later():
    bench = Bench()
    bench.add(make_pod("a").build())
    bench.at(300 * MILLISECOND, lambda: bench.fail("NodeResourcesFit"))
    bench.queue.on_event(left())
    assert bench.last() == ("backoff", "AssignedPodDelete")
    queued = bench.queue.find("uid-a")
    assert bench.queue.backoff.backing_off(queued, 1_900 * MILLISECOND)
    assert not bench.queue.backoff.backing_off(queued, 2 * SECOND)


def test_an_idle_scheduler_does_not_wait_for_the_backoff():
    bench = Bench()
    bench.add(make_pod("a").build())
    bench.fail("NodeResourcesFit")
    bench.queue.on_event(left())
    assert bench.queue.pop().pod.name == "a"
    assert bench.last() == ("active", "PopFromBackoffQ")


def test_after_an_error_it_does():
    bench = Bench()
    bench.add(make_pod("a").build())
    bench.fail()
    assert bench.last() == ("backoff", "ScheduleAttemptFailure")
    assert bench.queue.pop() is None
    bench.loop.run(2 * SECOND + 1)
    assert bench.last() == ("active", "BackoffComplete")
    assert bench.queue.pop().pod.name == "a"


def test_a_rejected_pod_waits_for_an_event_that_its_plugin_asked_for():
    bench = Bench()
    bench.add(make_pod("a").request(cpu="1").build())
    bench.fail("NodeResourcesFit")
    assert bench.last() == ("unschedulable", "ScheduleAttemptFailure")
    bench.queue.on_event(Happened(ClusterEvent(Resource.POD, Action.ADD, "AssignedPodAdd"), None, make_pod("b").on("n").build(), 0))
    assert bench.last() == ("unschedulable", "ScheduleAttemptFailure")
    bench.queue.on_event(left())
    assert bench.last() == ("backoff", "AssignedPodDelete")


def test_an_event_while_the_pod_is_in_flight_counts_when_it_comes_back():
    bench = Bench()
    bench.add(make_pod("a").build())
    queued = bench.queue.pop()
    bench.queue.on_event(left())
    queued.rejecting = ["NodeResourcesFit"]
    bench.queue.add_unschedulable(queued, 0)
    assert bench.last() == ("backoff", "ScheduleAttemptFailure")


def test_room_given_back_by_a_nomination_is_not_for_pods_above_it():
    bench = Bench()
    bench.add(make_pod("high").priority(10).build(), make_pod("low").build())
    bench.fail("NodeResourcesFit")
    bench.fail("NodeResourcesFit")
    old = make_pod("other").on("n").build()
    bench.queue.on_event(Happened(ASSIGNED_POD_DELETE, old, None, 0, at_most_priority=5))
    assert set(bench.queue.unschedulable) == {"uid-high"}


def test_a_preemptor_is_gated_while_its_preemption_is_under_way():
    busy = set()
    bench = Bench(preempting=lambda pod: pod.uid in busy)
    bench.add(make_pod("a").build())
    bench.fail("NodeResourcesFit")
    busy.add("uid-a")
    bench.queue.on_event(left())
    assert bench.last() == ("gated", "AssignedPodDelete")
    bench.queue.on_event(Happened(NODE_ADD, None, None, 0))
    assert bench.last() == ("gated", "AssignedPodDelete")
    busy.clear()
    bench.queue.on_event(left())
    assert bench.last() == ("backoff", "AssignedPodDelete")


def test_the_sweep_moves_what_waited_for_five_minutes_but_nothing_gated():
    bench = Bench()
    bench.add(make_pod("a").build())
    bench.fail("NodeResourcesFit")
    queued = bench.queue.find("uid-a")
    queued.gating_plugin = "SchedulingGates"
    bench.loop.run(6 * MINUTE)
    assert bench.last() == ("unschedulable", "ScheduleAttemptFailure")
    queued.gating_plugin = ""
    bench.loop.run(7 * MINUTE)
    assert bench.last() == ("active", "UnschedulableTimeout")


def test_activate_ignores_the_backoff():
    bench = Bench()
    bench.add(make_pod("a").build())
    bench.fail("NodeResourcesFit")
    bench.queue.on_event(left())
    bench.queue.activate("uid-a", 0)
    assert bench.last() == ("active", "ForceActivate")
