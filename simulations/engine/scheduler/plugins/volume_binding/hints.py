"""Which events may help a Pod that VolumeBinding rejected.

Source: pkg/scheduler/framework/plugins/volumebinding/volume_binding.go, EventsToRegister, v1.36
"""

from typing import Final

from simulations.engine.api.pod import Pod
from simulations.engine.api.storage import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
from simulations.engine.scheduler.framework.claims import uses
from simulations.engine.scheduler.framework.events import Action, ClusterEvent, EventRegistration, Resource, node_event

_CHANGED: Final = Action.ADD | Action.UPDATE
_MIGRATED: Final = "storage.alpha.kubernetes.io/migrated-plugins"


def _class(_pod: Pod, old: StorageClass | None, new: StorageClass) -> bool:
    return old is None or old.allowed_topologies != new.allowed_topologies


def _claim(pod: Pod, _old: object, new: PersistentVolumeClaim) -> bool:
    return uses(pod, new)


def _csi_node(_pod: Pod, old: CSINode | None, new: CSINode) -> bool:
    return old is None or old.annotations.get(_MIGRATED) != new.annotations.get(_MIGRATED)


def _driver(pod: Pod, old: CSIDriver, new: CSIDriver) -> bool:
    return new.name in pod.spec.csi_drivers and old.storage_capacity and not new.storage_capacity


def _capacity(_pod: Pod, old: CSIStorageCapacity | None, new: CSIStorageCapacity) -> bool:
    return old is None or (new.limit is not None and (old.limit is None or new.limit > old.limit))


REGISTRATIONS: Final = (
    EventRegistration(ClusterEvent(Resource.STORAGE_CLASS, _CHANGED), _class),
    EventRegistration(ClusterEvent(Resource.CLAIM, _CHANGED), _claim),
    EventRegistration(ClusterEvent(Resource.VOLUME, _CHANGED)),
    EventRegistration(node_event(Action.ADD | Action.UPDATE_NODE_LABEL)),
    EventRegistration(ClusterEvent(Resource.CSI_NODE, _CHANGED), _csi_node),
    EventRegistration(ClusterEvent(Resource.CSI_DRIVER, Action.UPDATE), _driver),
    EventRegistration(ClusterEvent(Resource.STORAGE_CAPACITY, _CHANGED), _capacity),
)
