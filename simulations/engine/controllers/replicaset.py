"""The ReplicaSet controller: as many active Pods as wanted; a Pod that is being deleted is replaced at once.

ReplicationControllers are kept the same way.

Source: pkg/controller/replicaset/replica_set.go, pkg/controller/controller_utils.go, v1.36
"""

from typing import Any, ClassVar, Final

from simulations.engine.api.pod import PENDING, RUNNING, Pod
from simulations.engine.api.workloads import Workload
from simulations.engine.cluster.answers import DELETED, WatchEvent
from simulations.engine.cluster.api_server import ApiServer, Key
from simulations.engine.controllers.controller import Controller
from simulations.engine.controllers.pod_book import active, ready
from simulations.engine.kernel.loop import Steps

NAME: Final = "replicaset-controller"
BURST_REPLICAS: Final = 500
_PHASE_RANK: Final = {PENDING: 0, "Unknown": 1, RUNNING: 2}
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"


class ReplicaSetController(Controller[Workload]):
    """Keeps ReplicaSets at their number of Pods. Only ReplicaSets that exist as objects are acted for."""

    KIND: ClassVar[str] = "ReplicaSet"

    def __init__(self, api: ApiServer) -> None:
        self._left: dict[Key, list[int]] = {}
        """Per set the records by which Pods stopped to count, oldest first: each is the cause of one new Pod."""
        super().__init__(api)

    def pod_changed(self, key: Key, event: WatchEvent) -> None:
        """Only a Pod that starts or stops to count, or to be ready, matters."""
        before, pod = event.old, event.object
        if before is not None and active(before) and (event.type == DELETED or not active(pod)):
            self._left.setdefault(key, []).append(event.cause)
        if event.type == DELETED or before is None or (active(before), ready(before)) != (active(pod), ready(pod)):
            self.enqueue(key, event.cause)

    def status_of(self, item: Workload) -> dict[str, Any]:
        """How many there are, are ready and are available."""
        known = self.book.tally(item.key)
        available = self.number_available(item, item.key)
        return {"replicas": known.active, "readyReplicas": known.ready, "availableReplicas": available}

    def sync(self, item: Workload, cause: int) -> Steps[None]:
        """Create what is missing, or delete what is too much."""
        missing = item.replicas - self.book.tally(item.key).active
        if missing > 0:
            yield from self._create(item, min(missing, BURST_REPLICAS), cause)
        else:
            self._left.pop(item.key, None)  # none of them needs to be replaced
        if missing < 0:
            counted = [p for p in self.pods.get(item.key, {}).values() if active(p)]
            chosen = sorted(counted, key=lambda p: self._scale_down_rank(p, counted))[:-missing]
            yield from self.delete_pods(item, chosen, cause)

    def _create(self, item: Workload, number: int, cause: int) -> Steps[None]:
        gone = self._left.setdefault(item.key, [])
        causes = [gone.pop(0) if gone else cause for _ in range(number)]
        yield from self.create_pods(item, [self.pod_manifest(item) for _ in range(number)], causes)

    def _scale_down_rank(self, pod: Pod, counted: list[Pod]) -> tuple[Any, ...]:
        """Smaller goes first: unassigned, not running, not ready, cheaper, on a fuller Node, ready for a shorter time, newer."""
        together = sum(1 for p in counted if p.node_name == pod.node_name)
        age = max(self.api.loop.now - pod.created, 1).bit_length()
        return (
            bool(pod.node_name), _PHASE_RANK.get(pod.phase, 2), ready(pod), _cost(pod), -together, age, pod.uid,
        )  # fmt: skip


class ReplicationControllerController(ReplicaSetController):
    """The same for ReplicationControllers."""

    KIND: ClassVar[str] = "ReplicationController"


def _cost(pod: Pod) -> int:
    text = pod.annotations.get(_DELETION_COST, "0")
    return int(text) if text.lstrip("-").isdigit() else 0
