"""VolumeZone: Pods follow the zone and region labels of their volumes.

Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go; staging/src/k8s.io/cloud-provider/volume/helpers/zones.go, v1.36
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from simulations.engine.api.labels import Labels
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import REGION_LABEL, ZONE_LABEL
from simulations.engine.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from simulations.engine.scheduler.cache.columns import ABSENT, Columns
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.claims import no_claim
from simulations.engine.scheduler.framework.events import Action, ClusterEvent, EventRegistration, Resource, node_event
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Handle, Plugin, PreFilterResult, Scope
from simulations.engine.scheduler.framework.status import SKIP, Status, unresolvable

NAME: Final = "VolumeZone"
_BETA: Final = {
    "failure-domain.beta.kubernetes.io/zone": ZONE_LABEL,
    "failure-domain.beta.kubernetes.io/region": REGION_LABEL,
}
TOPOLOGY_LABELS: Final = (*_BETA, ZONE_LABEL, REGION_LABEL)
_CONFLICT: Final = unresolvable(NAME, "node(s) had no available volume zone")
_SKIPPED: Final = PreFilterResult(SKIP)
Topology = tuple[str, tuple[str, ...]]
"""A label and the values that it may have."""


class VolumeZone(Plugin):
    """Nodes without any of the labels take every volume."""

    NAME = NAME
    FILTER_SCOPE = Scope.CLUSTER

    def __init__(self, handle: Handle) -> None:
        self._cache = handle.cache

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A class that waits comes; Nodes come or get other labels; its claims; volumes that come or move."""
        return (
            EventRegistration(ClusterEvent(Resource.STORAGE_CLASS, Action.ADD), _waits),
            EventRegistration(node_event(Action.ADD | Action.UPDATE_NODE_LABEL)),
            EventRegistration(ClusterEvent(Resource.CLAIM, Action.ADD | Action.UPDATE), _named),
            EventRegistration(ClusterEvent(Resource.VOLUME, Action.ADD | Action.UPDATE), _moved),
        )

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult | None:
        """Find where the Pod's bound volumes are."""
        found: list[Topology] = []
        for name in pod.spec.claims:
            topologies = self._of_claim(pod, name)
            if isinstance(topologies, str):
                return PreFilterResult(unresolvable(NAME, topologies))
            found += topologies
        if not found:
            return _SKIPPED
        state.data[NAME] = found
        return None

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Every label of every volume must have the Node's value."""
        labels = info.node.labels
        if not any(key in labels for key in TOPOLOGY_LABELS):
            return None
        fits = all(_value(labels, key) in values for key, values in state.data[NAME])
        return None if fits else _CONFLICT

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """The same over label columns."""
        labelled = np.zeros(len(columns.valid), dtype=np.bool_)
        for key in TOPOLOGY_LABELS:
            labelled |= columns.label(key).ids != ABSENT
        wrong = np.zeros(len(columns.valid), dtype=np.bool_)
        for key, values in state.data[NAME]:
            own = columns.label(key)
            fits = np.array([value in values for value in own.values], dtype=np.bool_)[own.ids]
            if key in _BETA:
                later = columns.label(_BETA[key])
                fits_later = np.array([value in values for value in later.values], dtype=np.bool_)[later.ids]
                fits = np.where(own.ids == ABSENT, fits_later, fits)
            wrong |= ~fits
        return FilterColumn.rejecting(labelled & wrong & columns.valid, _CONFLICT)

    def _of_claim(self, pod: Pod, name: str) -> list[Topology] | str:
        """Where a claim's volume is, nowhere in particular while it waits; or why the Pod cannot be scheduled."""
        volumes = self._cache.volumes
        claim = volumes.claims.seen((pod.namespace, name))
        if not name:
            return "PersistentVolumeClaim had no name"
        if claim is None:
            return no_claim(name)
        if claim.volume_name:
            volume = volumes.volumes.seen(("", claim.volume_name))
            return f'persistentvolume "{claim.volume_name}" not found' if volume is None else _topologies(volume)
        if not claim.storage_class:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        found = volumes.classes.get(claim.storage_class)
        if found is None:
            return f'storageclass.storage.k8s.io "{claim.storage_class}" not found'
        return [] if found.waits else "PersistentVolume had no name"


def _topologies(volume: PersistentVolume) -> list[Topology]:
    """The topology labels of a volume; one that names no zone, or an empty one, is left out."""
    found = []
    for key in TOPOLOGY_LABELS:
        values = tuple(part.strip() for part in volume.labels[key].split("__")) if key in volume.labels else ()
        if values and all(values):
            found.append((key, values))
    return found


def _value(labels: Labels, key: str) -> str | None:
    own = labels.get(key)
    return labels.get(_BETA[key]) if own is None and key in _BETA else own


def _waits(_pod: Pod, _old: object, new: StorageClass) -> bool:
    return new.waits


def _named(pod: Pod, _old: object, new: PersistentVolumeClaim) -> bool:
    return new.namespace == pod.namespace and new.name in pod.spec.claims


def _moved(_pod: Pod, old: PersistentVolume | None, new: PersistentVolume) -> bool:
    return old is None or _topologies(old) != _topologies(new)
