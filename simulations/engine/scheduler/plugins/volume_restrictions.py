"""VolumeRestrictions: disks that a Node can have but once, and claims that one Pod alone may use.

Source: pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go, v1.36
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.api.storage import READ_WRITE_ONCE_POD, PersistentVolumeClaim
from simulations.engine.scheduler.cache.columns import Columns
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.claims import no_claim
from simulations.engine.scheduler.framework.events import Action, ClusterEvent, EventRegistration, Resource, node_event, pod_event
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Handle, Plugin, PreFilterResult, Scope
from simulations.engine.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable

NAME: Final = "VolumeRestrictions"
_DISK: Final = unschedulable(NAME, "node(s) had no available disk")
_IN_USE: Final = unschedulable(
    NAME,
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
)
_SKIPPED: Final = PreFilterResult(SKIP)
Volume = Mapping[str, Any]


@dataclass(slots=True)
class _State:
    """The Pod's claims that one Pod alone may use, and how many times Pods on Nodes name them."""

    once: tuple[str, ...]
    references: int


class VolumeRestrictions(Plugin):
    """A claim with ReadWriteOncePod that is in use rejects every Node; preemption of its user helps."""

    NAME = NAME
    FILTER_SCOPE = Scope.CLUSTER

    def __init__(self, handle: Handle) -> None:
        self._cache = handle.cache

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A Pod with one of its disks or claims goes, a Node comes, one of its claims comes."""
        return (
            EventRegistration(pod_event(Action.DELETE), _frees),
            EventRegistration(node_event(Action.ADD)),
            EventRegistration(ClusterEvent(Resource.CLAIM, Action.ADD), _named),
        )

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult | None:
        """Look up the claims; without disks and claims in use there is nothing to do."""
        spec, volumes = pod.spec, self._cache.volumes
        if not spec.claims and not spec.inline_volumes:
            return _SKIPPED
        once = []
        for name in dict.fromkeys(spec.claims):
            claim = volumes.claims.seen((pod.namespace, name))
            if claim is None:
                return PreFilterResult(unresolvable(NAME, no_claim(name)))
            if READ_WRITE_ONCE_POD in claim.access_modes:
                once.append(name)
        references = sum(1 for name in once if volumes.in_use((pod.namespace, name)))
        if not spec.inline_volumes and not references:
            return _SKIPPED
        state.data[NAME] = _State(tuple(once), references)
        return None

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Disks first, then claims."""
        found: _State = state.data[NAME]
        if pod.spec.inline_volumes and any(_conflict(pod, other) for other in info.pods):
            return _DISK
        return _IN_USE if found.references > 0 else None

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """The Nodes whose Pods have its disks, and all where a claim is in use."""
        found: _State = state.data[NAME]
        codes = np.zeros(len(columns.valid), dtype=np.int16)
        if found.references > 0:
            codes[columns.valid] = 2
        if pod.spec.inline_volumes:
            for info in self._cache.infos.values():
                if any(_conflict(pod, other) for other in info.pods):
                    codes[info.row] = 1
        return FilterColumn(codes, [_DISK, _IN_USE])

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, info: NodeInfo) -> None:
        """Count the references of one more Pod."""
        found: _State = state.data[NAME]
        found.references += _references(found, added)

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, info: NodeInfo) -> None:
        """Count the references of a Pod less."""
        found: _State = state.data[NAME]
        found.references -= _references(found, removed)


def _references(state: _State, pod: Pod) -> int:
    """Upstream compares names alone here: a claim of the same name in another namespace counts too."""
    return sum(1 for name in pod.spec.claims if name in state.once)


def _conflict(pod: Pod, other: Pod) -> bool:
    return any(_same_disk(ours, theirs) for ours in pod.spec.inline_volumes for theirs in other.spec.inline_volumes)


def _same_disk(ours: Volume, theirs: Volume) -> bool:
    """Whether two volumes are one disk that both may not have."""
    for kind, same in _SAME.items():
        one, other = ours.get(kind), theirs.get(kind)
        if one is None or other is None:
            continue
        shared = kind != "awsElasticBlockStore" and bool(one.get("readOnly")) and bool(other.get("readOnly"))
        if same(one, other) and not shared:
            return True
    return False


def _same_image(one: Volume, other: Volume) -> bool:
    monitors = other.get("monitors") or []
    return (
        any(monitor in monitors for monitor in one.get("monitors") or [])
        and (one.get("pool") or "rbd") == (other.get("pool") or "rbd")
        and one.get("image") == other.get("image")
    )


_SAME: Final = {
    "gcePersistentDisk": lambda one, other: one.get("pdName") == other.get("pdName"),
    "awsElasticBlockStore": lambda one, other: one.get("volumeID") == other.get("volumeID"),
    "iscsi": lambda one, other: one.get("iqn") == other.get("iqn"),
    "rbd": _same_image,
}
"""When two volumes of a kind are the same disk."""


def _frees(pod: Pod, old: Pod | None, _new: object) -> bool:
    if old is None or old.namespace != pod.namespace:
        return False
    return _conflict(pod, old) or any(name in old.spec.claims for name in pod.spec.claims)


def _named(pod: Pod, _old: object, new: PersistentVolumeClaim) -> bool:
    return new.namespace == pod.namespace and new.name in pod.spec.claims
