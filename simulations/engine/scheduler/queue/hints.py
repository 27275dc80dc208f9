"""Queueing hints: which events may make which rejected Pod schedulable.

Source: pkg/scheduler/backend/queue/scheduling_queue.go, isPodWorthRequeuing, v1.36
"""

from collections.abc import Mapping, Sequence

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.framework.events import ClusterEvent, EventRegistration, Resource
from simulations.engine.scheduler.queue.in_flight import Happened
from simulations.engine.scheduler.queue.queued_pod import QueuedPod


class Hints:
    """The registrations of one profile's plugins."""

    def __init__(self, registrations: Mapping[str, Sequence[EventRegistration]]) -> None:
        self._registrations = registrations

    def of_interest(self, event: ClusterEvent) -> bool:
        """Whether any plugin registered the event."""
        if event.resource is Resource.WILDCARD:
            return True
        return any(r.event.matches(event) for registered in self._registrations.values() for r in registered)

    def registered(self, plugin: str, event: ClusterEvent) -> bool:
        """Whether this plugin registered the event."""
        return any(r.event.matches(event) for r in self._registrations.get(plugin, ()))

    def worth_requeuing(self, queued: QueuedPod, happened: Happened) -> bool:
        """Whether the event may let the Pod fit: any rejecting plugin says so, or none rejected it."""
        if not concerns(happened, queued.pod):
            return False
        if not queued.rejecting or happened.event.resource is Resource.WILDCARD:
            return True
        for plugin in queued.rejecting:
            for registration in self._registrations.get(plugin, ()):
                if not registration.event.matches(happened.event):
                    continue
                if registration.hint is None or registration.hint(queued.pod, happened.old, happened.new):
                    return True
        return False


def concerns(happened: Happened, pod: Pod) -> bool:
    """Whether an event is meant for this Pod at all."""
    if happened.only_uid and happened.only_uid != pod.uid:
        return False
    return happened.at_most_priority is None or pod.priority <= happened.at_most_priority
