"""A queue of keys with one worker: a key that comes again while it waits is looked at once.

Source: staging/src/k8s.io/client-go/util/workqueue/queue.go, v1.36
"""

from collections.abc import Callable

from simulations.engine.kernel.clock import MILLISECOND
from simulations.engine.kernel.loop import EventLoop, Steps

Key = tuple[str, str]
SYNC_DELAY = 8 * MILLISECOND


class KeyQueue:
    """`sync` gets each key with the record that caused the look."""

    def __init__(self, loop: EventLoop, sync: Callable[[Key, int], Steps[None]], name: str) -> None:
        self._loop = loop
        self._sync = sync
        self._name = name
        self._due: dict[Key, int] = {}
        self._works = False

    def add(self, key: Key, cause: int) -> None:
        """Look at the key soon."""
        self._due.setdefault(key, cause)
        if not self._works:
            self._works = True
            self._loop.after(SYNC_DELAY, self._start)

    def _start(self) -> None:
        self._loop.spawn(self._work(), self._name)

    def _work(self) -> Steps[None]:
        while self._due:
            key = next(iter(self._due))
            yield from self._sync(key, self._due.pop(key))
        self._works = False
