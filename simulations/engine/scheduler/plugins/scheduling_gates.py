"""SchedulingGates: a Pod with gates waits outside the queues.

Source: pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go, v1.36
"""

from collections.abc import Sequence

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.framework.events import Action, EventRegistration, pod_event
from simulations.engine.scheduler.framework.plugin import Plugin
from simulations.engine.scheduler.framework.status import Status, unresolvable


class SchedulingGates(Plugin):
    """PreEnqueue: all gates must be gone."""

    NAME = "SchedulingGates"

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Keep a gated Pod out."""
        if not pod.spec.scheduling_gates:
            return None
        return unresolvable(self.NAME, f"waiting for scheduling gates: [{' '.join(pod.spec.scheduling_gates)}]")

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Its own last gate was removed."""
        event = pod_event(Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (EventRegistration(event, lambda pod, _old, new: new.uid == pod.uid),)
