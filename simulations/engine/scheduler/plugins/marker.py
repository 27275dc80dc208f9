"""Default plugins that decide nothing here, but have a name and a place in every profile.

PrioritySort orders activeQ (see `scheduler.queue`), DefaultBinder binds (see `scheduler.binding`). The others look at resource claims
or declared features, which are not modelled: Pods with them are scheduled as if they had none, and the run states it. Like upstream's,
they skip Filter for Pods that have none of these.
"""

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.framework.plugin import CycleState, Plugin, PreFilterResult
from simulations.engine.scheduler.framework.status import SKIP


class PrioritySort(Plugin):
    """QueueSort: higher priority first, then the longer wait."""

    NAME = "PrioritySort"


class DefaultBinder(Plugin):
    """Bind: POST pods/binding."""

    NAME = "DefaultBinder"


class Unmodelled(Plugin):
    """A plugin that takes part in PreFilter alone, to skip."""

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult | None:
        """Skip Filter."""
        return PreFilterResult(SKIP)


class DynamicResources(Unmodelled):
    """Resource claims are not modelled; its place in failure messages is (`no new claims to deallocate`)."""

    NAME = "DynamicResources"


class NodeDeclaredFeatures(Unmodelled):
    """Declared features are not modelled."""

    NAME = "NodeDeclaredFeatures"
