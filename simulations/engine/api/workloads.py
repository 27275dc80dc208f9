"""The objects around Pods and Nodes: budgets, priority classes, what owns Pods, Services, Namespaces.

All are treated as immutable; `dataclasses.replace` makes a changed copy. Times are SimTime.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from simulations.engine.api.labels import EMPTY_LABELS, Labels
from simulations.engine.api.pod import Condition, OwnerReference
from simulations.engine.api.selectors import LabelSelector
from simulations.engine.kernel.clock import SimTime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiObject:
    """What every object has. `raw` is the manifest that it was read from."""

    kind: ClassVar[str] = ""
    name: str
    namespace: str = ""
    uid: str = ""
    labels: Labels = EMPTY_LABELS
    annotations: dict[str, str] = field(default_factory=dict)
    owners: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    created: SimTime = 0
    deletion_time: SimTime | None = None
    resource_version: int = 0
    raw: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def terminating(self) -> bool:
        """Whether it has a deletionTimestamp: it waits for its finalizers (a Namespace for its content)."""
        return self.deletion_time is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClass(ApiObject):
    """scheduling.k8s.io/v1 PriorityClass."""

    kind: ClassVar[str] = "PriorityClass"
    value: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodDisruptionBudget(ApiObject):
    """policy/v1 PodDisruptionBudget; `min_available`, `max_unavailable` as written (a number or a percentage).

    `disruptions_allowed` is None when the object has no status. `disrupted_pods` are the Pods, by name, whose eviction was granted and
    that the disruption controller has not seen go yet, with when it was granted.
    """

    kind: ClassVar[str] = "PodDisruptionBudget"
    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str = ""
    generation: int = 1
    observed_generation: int = 0
    disruptions_allowed: int | None = None
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    disrupted_pods: Mapping[str, SimTime] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()

    def selects(self, namespace: str, labels: Labels) -> bool:
        """Whether it covers Pods of this namespace with these labels; without a selector none, with `{}` all of the namespace."""
        return namespace == self.namespace and self.selector is not None and self.selector.matches(labels)

    def condition(self, condition_type: str) -> Condition | None:
        """The condition of this type."""
        return next((c for c in self.conditions if c.type == condition_type), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload(ApiObject):
    """An object that makes Pods from a template (or from ReplicaSets): replicas wanted, selector, template as written."""

    replicas: int = 1
    selector: LabelSelector | None = None
    template: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSet(Workload):
    """apps/v1 ReplicaSet."""

    kind: ClassVar[str] = "ReplicaSet"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationController(Workload):
    """v1 ReplicationController."""

    kind: ClassVar[str] = "ReplicationController"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment(Workload):
    """apps/v1 Deployment."""

    kind: ClassVar[str] = "Deployment"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatefulSet(Workload):
    """apps/v1 StatefulSet."""

    kind: ClassVar[str] = "StatefulSet"


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSet(Workload):
    """apps/v1 DaemonSet."""

    kind: ClassVar[str] = "DaemonSet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Workload):
    """batch/v1 Job; `replicas` is its parallelism."""

    kind: ClassVar[str] = "Job"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceQuota(ApiObject):
    """v1 ResourceQuota: `hard` by the name of what is counted, in nano units; `scopes` as `scopeSelector` writes them."""

    kind: ClassVar[str] = "ResourceQuota"
    hard: dict[str, int] = field(default_factory=dict)
    scopes: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRange(ApiObject):
    """v1 LimitRange: its items for containers and for whole Pods, as written."""

    kind: ClassVar[str] = "LimitRange"
    containers: tuple[dict[str, Any], ...] = ()
    pods: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeClass(ApiObject):
    """node.k8s.io/v1 RuntimeClass: the overhead of its Pods, and where they run, as written."""

    kind: ClassVar[str] = "RuntimeClass"
    overhead: dict[str, Any] = field(default_factory=dict)
    node_selector: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(ApiObject):
    """v1 Service; `selector` None when it has none."""

    kind: ClassVar[str] = "Service"
    selector: LabelSelector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace(ApiObject):
    """v1 Namespace; its labels hold kubernetes.io/metadata.name."""

    kind: ClassVar[str] = "Namespace"


AnyWorkload = ReplicaSet | ReplicationController | Deployment | StatefulSet | DaemonSet | Job
