"""Pod garbage collection: Pods on Nodes that are gone, Pods that hang on Nodes out of service, too many ended Pods.

A tick every 20 s in life; here one is planned only while something is to be looked at, at the same multiples of 20 s.

Source: pkg/controller/podgc/gc_controller.go, v1.36
"""

from typing import Any, Final

from simulations.engine.api.pod import FAILED, Condition, Pod
from simulations.engine.cluster.answers import ADDED, DELETED, WatchEvent
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.controllers.controller import ACTOR
from simulations.engine.kernel.clock import SECOND, SimTime
from simulations.engine.kernel.loop import Steps

NAME: Final = "pod-garbage-collector-controller"
PERIOD: Final = 20 * SECOND
QUARANTINE: Final = 40 * SECOND
MOST_ENDED: Final = 12_500
OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"


class PodGarbageCollector:
    """Ends what nobody else ends."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=20, burst=30)
        self._missing: dict[str, tuple[SimTime, int]] = {}
        """Nodes that were seen to be missing: since which tick, and by which record."""
        self._ended = 0
        self._next: SimTime | None = None
        self._cause = 0
        api.watch("Node", self._on_node)
        api.watch("Pod", self._on_pod)

    def _on_node(self, event: WatchEvent) -> None:
        if event.type == ADDED:
            self._missing.pop(event.object.name, None)
        elif event.type == DELETED or any(t.key == OUT_OF_SERVICE for t in event.object.taints):
            self._plan(event.cause)

    def _on_pod(self, event: WatchEvent) -> None:
        pod: Pod = event.object
        was = event.old is not None and event.type != ADDED and event.old.terminal
        now = pod.terminal and event.type != DELETED
        self._ended += int(now) - int(was)
        lost = pod.node_name and event.type != DELETED and self.api.get("Node", "", pod.node_name) is None
        if lost or self._ended > MOST_ENDED:
            self._plan(event.cause)

    def _plan(self, cause: int) -> None:
        self._cause = cause
        now = self.api.loop.now
        if self._next is None:
            self._next = -(-(now + 1) // PERIOD) * PERIOD
            self.api.loop.at(self._next, self._tick)

    def _tick(self) -> None:
        self._next = None
        self.api.loop.spawn(self._collect(), "pod gc")

    def _collect(self) -> Steps[None]:
        now = self.api.loop.now
        pods: list[Pod] = self.api.list("Pod")
        lost = [p for p in pods if p.node_name and self.api.get("Node", "", p.node_name) is None]
        for name in dict.fromkeys(p.node_name for p in lost):
            self._missing.setdefault(name, (now, self._cause))
        due = {name: cause for name, (since, cause) in self._missing.items() if now >= since + QUARANTINE}
        waiting = [p for p in lost if p.node_name not in due]
        for pod in lost:
            if pod.node_name in due:
                yield from self._end(pod, "PodGC: node no longer exists", due[pod.node_name])
        for name in due:
            self._missing.pop(name, None)
        for pod in self._hanging(pods):
            yield from self._end(pod, "PodGC: node is out of service", self._cause)
        ended = sorted((p for p in pods if p.terminal), key=lambda p: (p.created, p.name))
        for pod in ended[: max(0, len(ended) - MOST_ENDED)]:
            yield self.client.delete("Pod", pod.namespace, pod.name, grace_seconds=0, uid=pod.uid, cause=self._cause)
        if waiting:
            self._plan(self._cause)

    def _hanging(self, pods: list[Pod]) -> list[Pod]:
        found = []
        for pod in pods:
            node: Any = self.api.get("Node", "", pod.node_name) if pod.terminating and pod.node_name else None
            if node is not None and not node.ready and any(t.key == OUT_OF_SERVICE for t in node.taints):
                found.append(pod)
        return found

    def _end(self, pod: Pod, message: str, cause: int) -> Steps[None]:
        condition = Condition("DisruptionTarget", "True", "DeletionByPodGC", message)
        phase = pod.phase if pod.terminal else FAILED
        yield self.client.report_pod(pod, phase, conditions=(condition,), cause=cause)
        yield self.client.delete("Pod", pod.namespace, pod.name, grace_seconds=0, uid=pod.uid, cause=cause)
