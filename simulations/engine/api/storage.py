"""Volumes and what is around them: claims, classes, and what CSI drivers say of Nodes and of free space.

Amounts of storage are nano-bytes, exact as quantities are. Status is read from `raw`, where status updates put it.

Source: staging/src/k8s.io/api/{core,storage}/v1/types.go; staging/src/k8s.io/component-helpers/storage/volume, v1.36
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from simulations.engine.api.labels import Labels
from simulations.engine.api.scheduling import NodeAffinity
from simulations.engine.api.selectors import LabelSelector
from simulations.engine.api.workloads import ApiObject

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
STORAGE_PROVISIONER: Final = "volume.kubernetes.io/storage-provisioner"
BETA_STORAGE_PROVISIONER: Final = "volume.beta.kubernetes.io/storage-provisioner"
CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
DEFAULT_CLASS: Final = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"
IMMEDIATE: Final = "Immediate"
READ_WRITE_ONCE_POD: Final = "ReadWriteOncePod"

PENDING: Final = "Pending"
AVAILABLE: Final = "Available"
BOUND: Final = "Bound"
RELEASED: Final = "Released"
LOST: Final = "Lost"


@dataclass(frozen=True, slots=True)
class ClaimRef:
    """The claim that a volume is, or is to be, bound to; without a uid the user wrote it."""

    namespace: str
    name: str
    uid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistentVolume(ApiObject):
    """v1 PersistentVolume; `csi` is (driver, handle) of a CSI volume."""

    kind: ClassVar[str] = "PersistentVolume"
    capacity: int = 0
    access_modes: tuple[str, ...] = ()
    storage_class: str = ""
    volume_mode: str = "Filesystem"
    reclaim_policy: str = "Retain"
    claim_ref: ClaimRef | None = None
    node_affinity: NodeAffinity | None = None
    attributes_class: str = ""
    csi: tuple[str, str] | None = None

    @property
    def phase(self) -> str:
        """Pending until the controller has seen it, then Available, Bound, Released or Failed."""
        return _phase(self)

    def reachable_from(self, labels: Labels) -> bool:
        """Whether its node affinity allows a Node of these labels; a Node's name counts for nothing here.

        Source: staging/src/k8s.io/component-helpers/storage/volume/helpers.go, CheckNodeAffinity, v1.36
        """
        return self.node_affinity is None or self.node_affinity.required_matches("", labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistentVolumeClaim(ApiObject):
    """v1 PersistentVolumeClaim; `request` is None where it asks for no amount, `storage_class` empty where it names none."""

    kind: ClassVar[str] = "PersistentVolumeClaim"
    request: int | None = None
    access_modes: tuple[str, ...] = ()
    storage_class: str = ""
    volume_mode: str = "Filesystem"
    volume_name: str = ""
    selector: LabelSelector | None = None
    attributes_class: str = ""

    @property
    def phase(self) -> str:
        """Pending, Bound or Lost."""
        return _phase(self)

    @property
    def bound(self) -> bool:
        """Whether the controller has finished binding it to its volume."""
        return bool(self.volume_name) and BIND_COMPLETED in self.annotations

    @property
    def selected_node(self) -> str | None:
        """The Node that the scheduler chose for a volume that is to be provisioned."""
        return self.annotations.get(SELECTED_NODE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageClass(ApiObject):
    """storage.k8s.io/v1 StorageClass; `allowed_topologies` are terms of (key, values), any of which may hold."""

    kind: ClassVar[str] = "StorageClass"
    provisioner: str = ""
    binding_mode: str = IMMEDIATE
    reclaim_policy: str = "Delete"
    allowed_topologies: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...] = ()

    @property
    def waits(self) -> bool:
        """Whether its claims are bound when a Pod that uses them is scheduled."""
        return self.binding_mode == WAIT_FOR_FIRST_CONSUMER

    @property
    def default(self) -> bool:
        """Whether claims that name no class get this one."""
        return any(self.annotations.get(name) == "true" for name in DEFAULT_CLASS)

    def allows(self, labels: Mapping[str, str]) -> bool:
        """Whether a volume may be provisioned for a Node of these labels.

        Source: pkg/apis/core/v1/helper/helpers.go, MatchTopologySelectorTerms, v1.36
        """
        terms = self.allowed_topologies
        return not terms or any(term and all(labels.get(key) in values for key, values in term) for term in terms)


@dataclass(frozen=True, slots=True)
class NodeDriver:
    """A CSI driver on a Node: how many volumes it can attach there (None: no limit is known), the labels that say where it is."""

    count: int | None = None
    topology_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CSINode(ApiObject):
    """storage.k8s.io/v1 CSINode: the drivers of the Node of the same name."""

    kind: ClassVar[str] = "CSINode"
    drivers: dict[str, NodeDriver] = field(default_factory=dict)

    @property
    def limits(self) -> dict[str, int]:
        """How many volumes each driver can attach, for those that say so."""
        return {name: driver.count for name, driver in self.drivers.items() if driver.count is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class CSIDriver(ApiObject):
    """storage.k8s.io/v1 CSIDriver; `storage_capacity`: the scheduler is to look at how much room there is."""

    kind: ClassVar[str] = "CSIDriver"
    storage_capacity: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CSIStorageCapacity(ApiObject):
    """storage.k8s.io/v1 CSIStorageCapacity: the room of a class where `topology` selects; both may be unknown (None).

    `limit` is the largest volume, or else the capacity.
    """

    kind: ClassVar[str] = "CSIStorageCapacity"
    storage_class: str = ""
    topology: LabelSelector | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeAttachment(ApiObject):
    """storage.k8s.io/v1 VolumeAttachment: a volume that is, or is being, attached to a Node."""

    kind: ClassVar[str] = "VolumeAttachment"
    attacher: str = ""
    node_name: str = ""
    volume_name: str = ""


StorageObject = (
    PersistentVolume | PersistentVolumeClaim | StorageClass | CSINode | CSIDriver | CSIStorageCapacity | VolumeAttachment
)
STORAGE_KINDS: Final = tuple(cls.kind for cls in StorageObject.__args__)
"""The kinds, in the order in which a scheduler lists them."""


def _phase(item: ApiObject) -> str:
    status = item.raw.get("status")
    phase = status.get("phase") if isinstance(status, Mapping) else None
    return str(phase or PENDING)
