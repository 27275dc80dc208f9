"""NodeVolumeLimits: a Node attaches no more volumes of a CSI driver than its CSINode says.

Differs: volumes of the old cloud kinds (awsElasticBlockStore and others, in Pods and in volumes) are not translated to their CSI drivers.

Source: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, v1.36
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.api.storage import CSINode, PersistentVolumeClaim, VolumeAttachment
from simulations.engine.scheduler.cache.columns import Columns
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.claims import claim_name, no_claim, not_made_for, uses
from simulations.engine.scheduler.framework.events import Action, ClusterEvent, EventRegistration, Resource, pod_event
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Handle, Plugin, PreFilterResult, Scope
from simulations.engine.scheduler.framework.status import SKIP, Code, Status, unresolvable, unschedulable

NAME: Final = "NodeVolumeLimits"
_TOO_MANY: Final = unschedulable(NAME, "node(s) exceed max volume count")
_SKIPPED: Final = PreFilterResult(SKIP)
Attached = dict[tuple[str, str], str]
"""By (driver, handle) of a volume its driver."""


@dataclass(slots=True)
class _State:
    """The volumes that the Pod brings, or why that cannot be said."""

    volumes: Attached
    problem: Status | None = None


class NodeVolumeLimits(Plugin):
    """Counts volumes of the Pods of a Node and volumes attached to it, each once, and what the Pod would add."""

    NAME = NAME
    FILTER_SCOPE = Scope.CLUSTER

    def __init__(self, handle: Handle) -> None:
        self._cache = handle.cache

    def events_to_register(self) -> Sequence[EventRegistration]:
        """More room on a Node, Pods with claims that go, its claims that come, its volumes that are detached."""
        return (
            EventRegistration(ClusterEvent(Resource.CSI_NODE, Action.ADD)),
            EventRegistration(ClusterEvent(Resource.CSI_NODE, Action.UPDATE), _more_room),
            EventRegistration(pod_event(Action.DELETE), _had_volumes),
            EventRegistration(ClusterEvent(Resource.CLAIM, Action.ADD), _named),
            EventRegistration(ClusterEvent(Resource.ATTACHMENT, Action.DELETE), self._detached),
        )

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult | None:
        """Skip Pods without claims; find the volumes of the others, which are the same on every Node."""
        if not pod.spec.claim_volumes:
            return _SKIPPED
        state.data[NAME] = self._new_volumes(pod)
        return None

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Count for every driver that the Pod's volumes are of."""
        found: _State = state.data[NAME]
        if found.problem is not None:
            return found.problem
        node = self._cache.volumes.csi_nodes.get(info.name)
        limits = node.limits if node is not None else {}
        if not limits or not found.volumes:
            return None
        attached: Attached = {}
        for other in info.pods:
            if other.spec.claim_volumes:
                attached.update(self._volumes_of(other))
        present = Counter(attached.values())
        present.update(driver for volume, driver in self._attachments(info.name).items() if volume not in attached)
        new = Counter(driver for volume, driver in found.volumes.items() if volume not in attached)
        over = any(driver in limits and present[driver] + count > limits[driver] for driver, count in new.items())
        return _TOO_MANY if over else None

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """Nodes whose CSINode has a limit for one of the drivers are counted one by one; all others pass."""
        found: _State = state.data[NAME]
        if found.problem is not None:
            return FilterColumn.rejecting(columns.valid.copy(), found.problem)
        drivers = set(found.volumes.values())
        full = np.zeros(len(columns.valid), dtype=np.bool_)
        for name, node in self._cache.volumes.csi_nodes.items():
            info = self._cache.infos.get(name)
            if info is not None and not drivers.isdisjoint(node.limits):
                full[info.row] = self.filter(state, pod, info) is not None
        return FilterColumn.rejecting(full, _TOO_MANY)

    def _new_volumes(self, pod: Pod) -> _State:
        volumes: Attached = {}
        for volume in pod.spec.claim_volumes:
            name = claim_name(pod, volume)
            claim = self._cache.volumes.claims.seen((pod.namespace, name))
            if claim is None:
                return _State({}, unresolvable(NAME, f"looking up PVC {pod.namespace}/{name}: {no_claim(name)}"))
            foreign = not_made_for(pod, claim) if volume.ephemeral else ""
            if foreign:
                return _State({}, Status(Code.ERROR, (foreign,), NAME))
            volumes.update(self._attachable(claim))
        return _State(volumes)

    def _volumes_of(self, pod: Pod) -> Attached:
        """The volumes of a Pod that is there; claims that are not, or not its own, count for nothing."""
        volumes: Attached = {}
        for volume in pod.spec.claim_volumes:
            claim = self._cache.volumes.claims.seen((pod.namespace, claim_name(pod, volume)))
            if claim is not None and not (volume.ephemeral and not_made_for(pod, claim)):
                volumes.update(self._attachable(claim))
        return volumes

    def _attachable(self, claim: PersistentVolumeClaim) -> Attached:
        """The volume of a claim with its driver; of one that is not bound yet the class tells the driver."""
        known = self._cache.volumes
        volume = known.volumes.seen(("", claim.volume_name)) if claim.volume_name else None
        if volume is not None:
            return {volume.csi: volume.csi[0]} if volume.csi is not None and all(volume.csi) else {}
        found = known.classes.get(claim.storage_class)
        if found is None or not found.provisioner:
            return {}
        return {(found.provisioner, f"unbound-{claim.namespace}/{claim.name}"): found.provisioner}

    def _attachments(self, node: str) -> Attached:
        """CSI volumes that are being or have been attached to a Node."""
        found: Attached = {}
        for item in self._cache.volumes.attached_to(node):
            volume = self._cache.volumes.volumes.seen(("", item.volume_name))
            if item.attacher and volume is not None and volume.csi is not None:
                found[item.attacher, volume.csi[1]] = item.attacher
        return found

    def _detached(self, pod: Pod, old: VolumeAttachment, _new: object) -> bool:
        """A volume of one of the Pod's claims was detached from some Node."""
        for volume in pod.spec.claim_volumes:
            claim = self._cache.volumes.claims.seen((pod.namespace, claim_name(pod, volume)))
            if claim is not None and claim.volume_name and claim.volume_name == old.volume_name:
                return True
        return False


def _more_room(_pod: Pod, old: CSINode, new: CSINode) -> bool:
    """A driver came, or one may attach more than before."""
    before = old.limits
    return any(limit > before.get(driver, 0) for driver, limit in new.limits.items())


def _had_volumes(_pod: Pod, old: Pod | None, _new: object) -> bool:
    return old is not None and bool(old.spec.claim_volumes) and bool(old.node_name or old.nominated_node_name)


def _named(pod: Pod, _old: object, new: PersistentVolumeClaim) -> bool:
    return uses(pod, new)
