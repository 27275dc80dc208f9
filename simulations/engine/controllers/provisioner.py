"""The external provisioners of CSI drivers: one actor stands for those of all classes.

A claim that asks for a volume gets one `TAKES` later; one of a class that waits asks when the scheduler has chosen its Node. The volume
can be reached where that Node can be: by the topology keys that its CSINode names for the driver. A volume that its claim has left is
deleted where the class says so.

Differs: provisioning never fails, and takes the same time for every driver; the room that CSIStorageCapacity tells of is not used up.

Source: sig-storage-lib-external-provisioner, controller/controller.go; external-provisioner, pkg/controller/topology.go
"""

from typing import Any, Final

from simulations.engine.api.node import Node
from simulations.engine.api.storage import (
    BIND_COMPLETED,
    BOUND,
    IMMEDIATE,
    NO_PROVISIONER,
    PROVISIONED_BY,
    RELEASED,
    STORAGE_PROVISIONER,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from simulations.engine.cluster.answers import DELETED, WatchEvent
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.loop import Steps

NAME: Final = "external-provisioner"
TAKES: Final = 2 * SECOND
Document = dict[str, Any]


class ExternalProvisioner:
    """Makes volumes for claims, and deletes those that were made."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, NAME)
        self._under_way: set[str] = set()
        """The uids of claims that get a volume, and of volumes that are being deleted."""
        api.watch("PersistentVolumeClaim", self._on_claim)
        api.watch("PersistentVolume", self._on_volume)

    def _on_claim(self, event: WatchEvent) -> None:
        claim: PersistentVolumeClaim = event.object
        if event.type == DELETED or claim.uid in self._under_way or not self._asks(claim):
            return
        self._under_way.add(claim.uid)
        self.api.loop.spawn(self._provision(claim, event.cause), NAME)

    def _asks(self, claim: PersistentVolumeClaim) -> bool:
        """Whether the volume controller wrote who is to provision, and it is known where."""
        if claim.volume_name or BIND_COMPLETED in claim.annotations or STORAGE_PROVISIONER not in claim.annotations:
            return False
        found: StorageClass | None = self.api.get("StorageClass", "", claim.storage_class)
        return found is not None and (found.binding_mode == IMMEDIATE or claim.selected_node is not None)

    def _provision(self, claim: PersistentVolumeClaim, cause: int) -> Steps[None]:
        yield TAKES
        now: PersistentVolumeClaim | None = self.api.get("PersistentVolumeClaim", claim.namespace, claim.name)
        found: StorageClass | None = self.api.get("StorageClass", "", claim.storage_class)
        if now is not None and now.uid == claim.uid and not now.volume_name and found is not None:
            yield self.client.create(self._manifest(now, found), cause=cause)
        self._under_way.discard(claim.uid)

    def _manifest(self, claim: PersistentVolumeClaim, found: StorageClass) -> Document:
        spec: Document = {
            "capacity": {"storage": claim.raw["spec"]["resources"]["requests"]["storage"]},
            "accessModes": list(claim.access_modes),
            "volumeMode": claim.volume_mode,
            "storageClassName": claim.storage_class,
            "persistentVolumeReclaimPolicy": found.reclaim_policy,
            "csi": {"driver": found.provisioner, "volumeHandle": f"volume-{claim.uid}"},
            "claimRef": {
                "apiVersion": "v1", "kind": claim.kind, "namespace": claim.namespace, "name": claim.name, "uid": claim.uid,
                "resourceVersion": str(claim.resource_version),
            },
        }  # fmt: skip
        terms = self._terms(claim, found)
        if terms:
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        metadata = {"name": f"pvc-{claim.uid}", "annotations": {PROVISIONED_BY: found.provisioner}}
        return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}

    def _terms(self, claim: PersistentVolumeClaim, found: StorageClass) -> list[Document]:
        """Where the volume can be reached: where the chosen Node is, else where the class allows it."""
        node: Node | None = self.api.get("Node", "", claim.selected_node) if claim.selected_node else None
        csi: CSINode | None = self.api.get("CSINode", "", node.name) if node is not None else None
        driver = csi.drivers.get(found.provisioner) if csi is not None else None
        keys = driver.topology_keys if driver is not None else ()
        here = [
            {"key": key, "operator": "In", "values": [node.labels[key]]} for key in keys if node is not None and key in node.labels
        ]
        if here:
            return [{"matchExpressions": here}]
        return [
            {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)} for key, values in term]}
            for term in found.allowed_topologies
        ]

    def _on_volume(self, event: WatchEvent) -> None:
        volume: PersistentVolume = event.object
        ours = volume.annotations.get(PROVISIONED_BY, NO_PROVISIONER) != NO_PROVISIONER and volume.reclaim_policy == "Delete"
        if event.type == DELETED or not ours or volume.phase != RELEASED or volume.uid in self._under_way:
            return
        self._under_way.add(volume.uid)
        self.api.loop.spawn(self._delete(volume, event.cause), NAME)

    def _delete(self, volume: PersistentVolume, cause: int) -> Steps[None]:
        yield TAKES
        now: PersistentVolume | None = self.api.get("PersistentVolume", "", volume.name)
        if now is not None and now.uid == volume.uid and now.phase != BOUND:
            yield self.client.delete("PersistentVolume", "", volume.name, uid=volume.uid, cause=cause)
        self._under_way.discard(volume.uid)
