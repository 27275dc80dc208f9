"""What a Pod asks of its place: taints and tolerations, node and Pod affinity, topology spread.

Source: staging/src/k8s.io/api/core/v1/{types,toleration}.go, v1.36
"""

from dataclasses import dataclass
from typing import Final

from simulations.engine.api.labels import Labels
from simulations.engine.api.selectors import LabelSelector, NodeSelectorTerm, parse_int64

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"
TAINT_EFFECTS: Final = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
UNSCHEDULABLE_TAINT_KEY: Final = "node.kubernetes.io/unschedulable"
HOSTNAME_LABEL: Final = "kubernetes.io/hostname"
ZONE_LABEL: Final = "topology.kubernetes.io/zone"
REGION_LABEL: Final = "topology.kubernetes.io/region"


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a Node."""

    key: str
    value: str = ""
    effect: str = NO_SCHEDULE


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration of a Pod; an empty key with Exists tolerates every key, an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def tolerates(self, taint: Taint, comparison: bool = False) -> bool:
        """Whether the taint is tolerated; `comparison` is the gate TaintTolerationComparisonOperators (Gt, Lt).

        Source: staging/src/k8s.io/api/core/v1/toleration.go, ToleratesTaint, v1.36
        """
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator in ("", "Equal"):
            return self.value == taint.value
        if self.operator == "Exists":
            return True
        return comparison and self._compares(taint.value)

    def _compares(self, taint_value: str) -> bool:
        theirs, ours = parse_int64(taint_value), parse_int64(self.value)
        if theirs is None or ours is None or str(theirs) != taint_value or str(ours) != self.value:
            return False
        return theirs < ours if self.operator == "Lt" else theirs > ours


def tolerated(tolerations: tuple[Toleration, ...], taint: Taint) -> bool:
    """Whether any toleration tolerates the taint."""
    return any(t.tolerates(taint) for t in tolerations)


@dataclass(frozen=True, slots=True)
class WeightedNodeTerm:
    """A preferred node affinity term."""

    weight: int
    term: NodeSelectorTerm


@dataclass(frozen=True, slots=True)
class NodeAffinity:
    """`required` is None when unset; with an empty tuple nothing matches."""

    required: tuple[NodeSelectorTerm, ...] | None = None
    preferred: tuple[WeightedNodeTerm, ...] = ()

    def required_matches(self, name: str, labels: Labels) -> bool:
        """Whether one of the required terms matches, or none is set."""
        return self.required is None or any(t.matches(name, labels) for t in self.required)


@dataclass(frozen=True, slots=True)
class PodAffinityTerm:
    """One term of Pod affinity or anti-affinity, with matchLabelKeys already merged and the own namespace already filled in.

    `selector` None matches nothing; `namespace_selector` None means `namespaces` alone.
    """

    topology_key: str
    selector: LabelSelector | None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None

    def selects_namespace(self, namespace: str, namespace_labels: Labels) -> bool:
        """Whether Pods of a namespace with these labels are meant."""
        if namespace in self.namespaces:
            return True
        return self.namespace_selector is not None and self.namespace_selector.matches(namespace_labels)

    def matches(self, namespace: str, namespace_labels: Labels, pod_labels: Labels) -> bool:
        """Whether a Pod in this namespace with these labels is meant."""
        if self.selector is None or not self.selects_namespace(namespace, namespace_labels):
            return False
        return self.selector.matches(pod_labels)


@dataclass(frozen=True, slots=True)
class WeightedPodTerm:
    """A preferred Pod affinity or anti-affinity term."""

    weight: int
    term: PodAffinityTerm


@dataclass(frozen=True, slots=True)
class PodAffinity:
    """Pod affinity or anti-affinity."""

    required: tuple[PodAffinityTerm, ...] = ()
    preferred: tuple[WeightedPodTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class TopologySpreadConstraint:
    """One spread constraint; `selector` has matchLabelKeys merged and is None when the manifest has none (matches nothing)."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    selector: LabelSelector | None
    min_domains: int = 1
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"

    @property
    def hard(self) -> bool:
        """Whether the constraint filters (DoNotSchedule)."""
        return self.when_unsatisfiable == "DoNotSchedule"


@dataclass(frozen=True, slots=True)
class HostPort:
    """A port of the node that a container asks for."""

    ip: str
    protocol: str
    port: int

    def conflicts(self, other: "HostPort") -> bool:
        """Whether both cannot be on one node: same protocol and port, and the same address or one of them any (0.0.0.0)."""
        if self.port != other.port or self.protocol != other.protocol:
            return False
        return self.ip == other.ip or "0.0.0.0" in (self.ip, other.ip)  # noqa: S104  # an address in a manifest
