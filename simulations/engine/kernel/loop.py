"""The event loop: a heap of (time, priority, sequence), futures and processes.

Events of one instant run by priority (lower first), then in the order in which they were scheduled. Nothing here depends on hashes,
addresses or the wall clock. An exception in an event is a bug and ends the run; answers that say "no" are values.
"""

import heapq
from collections.abc import Callable, Generator, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.errors import InvariantError

T = TypeVar("T")
_CHECK_EVERY = 1024  # events of one instant between two looks at should_stop


class Handle:
    """One scheduled call; ``cancel()`` takes it back."""

    __slots__ = ("_loop", "args", "fn", "periodic", "time")

    def __init__(self, loop: "EventLoop", time: SimTime, fn: Callable[..., object], args: tuple[Any, ...], periodic: bool) -> None:
        self._loop = loop
        self.time = time
        self.fn: Callable[..., object] | None = fn
        self.args = args
        self.periodic = periodic

    @property
    def pending(self) -> bool:
        """Whether the call is still to come."""
        return self.fn is not None

    def cancel(self) -> None:
        """Take the call back; nothing happens when it has run or was cancelled before."""
        if self.fn is not None:
            self.fn = None
            self.args = ()
            if not self.periodic:
                self._loop._due -= 1


class Future(Generic[T]):
    """A value that is not there yet. It never carries an exception: an answer that says no is a value too."""

    __slots__ = ("_callbacks", "_done", "_value")

    def __init__(self) -> None:
        self._done = False
        self._value: T | None = None
        self._callbacks: list[Callable[[T], object]] | None = None

    @property
    def done(self) -> bool:
        """Whether the value is there."""
        return self._done

    @property
    def value(self) -> T:
        """The value.

        Raises:
            InvariantError: it is not there yet.
        """
        if not self._done:
            raise InvariantError("the value of a future that is not done")
        return self._value  # type: ignore[return-value]  # done, so it holds a T

    def resolve(self, value: T) -> None:
        """Give the value, and run the callbacks at once, in the order in which they were added.

        Raises:
            InvariantError: it has a value already.
        """
        if self._done:
            raise InvariantError("a future was resolved twice")
        self._done = True
        self._value = value
        callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            callback(value)

    def add_callback(self, fn: Callable[[T], object]) -> None:
        """Call ``fn(value)`` when the value is there; at once when it is there already."""
        if self._done:
            fn(self._value)  # type: ignore[arg-type]  # done, so it holds a T
        elif self._callbacks is None:
            self._callbacks = [fn]
        else:
            self._callbacks.append(fn)


Steps: TypeAlias = Generator[int | Future[Any], Any, T]
"""What a process runs: it yields nanoseconds to sleep, or a future to wait for, and gets the future's value back."""


class Process(Future[T]):
    """A generator that is being run; resolves with what the generator returns."""

    __slots__ = ("_loop", "_steps", "name")

    def __init__(self, loop: "EventLoop", steps: Steps[T], name: str) -> None:
        super().__init__()
        self._loop = loop
        self._steps = steps
        self.name = name

    def _advance(self, value: Any = None) -> None:
        send = self._steps.send
        while True:
            try:
                wait = send(value)
            except StopIteration as stop:
                self.resolve(stop.value)
                return
            if isinstance(wait, Future):
                if not wait.done:
                    wait.add_callback(self._advance)
                    return
                value = wait.value
            elif isinstance(wait, int):
                self._loop.after(wait, self._advance)
                return
            else:
                raise InvariantError(f"process {self.name!r} yielded {wait!r}: neither nanoseconds nor a future")


class EventLoop:
    """Virtual time and what is to happen in it.

    Attributes:
        now: the present instant, in nanoseconds since T+0. It never falls.
        events: how many events have run.
    """

    __slots__ = ("_due", "_heap", "_sequence", "events", "now")

    def __init__(self, start: SimTime = 0) -> None:
        self.now: SimTime = start
        self.events = 0
        self._heap: list[tuple[SimTime, int, int, Handle]] = []
        self._sequence = 0
        self._due = 0

    def at(self, time: SimTime, fn: Callable[..., object], *args: Any, priority: int = 0, periodic: bool = False) -> Handle:
        """Call ``fn(*args)`` at that instant.

        Args:
            time: nanoseconds since T+0, not before now.
            fn: what to call.
            args: what to call it with.
            priority: order among the events of one instant, lower first.
            periodic: an event that comes again whatever happens; it does not keep the run from having settled.

        Raises:
            InvariantError: the instant has passed.
        """
        if time < self.now:
            raise InvariantError(f"an event for {time} ns was scheduled at {self.now} ns")
        handle = Handle(self, time, fn, args, periodic)
        self._sequence = sequence = self._sequence + 1
        heapq.heappush(self._heap, (time, priority, sequence, handle))
        if not periodic:
            self._due += 1
        return handle

    def after(self, delay: int, fn: Callable[..., object], *args: Any, priority: int = 0, periodic: bool = False) -> Handle:
        """Call ``fn(*args)`` that many nanoseconds from now; see ``at``."""
        return self.at(self.now + delay, fn, *args, priority=priority, periodic=periodic)

    def spawn(self, generator: Steps[T], name: str = "") -> "Process[T]":
        """Run the generator as a process. It runs at once, up to its first wait."""
        process = Process(self, generator, name)
        process._advance()
        return process

    def next_time(self) -> SimTime | None:
        """Return the instant of the next event, or None when there is none."""
        heap = self._heap
        while heap and heap[0][3].fn is None:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def settled(self) -> bool:
        """Whether nothing is due but periodic events."""
        return self._due == 0

    def run(
        self, until: SimTime | None = None, should_stop: Callable[[], bool] | None = None, *, until_settled: bool = False
    ) -> bool:
        """Run events in order.

        Args:
            until: the end, exclusive: an event of that instant does not run, and the clock then stands there. None: no end.
            should_stop: asked before time moves on, and now and then within an instant; True ends the run.
            until_settled: end as soon as nothing is due but periodic events.

        Returns:
            False when ``should_stop`` ended it, else True.
        """
        in_instant = 0
        while True:
            time = self.next_time()
            if time is None or (until is not None and time >= until) or (until_settled and self._due == 0):
                break
            in_instant += 1
            if should_stop is not None and (time != self.now or in_instant >= _CHECK_EVERY):
                in_instant = 0
                if should_stop():
                    return False
            self._run_next()
        if until is not None and until > self.now and not (until_settled and self._due == 0):
            self.now = until
        return True

    def _run_next(self) -> None:
        time, _, _, handle = heapq.heappop(self._heap)
        self.now = time
        self.events += 1
        fn, args = handle.fn, handle.args
        handle.fn = None
        if not handle.periodic:
            self._due -= 1
        if fn is not None:
            fn(*args)


def all_of(loop: EventLoop, futures: Sequence[Future[Any]]) -> Future[list[Any]]:
    """Return a future of all their values, in the given order, resolved when the last one is there."""
    together: Future[list[Any]] = Future()
    waiting = len(futures)

    def one_done(_value: Any) -> None:
        nonlocal waiting
        waiting -= 1
        if waiting == 0:
            together.resolve([future.value for future in futures])

    if not futures:
        together.resolve([])
    for future in futures:
        future.add_callback(one_done)
    return together
