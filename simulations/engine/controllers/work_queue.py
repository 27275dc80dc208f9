"""A queue of keys with one worker, a wait that grows with each failure of a key, and additions for later.

Source: staging/src/k8s.io/client-go/util/workqueue/{queue,delaying_queue,rate_limiting_queue,default_rate_limiters}.go, v1.36
"""

from collections.abc import Callable
from typing import Final

from simulations.engine.cluster.api_server import Key
from simulations.engine.controllers.controller import SYNC_DELAY
from simulations.engine.kernel.clock import MILLISECOND, SECOND
from simulations.engine.kernel.loop import EventLoop, Handle, Steps

FIRST_WAIT: Final = 5 * MILLISECOND
LONGEST_WAIT: Final = 1000 * SECOND
Sync = Callable[[Key, int], Steps[bool]]


class WorkQueue:
    """`sync` gets each key with the record that caused the look, and says whether it went well; one that did not comes again after 5 ms,
    10 ms, ... at most 1000 s. A key that is added while it waits is looked at once.
    """

    def __init__(self, loop: EventLoop, sync: Sync, name: str) -> None:
        self._loop = loop
        self._sync = sync
        self._name = name
        self._waiting: dict[Key, int] = {}
        self._failures: dict[Key, int] = {}
        self._later: dict[Key, Handle] = {}
        self._works = False

    def add(self, key: Key, cause: int) -> None:
        """Look at the key soon."""
        self._waiting.setdefault(key, cause)
        if not self._works:
            self._works = True
            self._loop.after(SYNC_DELAY, lambda: self._loop.spawn(self._work(), self._name))

    def again(self, key: Key, cause: int) -> None:
        """Look at the key after the wait that its failures ask for, and count one more."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self._loop.after(min(FIRST_WAIT << min(failures, 40), LONGEST_WAIT), self.add, key, cause)

    def later(self, key: Key, wait: int | None, cause: int) -> None:
        """Look at the key after `wait` ns, and not at the instant that was planned before; None takes that back."""
        planned = self._later.pop(key, None)
        if planned is not None:
            planned.cancel()
        if wait is not None:
            self._later[key] = self._loop.after(wait, self._due, key, cause)

    def _due(self, key: Key, cause: int) -> None:
        self._later.pop(key, None)
        self.add(key, cause)

    def _work(self) -> Steps[None]:
        while self._waiting:
            key = next(iter(self._waiting))
            cause = self._waiting.pop(key)
            good: bool = yield from self._sync(key, cause)
            if good:
                self._failures.pop(key, None)
            else:
                self.again(key, cause)
        self._works = False
