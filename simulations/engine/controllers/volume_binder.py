"""The volume controller: binds claims to volumes, asks for volumes to be provisioned, and keeps the phases of both.

It looks at a claim or volume when it changes, and at all claims that are not bound at the next multiple of 15 s after a volume or class
came or a write failed.

Differs: events of a claim that waits are written once for each reason, not at every look; Recycle keeps the volume, as Retain does.

Source: pkg/controller/volume/persistentvolume/{pv_controller,pv_controller_base}.go, v1.36
"""

from typing import Any, Final

from simulations.engine.api.pod import Pod
from simulations.engine.api.storage import (
    AVAILABLE,
    BETA_STORAGE_PROVISIONER,
    BIND_COMPLETED,
    BOUND,
    BOUND_BY_CONTROLLER,
    LOST,
    NO_PROVISIONER,
    PENDING,
    PROVISIONED_BY,
    RELEASED,
    STORAGE_PROVISIONER,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from simulations.engine.api.volume_matching import is_bound_to, may_serve, volume_for_controller
from simulations.engine.cluster.answers import ADDED, DELETED, Answer, WatchEvent
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.storage_admission import default_class, names_no_class
from simulations.engine.controllers.controller import ACTOR, BURST, QPS
from simulations.engine.controllers.key_queue import Key, KeyQueue
from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.loop import Future, Steps

NAME: Final = "persistentvolume-binder-controller"
RESYNC: Final = 15 * SECOND


class VolumeBinder:
    """One worker for claims, one for volumes."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=QPS, burst=BURST)
        self.events = Client(api, ACTOR)
        self._claims = KeyQueue(api.loop, self._sync_claim, "claims")
        self._volumes = KeyQueue(api.loop, self._sync_volume, "volumes")
        self._told: dict[str, str] = {}
        """What a claim's last event said, by its uid."""
        self._resync_planned = False
        api.watch("PersistentVolume", self._on_volume)
        api.watch("PersistentVolumeClaim", self._on_claim)
        api.watch("StorageClass", self._on_class)

    # ---- what it sees

    def _on_claim(self, event: WatchEvent) -> None:
        claim: PersistentVolumeClaim = event.object
        if event.type != DELETED:
            self._claims.add(claim.key, event.cause)
            return
        self._told.pop(claim.uid, None)
        if claim.volume_name:
            self._volumes.add(("", claim.volume_name), event.cause)

    def _on_volume(self, event: WatchEvent) -> None:
        volume: PersistentVolume = event.object
        if event.type != DELETED:
            self._volumes.add(volume.key, event.cause)
        elif volume.claim_ref is not None:
            self._claims.add((volume.claim_ref.namespace, volume.claim_ref.name), event.cause)

    def _on_class(self, event: WatchEvent) -> None:
        if event.type == ADDED:
            self._plan_resync(event.cause)

    def _plan_resync(self, cause: int) -> None:
        """Look at all claims that are not bound when the next resync comes, if there are any."""
        if not self._resync_planned and any(BIND_COMPLETED not in c.annotations for c in self.api.list("PersistentVolumeClaim")):
            self._resync_planned = True
            now = self.api.loop.now
            self.api.loop.at((now // RESYNC + 1) * RESYNC, self._resync, cause)

    def _resync(self, cause: int) -> None:
        self._resync_planned = False
        for claim in self.api.list("PersistentVolumeClaim"):
            if BIND_COMPLETED not in claim.annotations:
                self._claims.add(claim.key, cause)

    # ---- claims

    def _sync_claim(self, key: Key, cause: int) -> Steps[None]:
        claim: PersistentVolumeClaim | None = self.api.get("PersistentVolumeClaim", *key)
        if claim is None:
            return
        if BIND_COMPLETED in claim.annotations:
            yield from self._sync_bound(claim, cause)
        elif claim.volume_name:
            yield from self._sync_named(claim, cause)
        elif names_no_class(claim) and default_class(self.api) is not None:
            found = default_class(self.api)
            patch = {"spec": {"storageClassName": found.name if found is not None else ""}}
            yield from self._did(self.client.update(claim.kind, claim, patch, cause=cause))
        else:
            yield from self._sync_unbound(claim, cause)

    def _sync_unbound(self, claim: PersistentVolumeClaim, cause: int) -> Steps[None]:
        found: StorageClass | None = self.api.get("StorageClass", "", claim.storage_class)
        waits = found is not None and found.waits
        volume = volume_for_controller(claim, self.api.list("PersistentVolume"), waits=waits)
        if volume is not None:
            yield from self._bind(volume, claim, cause)
            return
        if waits and claim.selected_node is None:
            self._tell_waiting(claim, cause)
        elif claim.storage_class:
            yield from self._ask_for_volume(claim, found, cause)
            return
        else:
            text = "no persistent volumes available for this claim and no storage class is set"
            self._tell(claim, "Normal", "FailedBinding", text, cause)
        yield from self._claim_phase(claim, PENDING, cause)

    def _sync_named(self, claim: PersistentVolumeClaim, cause: int) -> Steps[None]:
        """The user, or an earlier look that was cut short, named the volume."""
        volume: PersistentVolume | None = self.api.get("PersistentVolume", "", claim.volume_name)
        if volume is not None and ((volume.claim_ref is None and may_serve(volume, claim)) or is_bound_to(volume, claim)):
            yield from self._bind(volume, claim, cause)
            return
        if volume is not None and volume.claim_ref is None:
            text = f'Cannot bind to requested volume "{volume.name}": it does not satisfy the claim'
            self._tell(claim, "Warning", "VolumeMismatch", text, cause)
        elif volume is not None:
            self._tell(claim, "Warning", "FailedBinding", f'volume "{volume.name}" already bound to a different claim.', cause)
        yield from self._claim_phase(claim, PENDING, cause)

    def _sync_bound(self, claim: PersistentVolumeClaim, cause: int) -> Steps[None]:
        """It has been bound: is it still?"""
        volume: PersistentVolume | None = self.api.get("PersistentVolume", "", claim.volume_name)
        if not claim.volume_name:
            text = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
            yield from self._lose(claim, "ClaimLost", text, cause)
        elif volume is None:
            yield from self._lose(
                claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!", cause
            )
        elif volume.claim_ref is None or is_bound_to(volume, claim):
            yield from self._bind(volume, claim, cause)
        else:
            text = "Two claims are bound to the same volume, this one is bound incorrectly"
            yield from self._lose(claim, "ClaimMisbound", text, cause)

    def _lose(self, claim: PersistentVolumeClaim, reason: str, text: str, cause: int) -> Steps[None]:
        if claim.phase != LOST:
            self._tell(claim, "Warning", reason, text, cause)
            yield from self._claim_phase(claim, LOST, cause)

    def _ask_for_volume(self, claim: PersistentVolumeClaim, found: StorageClass | None, cause: int) -> Steps[None]:
        """Say who is to provision; provisioners watch for it."""
        if found is None:
            text = f'storageclass.storage.k8s.io "{claim.storage_class}" not found'
            self._tell(claim, "Warning", "ProvisioningFailed", text, cause)
        elif found.provisioner == NO_PROVISIONER:
            self._tell(claim, "Warning", "ProvisioningFailed", f"no volume plugin matched name: {NO_PROVISIONER}", cause)
        else:
            marks = {STORAGE_PROVISIONER: found.provisioner, BETA_STORAGE_PROVISIONER: found.provisioner}
            if any(claim.annotations.get(name) != value for name, value in marks.items()):
                ok = yield from self._did(self.client.update(claim.kind, claim, {"metadata": {"annotations": marks}}, cause=cause))
                if not ok:
                    return
            text = (
                f"Waiting for a volume to be created either by the external provisioner '{found.provisioner}' or manually by the system "
                "administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."
            )
            self._tell(claim, "Normal", "ExternalProvisioning", text, cause)
            return
        yield from self._claim_phase(claim, PENDING, cause)

    # ---- volumes

    def _sync_volume(self, key: Key, cause: int) -> Steps[None]:
        volume: PersistentVolume | None = self.api.get("PersistentVolume", *key)
        if volume is None:
            return
        ref = volume.claim_ref
        if ref is None or not ref.uid:
            if volume.phase != AVAILABLE:
                yield from self._volume_phase(volume, AVAILABLE, cause)
            self._plan_resync(cause)
            return
        claim: PersistentVolumeClaim | None = self.api.get("PersistentVolumeClaim", ref.namespace, ref.name)
        if claim is None or claim.uid != ref.uid:
            if volume.phase not in (RELEASED, "Failed"):
                yield from self._volume_phase(volume, RELEASED, cause)
        elif not claim.volume_name:
            self._claims.add(claim.key, cause)
        elif claim.volume_name == volume.name:
            yield from self._volume_phase(volume, BOUND, cause)
        else:
            yield from self._unbind(volume, cause)

    def _unbind(self, volume: PersistentVolume, cause: int) -> Steps[None]:
        """Its claim took another volume: one that was provisioned for it has no use any more, others are free again."""
        if PROVISIONED_BY in volume.annotations and volume.reclaim_policy == "Delete":
            yield from self._volume_phase(volume, RELEASED, cause)
            return
        own = BOUND_BY_CONTROLLER in volume.annotations
        ref: Any = None if own else {"uid": None}
        patch = {"spec": {"claimRef": ref}, "metadata": {"annotations": {BOUND_BY_CONTROLLER: None}}}
        yield from self._did(self.client.update(volume.kind, volume, patch, cause=cause))

    # ---- writes

    def _bind(self, volume: PersistentVolume, claim: PersistentVolumeClaim, cause: int) -> Steps[None]:
        """Four writes: the volume and its phase, the claim and its phase; those that change nothing are left out."""
        if volume.claim_ref is None or not volume.claim_ref.uid:
            ref = {
                "apiVersion": "v1", "kind": claim.kind, "namespace": claim.namespace, "name": claim.name, "uid": claim.uid,
                "resourceVersion": str(claim.resource_version),
            }  # fmt: skip
            marks = {} if is_bound_to(volume, claim) else {"metadata": {"annotations": {BOUND_BY_CONTROLLER: "yes"}}}
            ok = yield from self._did(self.client.update(volume.kind, volume, {"spec": {"claimRef": ref}, **marks}, cause=cause))
            if not ok:
                return
        yield from self._volume_phase(volume, BOUND, cause)
        if not claim.volume_name or BIND_COMPLETED not in claim.annotations:
            annotations = {BIND_COMPLETED: "yes"} | ({} if claim.volume_name else {BOUND_BY_CONTROLLER: "yes"})
            patch = {"spec": {"volumeName": volume.name}, "metadata": {"annotations": annotations}}
            ok = yield from self._did(self.client.update(claim.kind, claim, patch, cause=cause))
            if not ok:
                return
        yield from self._claim_phase(claim, BOUND, cause, volume)

    def _volume_phase(self, volume: PersistentVolume, phase: str, cause: int) -> Steps[None]:
        if volume.phase != phase:
            yield from self._did(self.client.update_status(volume.kind, "", volume.name, {"phase": phase}, cause=cause))

    def _claim_phase(
        self, claim: PersistentVolumeClaim, phase: str, cause: int, volume: PersistentVolume | None = None
    ) -> Steps[None]:
        """The phase, and what the claim got of a volume; nothing is written where nothing changes."""
        status: dict[str, Any] = {"phase": phase}
        if volume is not None:
            spec = volume.raw.get("spec") or {}
            status |= {"accessModes": spec.get("accessModes") or [], "capacity": spec.get("capacity") or {}}
        known = claim.raw.get("status") or {}
        if {name: known.get(name) for name in status} != status:
            yield from self._did(self.client.update_status(claim.kind, claim.namespace, claim.name, status, cause=cause))

    def _did(self, call: Future[Answer]) -> Steps[bool]:
        """Wait for a write; one that fails is tried again with the next resync."""
        answer: Answer = yield call
        if not answer.ok:
            self._plan_resync(answer.seq)
        return answer.ok

    # ---- events

    def _tell_waiting(self, claim: PersistentVolumeClaim, cause: int) -> None:
        pods = [pod.name for pod in self.api.list("Pod") if _waits_with(pod, claim)]
        if not pods:
            text = "waiting for first consumer to be created before binding"
            self._tell(claim, "Normal", "WaitForFirstConsumer", text, cause)
        else:
            what = f"pod {pods[0]}" if len(pods) == 1 else f"pods {','.join(pods)}"
            self._tell(claim, "Normal", "WaitForPodScheduled", f"waiting for {what} to be scheduled", cause)

    def _tell(self, claim: PersistentVolumeClaim, kind: str, reason: str, note: str, cause: int) -> None:
        if self._told.get(claim.uid) == note:
            return
        self._told[claim.uid] = note
        regarding = {"kind": claim.kind, "namespace": claim.namespace, "name": claim.name, "uid": claim.uid}
        self.events.create_event({"type": kind, "reason": reason, "note": note, "action": "", "regarding": regarding}, cause=cause)


def _waits_with(pod: Pod, claim: PersistentVolumeClaim) -> bool:
    names = pod.spec.claim_volumes
    own = (f"{pod.name}-{v.name}" if v.ephemeral else v.name for v in names)
    return pod.namespace == claim.namespace and not pod.node_name and not pod.terminal and claim.name in own
