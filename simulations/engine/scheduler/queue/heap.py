"""A heap of queued Pods from which any can be taken out."""

import heapq
from collections.abc import Callable, Iterator
from typing import Any

from simulations.engine.scheduler.queue.queued_pod import QueuedPod


class PodHeap:
    """Queued Pods by uid, smallest key first; keys must not change while a Pod is in it."""

    def __init__(self, key: Callable[[QueuedPod], Any]) -> None:
        self._key = key
        self._heap: list[tuple[Any, int, QueuedPod]] = []
        self._pods: dict[str, QueuedPod] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter(self._pods.values())

    def get(self, uid: str) -> QueuedPod | None:
        """The Pod with this uid."""
        return self._pods.get(uid)

    def push(self, queued: QueuedPod) -> None:
        """Put a Pod in."""
        self._pods[queued.pod.uid] = queued
        heapq.heappush(self._heap, (self._key(queued), queued.order, queued))

    def remove(self, uid: str) -> QueuedPod | None:
        """Take a Pod out; its place in the heap goes when it comes to the top."""
        return self._pods.pop(uid, None)

    def peek(self) -> QueuedPod | None:
        """The first Pod."""
        while self._heap:
            key, _order, queued = self._heap[0]
            if self._pods.get(queued.pod.uid) is queued and self._key(queued) == key:
                return queued
            heapq.heappop(self._heap)
        return None

    def pop(self) -> QueuedPod | None:
        """Take the first Pod out."""
        queued = self.peek()
        if queued is not None:
            heapq.heappop(self._heap)
            del self._pods[queued.pod.uid]
        return queued
