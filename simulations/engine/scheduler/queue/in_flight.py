"""Events that happen while a Pod is being scheduled: they may wake it the moment it comes back.

Source: pkg/scheduler/backend/queue/active_queue.go, v1.36
"""

from dataclasses import dataclass
from typing import Any

from simulations.engine.scheduler.framework.events import ClusterEvent


@dataclass(frozen=True, slots=True)
class Happened:
    """A cluster event with the objects before and after, the record that made it, and the one Pod it is for (empty: all)."""

    event: ClusterEvent
    old: Any
    new: Any
    cause: int
    only_uid: str = ""
    at_most_priority: int | None = None
    """Only Pods of this or a lower priority are concerned; None: all."""


class InFlightEvents:
    """Which Pods are in flight, and the events since each was popped."""

    def __init__(self) -> None:
        self._events: list[Happened] = []
        self._since: dict[str, int] = {}

    def __contains__(self, uid: str) -> bool:
        return uid in self._since

    def __len__(self) -> int:
        return len(self._since)

    def start(self, uid: str) -> None:
        """A Pod was popped."""
        self._since[uid] = len(self._events)

    def add(self, happened: Happened) -> None:
        """Remember an event while any Pod is in flight."""
        if self._since:
            self._events.append(happened)

    def finish(self, uid: str) -> list[Happened]:
        """The Pod is done or came back; return the events since it was popped."""
        since = self._since.pop(uid, None)
        if since is None:
            return []
        events = self._events[since:]
        if not self._since:
            self._events.clear()
        return events
