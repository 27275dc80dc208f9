"""A webhook that refuses evictions and moves the Pods itself: it stands for whoever carries out in the background what was asked for.

It guards Pods that carry `request-evict-only`. Each is marked a while after it was first refused, and moved a while after that.

Source: descheduler keps/1397-evictions-in-background; the stand-in of the recordings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.api.encode import pod_manifest
from simulations.engine.api.pod import Pod
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.call import Call
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.webhooks import Denial
from simulations.engine.kernel.loop import Steps

ACTOR: Final = "user"
REQUEST_ONLY: Final = "descheduler.alpha.kubernetes.io/request-evict-only"
IN_PROGRESS: Final = "descheduler.alpha.kubernetes.io/eviction-in-progress"
MESSAGE: Final = "Eviction triggered evacuation of VMI"
NAME: Final = "evictions.example.com"


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """How long until a Pod is marked, and from then until it is moved to the Node `target`, in ns; None: never."""

    annotate: int | None = None
    migrate: int | None = None
    target: str = ""
    message: str = MESSAGE


class EvictionWebhook:
    """Registers itself; see the module."""

    name = NAME
    match = "create pods/eviction"

    def __init__(self, api: ApiServer, settings: WebhookSettings) -> None:
        self.api = api
        self.settings = settings
        self.client = Client(api, ACTOR)
        self._seen: set[str] = set()
        api.webhooks.add(self)

    def review(self, call: Call) -> Denial | None:
        """Refuse the eviction of a guarded Pod, and begin to move the Pod when it is the first."""
        pod: Pod | None = self.api.get("Pod", call.namespace, call.name)
        if pod is None or REQUEST_ONLY not in pod.annotations:
            return None
        if pod.uid not in self._seen and not call.data.get("dryRun"):
            self._seen.add(pod.uid)
            self.api.loop.spawn(self._move(pod, call.cause), f"evacuation of {pod.name}")
        return Denial(self.settings.message)

    def _move(self, pod: Pod, cause: int) -> Steps[None]:
        if self.settings.annotate is None:
            return
        yield self.settings.annotate
        patch = {"metadata": {"annotations": {IN_PROGRESS: "true"}}}
        answer = yield self.client.patch("Pod", pod.namespace, pod.name, patch, cause=cause)
        if not answer.ok or self.settings.migrate is None:
            return
        yield self.settings.migrate
        created = yield self.client.create(self._target_of(pod), cause=answer.seq)
        yield self.client.delete("Pod", pod.namespace, pod.name, grace_seconds=0, uid=pod.uid, cause=created.seq)

    def _target_of(self, pod: Pod) -> Mapping[str, Any]:
        """The same Pod under another name, bound to the target."""
        manifest = pod_manifest(pod, self.api.settings.epoch)
        kept = {key: manifest["metadata"][key] for key in ("namespace", "labels", "ownerReferences") if key in manifest["metadata"]}
        annotations = {key: value for key, value in pod.annotations.items() if key != IN_PROGRESS}
        metadata = {**kept, "name": f"{pod.name}-target", "annotations": annotations}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {**manifest["spec"], "nodeName": self.settings.target},
        }
