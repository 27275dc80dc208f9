"""Pods: an interned spec that equal Pods share, and the small object that changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from simulations.engine.api.labels import EMPTY_LABELS, Labels
from simulations.engine.api.scheduling import (
    HostPort,
    NodeAffinity,
    PodAffinity,
    Toleration,
    TopologySpreadConstraint,
)
from simulations.engine.kernel.clock import SimTime

PENDING: Final = "Pending"
RUNNING: Final = "Running"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"


@dataclass(frozen=True, slots=True)
class Condition:
    """A status condition; `status` is "True", "False" or "Unknown". `since` is its lastTransitionTime, which no comparison looks at."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    observed_generation: int = 0
    since: SimTime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ContainerStatus:
    """What the kubelet says of a container: how often it started again, why it waits, why and with what code it ended."""

    name: str
    restarts: int = 0
    waiting: str = ""
    terminated: str = ""
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class StatusDetails:
    """The parts of a Pod's status that few Pods have: `reason`, the QoS class, and what is said of each container."""

    reason: str = ""
    qos_class: str = ""
    containers: tuple[ContainerStatus, ...] = ()
    init_containers: tuple[ContainerStatus, ...] = ()
    ephemeral_containers: tuple[ContainerStatus, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The fields as the manifest has them."""


NO_DETAILS: Final = StatusDetails()


@dataclass(frozen=True, slots=True)
class OwnerReference:
    """Who owns an object; `controller` marks the managing one."""

    kind: str
    name: str
    uid: str
    controller: bool = False
    api_version: str = ""


@dataclass(frozen=True, slots=True)
class ClaimVolume:
    """A volume of a Pod that comes of a claim: one that is named, or (`ephemeral`) one that is made for the Pod, after this volume."""

    name: str
    ephemeral: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PodSpec:
    """Everything of a Pod's spec but `nodeName`, parsed once; Pods with the same content share one object.

    Compare and cache by identity or by `id` (unique in this process, depends on the order of creation: never data).
    Resources: `requests` is the effective request by resource in the scheduler's integers (milliCPU, bytes, counts), zeros left
    out; `nonzero_cpu`, `nonzero_memory` are what scoring counts (100m and 200Mi for a container that asks for nothing).
    `claims` are the claims that are named; `claim_volumes` all volumes that come of claims, in order; `inline_volumes` the volumes of the
    old kinds that a Node can have but once; `csi_drivers` those of volumes that live as long as the Pod.
    """

    id: int
    raw: dict[str, Any]
    requests: dict[str, int]
    nonzero_cpu: int
    nonzero_memory: int
    incoming_cpu: int
    incoming_memory: int
    node_selector: Labels = EMPTY_LABELS
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    images: tuple[str, ...] = ()
    image_volumes: tuple[str, ...] = ()
    container_count: int = 0
    scheduling_gates: tuple[str, ...] = ()
    priority: int = 0
    priority_class_name: str = ""
    preemption_policy: str = "PreemptLowerPriority"
    scheduler_name: str = "default-scheduler"
    grace_seconds: int = 30
    claims: tuple[str, ...] = ()
    claim_volumes: tuple[ClaimVolume, ...] = ()
    inline_volumes: tuple[Mapping[str, Any], ...] = ()
    csi_drivers: tuple[str, ...] = ()
    resource_claims: bool = False
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)
    """Derived values that plugins keep per spec (keys are theirs)."""


class Pod:
    """A Pod. Treat it as immutable: `replace` makes the changed copy, so a watcher's old object stays what it was.

    Times are SimTime (ns since T+0; before it negative), None when unset. `deletion_time` is the deletionTimestamp: when the
    grace ends; `deletion_grace` its seconds.
    """

    __slots__ = (
        "annotations", "conditions", "created", "deletion_grace", "deletion_time", "details", "finalizers", "generation", "labels",
        "name", "namespace", "node_name", "nominated_node_name", "owners", "phase", "resource_version", "spec", "start_time", "uid",
    )  # fmt: skip
    kind: Final = "Pod"

    def __init__(self, namespace: str, name: str, spec: PodSpec, *, uid: str = "", labels: Labels = EMPTY_LABELS) -> None:
        self.namespace = namespace
        self.name = name
        self.uid = uid
        self.labels = labels
        self.annotations: dict[str, str] = {}
        self.owners: tuple[OwnerReference, ...] = ()
        self.finalizers: tuple[str, ...] = ()
        self.spec = spec
        self.node_name = ""
        self.nominated_node_name = ""
        self.phase = PENDING
        self.conditions: tuple[Condition, ...] = ()
        self.details = NO_DETAILS
        self.start_time: SimTime | None = None
        self.created: SimTime = 0
        self.deletion_time: SimTime | None = None
        self.deletion_grace: int | None = None
        self.resource_version = 0
        self.generation = 1

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def priority(self) -> int:
        """The priority that admission gave it."""
        return self.spec.priority

    @property
    def terminating(self) -> bool:
        """Whether it has a deletionTimestamp."""
        return self.deletion_time is not None

    @property
    def terminal(self) -> bool:
        """Whether it ended: Succeeded or Failed."""
        return self.phase in (SUCCEEDED, FAILED)

    @property
    def controller(self) -> OwnerReference | None:
        """The managing owner, if any."""
        for owner in self.owners:
            if owner.controller:
                return owner
        return None

    def condition(self, condition_type: str) -> Condition | None:
        """The condition of this type."""
        for condition in self.conditions:
            if condition.type == condition_type:
                return condition
        return None

    def replace(self, **changes: Any) -> "Pod":
        """Return a copy with these attributes changed."""
        changed = self._copy()
        for name, value in changes.items():
            setattr(changed, name, value)
        return changed

    def _copy(self) -> "Pod":
        """Every attribute by name: pods are copied at each write, and a loop over their names takes several times as long."""
        copy = Pod.__new__(Pod)
        copy.annotations = self.annotations
        copy.conditions = self.conditions
        copy.created = self.created
        copy.deletion_grace = self.deletion_grace
        copy.deletion_time = self.deletion_time
        copy.details = self.details
        copy.finalizers = self.finalizers
        copy.generation = self.generation
        copy.labels = self.labels
        copy.name = self.name
        copy.namespace = self.namespace
        copy.node_name = self.node_name
        copy.nominated_node_name = self.nominated_node_name
        copy.owners = self.owners
        copy.phase = self.phase
        copy.resource_version = self.resource_version
        copy.spec = self.spec
        copy.start_time = self.start_time
        copy.uid = self.uid
        return copy

    def __repr__(self) -> str:
        return f"Pod({self.namespace}/{self.name}, {self.phase}, node={self.node_name or None}, priority={self.priority})"
