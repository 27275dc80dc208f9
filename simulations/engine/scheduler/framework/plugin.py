"""The plugin interface: one base class, an extension point for each method.

A plugin overrides the points it takes part in. Filter and Score have a rule for one Node, which is the specification, and may have
one over columns, which must answer the same (a test holds them to it). What a plugin works out in PreFilter or PreScore it keeps in
the `CycleState`, never on itself.

Source: staging/src/k8s.io/kube-scheduler/framework/interface.go, v1.36
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simulations.engine.api.pod import Pod
from simulations.engine.cluster.client import Client
from simulations.engine.kernel.loop import Steps
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.events import EventRegistration
from simulations.engine.scheduler.framework.status import Status

MAX_NODE_SCORE = 100


class Scope(IntEnum):
    """What an answer for one Node depends on, beside the Pod's spec. The narrower, the longer it is remembered."""

    NODE = 0
    """The Node itself."""
    NODE_AND_PODS = 1
    """The Node and the Pods on it."""
    NODES = 2
    """All Nodes, but no Pods."""
    CLUSTER = 3
    """All Nodes and Pods."""


class CycleState:
    """What plugins remember between the points of one cycle, by plugin name; and which plugins skip Filter or Score."""

    __slots__ = ("data", "filters", "followers", "pod_filters", "skip_filter", "skip_score")

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.filters: list[Plugin] | None = None
        self.pod_filters: list[Plugin] = []
        self.followers: list[Plugin] = []
        self.skip_filter: list[str] = []
        self.skip_score: list[str] = []


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """What PreFilter answers: a status (SKIP: its Filter is not run) and, when it knows them, the only Nodes that can fit."""

    status: Status | None = None
    nodes: tuple[str, ...] | None = None


@dataclass(slots=True)
class FilterColumn:
    """Filter over all rows: `codes[row]` is 0 where the Node passes, else 1 + the index of its status in `statuses`."""

    codes: NDArray[np.int16]
    statuses: list[Status] = field(default_factory=list)

    @staticmethod
    def rejecting(mask: NDArray[np.bool_], status: Status) -> "FilterColumn":
        """All Nodes of the mask are rejected with one status."""
        return FilterColumn(mask.astype(np.int16), [status])


class Plugin:
    """Base of all plugins. Methods that a plugin does not override take no part in the cycle."""

    NAME: ClassVar[str]
    FILTER_SCOPE: ClassVar[Scope] = Scope.CLUSTER
    """What Filter's answer for a Node depends on, beside the Pod's spec."""
    SCORE_SCOPE: ClassVar[Scope] = Scope.CLUSTER
    """The same for the raw score."""

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """May the Pod enter activeQ? A status keeps it gated. Called whenever it would enter."""
        raise NotImplementedError

    def events_to_register(self) -> Sequence[EventRegistration]:
        """The events that may make a Pod schedulable which this plugin rejected."""
        return ()

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult | None:
        """Called once per cycle before Filter."""
        raise NotImplementedError

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Does the Pod fit on this Node? None: yes."""
        raise NotImplementedError

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """Filter over all rows at once; None: all pass. Rows without a Node may hold anything."""
        raise NotImplementedError

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, info: NodeInfo) -> None:
        """In a what-if of this cycle, `added` comes to the Node: bring the PreFilter state up to date."""

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, info: NodeInfo) -> None:
        """In a what-if of this cycle, `removed` leaves the Node: bring the PreFilter state up to date."""

    def pre_score(self, state: CycleState, pod: Pod, rows: Ints) -> Status | None:
        """Called once before Score with the rows of the feasible Nodes; SKIP: no Score."""
        return None

    def score(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """The raw score of one Node."""
        raise NotImplementedError

    def score_columns(self, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        """The raw scores of these rows, in their order."""
        raise NotImplementedError

    def normalize(self, state: CycleState, scores: Ints) -> Ints:
        """Bring the raw scores of the feasible Nodes into 0..100; the default leaves them as they are."""
        return scores

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """The Pod was assumed on a Node: assume what goes with it. A status sends the Pod back."""
        raise NotImplementedError

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Take back what `reserve` did; called for every Reserve plugin, those that did nothing included."""

    def pre_bind_work(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        """Whether `pre_bind` will have something to do (PreBindPreFlight)."""
        return False

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str, cause: int) -> Steps[Status | None]:
        """What has to be done before the Pod is bound, in simulated time. A status sends the Pod back."""
        raise NotImplementedError


def takes_part(plugin: Plugin, point: str) -> bool:
    """Whether the plugin overrides the extension point."""
    return getattr(type(plugin), point) is not getattr(Plugin, point)


@dataclass(slots=True)
class Handle:
    """What a plugin may reach: the cache with its listers, the feature gates, and (where there is an API server) a client."""

    cache: SchedulerCache
    feature_gates: dict[str, bool] = field(default_factory=dict)
    preempting: Callable[[Pod], bool] | None = None
    """Set by the preemption executor: whether a Pod's preemption is under way (see DefaultPreemption.pre_enqueue)."""
    client: Client | None = None
