"""DefaultPreemption: makes room by preempting Pods of lower priority.

Source: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go, v1.36
"""

from collections.abc import Sequence
from dataclasses import dataclass

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.framework.events import Action, EventRegistration, pod_event
from simulations.engine.scheduler.framework.plugin import Handle, Plugin
from simulations.engine.scheduler.framework.status import Status, unresolvable


@dataclass(frozen=True, slots=True)
class DefaultPreemptionArgs:
    """How many candidates the dry run looks for: a percentage of the Nodes, and at least this many."""

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100


class DefaultPreemption(Plugin):
    """PreEnqueue keeps a preemptor out while its preemption is under way; PostFilter itself is `scheduler.preemption`."""

    NAME = "DefaultPreemption"

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        self.args = args
        self.handle = handle

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Keep the preemptor gated until the last victim's deletion began."""
        preempting = self.handle.preempting
        if preempting is not None and preempting(pod):
            return unresolvable(self.NAME, "waiting for the preemption for this pod to be finished")
        return None

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Deletions of Pods, so that a gated preemptor is looked at again; they never queue a Pod by themselves."""
        return (EventRegistration(pod_event(Action.DELETE), lambda _pod, _old, _new: False),)
