"""Queueing hints: which events may make which rejected Pod schedulable.

Source: pkg/scheduler/backend/queue/scheduling_queue.go, isPodWorthRequeuing, v1.36
"""

from collections.abc import Mapping, Sequence, Set

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.framework.events import ClusterEvent, EventRegistration, Resource
from simulations.engine.scheduler.queue.in_flight import Happened
from simulations.engine.scheduler.queue.queued_pod import QueuedPod


class Hints:
    """The registrations of one profile's plugins."""

    def __init__(self, registrations: Mapping[str, Sequence[EventRegistration]]) -> None:
        self._registrations = registrations
        self._matching: dict[ClusterEvent, dict[str, list[EventRegistration]]] = {}

    def of_interest(self, event: ClusterEvent) -> bool:
        """Whether any plugin registered the event."""
        return event.resource is Resource.WILDCARD or bool(self._of(event))

    def registered(self, plugin: str, event: ClusterEvent) -> bool:
        """Whether this plugin registered the event."""
        return plugin in self._of(event)

    def plugins(self, event: ClusterEvent) -> Set[str]:
        """The plugins that registered the event."""
        return self._of(event).keys()

    def _of(self, event: ClusterEvent) -> dict[str, list[EventRegistration]]:
        """The registrations that cover the event, by plugin; there are few different events, so they are kept."""
        found = self._matching.get(event)
        if found is None:
            matching = {name: [r for r in all_of if r.event.matches(event)] for name, all_of in self._registrations.items()}
            found = self._matching[event] = {name: some for name, some in matching.items() if some}
        return found

    def worth_requeuing(self, queued: QueuedPod, happened: Happened) -> bool:
        """Whether the event may let the Pod fit: any rejecting plugin says so, or none rejected it."""
        if not concerns(happened, queued.pod):
            return False
        if not queued.rejecting or happened.event.resource is Resource.WILDCARD:
            return True
        registered = self._of(happened.event)
        for plugin in queued.rejecting:
            for registration in registered.get(plugin, ()):
                if registration.hint is None or registration.hint(queued.pod, happened.old, happened.new):
                    return True
        return False


def concerns(happened: Happened, pod: Pod) -> bool:
    """Whether an event is meant for this Pod at all."""
    if happened.only_uid and happened.only_uid != pod.uid:
        return False
    return happened.at_most_priority is None or pod.priority <= happened.at_most_priority
