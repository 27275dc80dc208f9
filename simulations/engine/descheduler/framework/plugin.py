"""What a plugin of the descheduler is, and what it is given.

Source: pkg/framework/types/types.go, descheduler v0.36
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, runtime_checkable

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.descheduler.framework.cluster import ClusterView
from simulations.engine.descheduler.framework.node_fit import NodeFit
from simulations.engine.descheduler.framework.notes import Notes
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.loop import Steps


class Outcome(Enum):
    """How an eviction ended for the plugin that asked for it. TOTAL_LIMIT ends the plugin, NODE_LIMIT ends it for the pod's node; after
    NAMESPACE_LIMIT and FAILED it goes on with the next pod.
    """

    EVICTED = "Evicted"
    FAILED = "Failed"
    NODE_LIMIT = "NodeLimit"
    NAMESPACE_LIMIT = "NamespaceLimit"
    TOTAL_LIMIT = "TotalLimit"


Check = Callable[[Pod], str]
"""Says why a pod is not to be evicted; an empty text lets it pass."""


class Evictor(Protocol):
    """How plugins judge and evict pods: the profile's filters, which eviction itself does not ask again, and the call."""

    def filter(self, pod: Pod) -> str:
        """Why the Filter plugins protect the pod; empty where they do not."""

    def pre_eviction_filter(self, pod: Pod) -> str:
        """Why the PreEvictionFilter plugins hold the pod back; empty where they do not."""

    def evict(self, pod: Pod, strategy: str, why: str) -> Steps[Outcome]:
        """Evict the pod; `why` is a sentence for the records."""


@dataclass(slots=True)
class Handle:
    """What a plugin may use: the cluster as it is seen, NodeFit, the profile's evictor, the present time, and where it notes what it
    left alone.
    """

    view: ClusterView
    fit: NodeFit
    evictor: Evictor
    now: Callable[[], SimTime]
    stamp: Callable[[SimTime], SimTime]
    """A time in whole seconds, as metadata has it."""
    notes: Notes
    priority_of_class: Callable[[str], int]
    """The value of a PriorityClass. Raises: ScenarioError, there is none."""


@runtime_checkable
class DeschedulePlugin(Protocol):
    """Evicts pods that break a rule, one by one."""

    def deschedule(self, nodes: Sequence[Node]) -> Steps[None]:
        """Look at these nodes."""


@runtime_checkable
class BalancePlugin(Protocol):
    """Evicts pods so that groups of them spread better; runs after all Deschedule plugins."""

    def balance(self, nodes: Sequence[Node]) -> Steps[None]:
        """Look at these nodes."""


@runtime_checkable
class EvictorPlugin(Protocol):
    """Says which pods may be evicted at all."""

    def filter(self, pod: Pod) -> str:
        """Why the pod is protected; empty where it is not."""

    def pre_eviction_filter(self, pod: Pod) -> str:
        """Why the pod is held back just before it would be evicted; empty where it is not."""


AnyPlugin = Any
"""A plugin with the methods of one or more of the protocols above."""
