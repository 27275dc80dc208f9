"""The ReplicaSet controller: as many active Pods as wanted; a Pod that is being deleted is replaced at once.

Source: pkg/controller/replicaset/replica_set.go, pkg/controller/controller_utils.go, v1.36
"""

from typing import Any, Final

from simulations.engine.api.pod import PENDING, RUNNING, Pod
from simulations.engine.api.workloads import ReplicaSet
from simulations.engine.cluster.answers import DELETED, WatchEvent
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.controllers.names import generate_name
from simulations.engine.kernel.clock import MILLISECOND
from simulations.engine.kernel.loop import Steps, all_of

ACTOR: Final = "controller-manager"
NAME: Final = "replicaset-controller"
BURST_REPLICAS: Final = 500
SYNC_DELAY: Final = 8 * MILLISECOND
_PHASE_RANK: Final = {PENDING: 0, "Unknown": 1, RUNNING: 2}
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"


class ReplicaSetController:
    """Keeps ReplicaSets at their number of Pods. Only ReplicaSets that exist as objects are acted for."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=20, burst=30)
        self.events = Client(api, ACTOR)
        self._rng = api.streams.stream("names/replicasets")
        self._sets: dict[tuple[str, str], ReplicaSet] = {}
        self._pods: dict[tuple[str, str], dict[str, Pod]] = {}
        self._due: set[tuple[str, str]] = set()
        self._busy: set[tuple[str, str]] = set()
        self._again: dict[tuple[str, str], int] = {}
        self._left: dict[tuple[str, str], list[int]] = {}
        """Per set the records by which Pods stopped to count, oldest first: each is the cause of one new Pod."""
        api.watch("ReplicaSet", self._on_replicaset)
        api.watch("Pod", self._on_pod)

    # ---- what it sees

    def _on_replicaset(self, event: WatchEvent) -> None:
        item: ReplicaSet = event.object
        if event.type == DELETED:
            self._sets.pop(item.key, None)
            return
        self._sets[item.key] = item
        self._enqueue(item.key, event.cause)

    def _on_pod(self, event: WatchEvent) -> None:
        pod: Pod = event.object
        key = self._owner(pod)
        if key is None:
            return
        pods = self._pods.setdefault(key, {})
        if event.type == DELETED:
            pods.pop(pod.uid, None)
        else:
            pods[pod.uid] = pod
        before = event.old
        if before is not None and _active(before) and (event.type == DELETED or not _active(pod)):
            self._left.setdefault(key, []).append(event.cause)
        if event.type == DELETED or before is None or _active(before) != _active(pod):
            self._enqueue(key, event.cause)

    def _owner(self, pod: Pod) -> tuple[str, str] | None:
        owner = pod.controller
        if owner is not None:
            return (pod.namespace, owner.name) if owner.kind == "ReplicaSet" else None
        for key, item in self._sets.items():  # an orphan is adopted by the set that selects it
            if item.namespace == pod.namespace and item.selector is not None and item.selector.matches(pod.labels):
                return key
        return None

    # ---- syncs

    def _enqueue(self, key: tuple[str, str], cause: int) -> None:
        if key not in self._sets:
            return
        if key in self._busy:
            self._again[key] = cause
        elif key not in self._due:
            self._due.add(key)
            self.api.loop.after(SYNC_DELAY, self._begin, key, cause)

    def _begin(self, key: tuple[str, str], cause: int) -> None:
        self._due.discard(key)
        if key in self._sets:
            self._busy.add(key)
            self.api.loop.spawn(self._sync(self._sets[key], cause), f"replicaset {key[1]}")

    def _sync(self, item: ReplicaSet, cause: int) -> Steps[None]:
        active = [p for p in self._pods.get(item.key, {}).values() if _active(p)]
        missing = item.replicas - len(active)
        if missing > 0:
            yield from self._create(item, min(missing, BURST_REPLICAS), cause)
        else:
            self._left.pop(item.key, None)  # none of them needs to be replaced
        if missing < 0:
            yield from self._delete(item, active, -missing, cause)
        yield self.api.settings.costs.watch_delay  # its own writes are seen before the next sync
        self._busy.discard(item.key)
        again = self._again.pop(item.key, None)
        if again is not None:
            self._enqueue(item.key, again)

    def _create(self, item: ReplicaSet, number: int, cause: int) -> Steps[None]:
        """Create in parallel batches of 1, 2, 4 ...; an error ends the sync."""
        batch, left = 1, number
        gone = self._left.setdefault(item.key, [])
        while left:
            manifests = [self._manifest(item) for _ in range(min(batch, left))]
            causes = [gone.pop(0) if gone else cause for _ in manifests]
            calls = [self.client.create(m, cause=c) for m, c in zip(manifests, causes, strict=True)]
            answers = yield all_of(self.api.loop, calls)
            for manifest, answer in zip(manifests, answers, strict=True):
                name = manifest["metadata"]["name"]
                if answer.ok:
                    self._event(item, "SuccessfulCreate", f"Created pod: {name}", answer.seq)
                else:
                    self._event(item, "FailedCreate", f"Error creating: {answer.message}", answer.seq)
            if not all(a.ok for a in answers):
                return
            left -= len(manifests)
            batch *= 2

    def _manifest(self, item: ReplicaSet) -> dict[str, Any]:
        metadata = item.template.get("metadata") or {}
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": item.name, "uid": item.uid, "controller": True}
        own: dict[str, Any] = {
            "name": generate_name(f"{item.name}-", self._rng),
            "namespace": item.namespace,
            "labels": dict(metadata.get("labels") or {}),
            "ownerReferences": [owner],
        }
        if metadata.get("annotations"):
            own["annotations"] = dict(metadata["annotations"])
        return {"apiVersion": "v1", "kind": "Pod", "metadata": own, "spec": item.template.get("spec") or {}}

    def _delete(self, item: ReplicaSet, active: list[Pod], number: int, cause: int) -> Steps[None]:
        chosen = sorted(active, key=lambda p: self._scale_down_rank(p, active))[:number]
        calls = [self.client.delete("Pod", p.namespace, p.name, cause=cause) for p in chosen]
        answers = yield all_of(self.api.loop, calls)
        for pod, answer in zip(chosen, answers, strict=True):
            if answer.ok:
                self._event(item, "SuccessfulDelete", f"Deleted pod: {pod.name}", answer.seq)

    def _scale_down_rank(self, pod: Pod, active: list[Pod]) -> tuple[Any, ...]:
        """Smaller goes first: unassigned, not running, not ready, cheaper, on a fuller Node, ready for a shorter time, newer."""
        ready = pod.condition("Ready")
        together = sum(1 for p in active if p.node_name == pod.node_name)
        age = max(self.api.loop.now - pod.created, 1).bit_length()
        return (
            bool(pod.node_name), _PHASE_RANK.get(pod.phase, 2), ready is not None and ready.status == "True",
            int(pod.annotations.get(_DELETION_COST, "0") or 0), -together, age, pod.uid,
        )  # fmt: skip

    def _event(self, item: ReplicaSet, reason: str, note: str, cause: int) -> None:
        regarding = {"kind": "ReplicaSet", "namespace": item.namespace, "name": item.name, "uid": item.uid}
        kind = "Warning" if reason.startswith("Failed") else "Normal"
        self.events.create_event({"type": kind, "reason": reason, "note": note, "action": "", "regarding": regarding}, cause=cause)


def _active(pod: Pod) -> bool:
    return not pod.terminal and not pod.terminating
