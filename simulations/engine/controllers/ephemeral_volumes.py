"""The ephemeral volume controller: a claim for each volume of a Pod that says `ephemeral`; it goes with the Pod.

Source: pkg/controller/volume/ephemeral/controller.go, v1.36
"""

from collections.abc import Mapping
from typing import Any, Final

from simulations.engine.api.pod import Pod
from simulations.engine.cluster.answers import DELETED, WatchEvent
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.controllers.controller import ACTOR, BURST, QPS
from simulations.engine.controllers.key_queue import Key, KeyQueue
from simulations.engine.kernel.loop import Steps

NAME: Final = "ephemeral-volume-controller"


class EphemeralVolumes:
    """Makes claims; the garbage collector deletes them after their Pods."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=QPS, burst=BURST)
        self._queue = KeyQueue(api.loop, self._sync, NAME)
        api.watch("Pod", self._on_pod)

    def _on_pod(self, event: WatchEvent) -> None:
        pod: Pod = event.object
        if event.type != DELETED and any(volume.ephemeral for volume in pod.spec.claim_volumes):
            self._queue.add(pod.key, event.cause)

    def _sync(self, key: Key, cause: int) -> Steps[None]:
        pod: Pod | None = self.api.get("Pod", *key)
        if pod is None or pod.terminating:
            return
        for volume in pod.spec.raw.get("volumes") or []:
            template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
            name = f"{pod.name}-{volume['name']}"
            if isinstance(template, Mapping) and self.api.get("PersistentVolumeClaim", pod.namespace, name) is None:
                yield self.client.create(_claim(pod, name, template), cause=cause)


def _claim(pod: Pod, name: str, template: Mapping[str, Any]) -> dict[str, Any]:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid, "controller": True, "blockOwnerDeletion": True}
    metadata = {**(template.get("metadata") or {}), "name": name, "namespace": pod.namespace, "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": dict(template.get("spec") or {})}
