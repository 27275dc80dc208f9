"""From watch events to the cache and the queue.

Source: pkg/scheduler/eventhandlers.go, pkg/scheduler/framework/events.go, v1.36
"""

from typing import Any, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.storage import STORAGE_KINDS
from simulations.engine.cluster.answers import ADDED, DELETED, WatchEvent
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.framework.events import Action, ClusterEvent, Resource
from simulations.engine.scheduler.queue.in_flight import Happened
from simulations.engine.scheduler.queue.scheduling_queue import SchedulingQueue

LISTED: Final = ("Namespace", "Service", "PodDisruptionBudget", "ReplicaSet", "ReplicationController", "StatefulSet")


_STORAGE: Final = {
    "PersistentVolume": Resource.VOLUME,
    "PersistentVolumeClaim": Resource.CLAIM,
    "StorageClass": Resource.STORAGE_CLASS,
    "CSINode": Resource.CSI_NODE,
    "CSIDriver": Resource.CSI_DRIVER,
    "CSIStorageCapacity": Resource.STORAGE_CAPACITY,
    "VolumeAttachment": Resource.ATTACHMENT,
}


def _node(action: Action, label: str) -> ClusterEvent:
    return ClusterEvent(Resource.NODE, action, label)


def _pod(action: Action, label: str) -> ClusterEvent:
    return ClusterEvent(Resource.POD, action, label)


NODE_ADD: Final = _node(Action.ADD, "NodeAdd")
NODE_DELETE: Final = _node(Action.DELETE, "NodeDelete")
ASSIGNED_POD_ADD: Final = _pod(Action.ADD, "AssignedPodAdd")
ASSIGNED_POD_DELETE: Final = _pod(Action.DELETE, "AssignedPodDelete")


class EventHandlers:
    """The scheduler's informers. A nomination that the API takes away is recorded, for it ends in memory here."""

    def __init__(self, api: ApiServer, cache: SchedulerCache, queue: SchedulingQueue, actor: str, profiles: frozenset[str]) -> None:
        self.api = api
        self.actor = actor
        self.cache = cache
        self.queue = queue
        self._profiles = profiles
        for kind in LISTED:
            api.watch(kind, self._on_listed)
        for kind in STORAGE_KINDS:
            api.watch(kind, self._on_storage)
        api.watch("Node", self._on_node)
        api.watch("Pod", self._on_pod)

    def _on_listed(self, event: WatchEvent) -> None:
        if event.type == DELETED:
            self.cache.discard(event.object)
        else:
            self.cache.store(event.object)

    def _on_storage(self, event: WatchEvent) -> None:
        """Volumes and what is around them: into the listers, and to the Pods that wait for such an event."""
        self._on_listed(event)
        resource, item = _STORAGE[event.kind], event.object
        if event.type == ADDED:
            happened, old, new = ClusterEvent(resource, Action.ADD, f"{resource}Add"), None, item
        elif event.type == DELETED:
            happened, old, new = ClusterEvent(resource, Action.DELETE, f"{resource}Delete"), item, None
        else:
            happened, old, new = ClusterEvent(resource, Action.UPDATE, f"{resource}Update"), event.old, item
        self.queue.on_event(Happened(happened, old, new, event.cause))

    # ---- nodes

    def _on_node(self, event: WatchEvent) -> None:
        node: Node = event.object
        if event.type == ADDED:
            self.cache.add_node(node)
            self.queue.on_event(Happened(NODE_ADD, None, node, event.cause))
        elif event.type == DELETED:
            self.cache.remove_node(node.name)
            self.queue.on_event(Happened(NODE_DELETE, node, None, event.cause))
        else:
            self.cache.update_node(node)
            for happened in node_events(event.old, node):
                self.queue.on_event(Happened(happened, event.old, node, event.cause))

    # ---- pods

    def _on_pod(self, event: WatchEvent) -> None:
        pod, old = event.object, event.old if event.type != ADDED else None
        was_here = old is not None and bool(old.node_name) and not old.terminal
        is_here = event.type != DELETED and bool(pod.node_name) and not pod.terminal
        waited = old is not None and not old.node_name and not old.terminal
        waits = event.type != DELETED and not pod.node_name and not pod.terminal
        if waits:
            self.cache.waiting[pod.key] = pod
        elif self.cache.waiting.get(pod.key, pod).uid == pod.uid:
            self.cache.waiting.pop(pod.key, None)
        if is_here and not was_here:
            self._bound(pod, event.cause)
        elif is_here:
            self._bound_changed(old, pod, event.cause)
        elif was_here:
            self._left(pod, event.cause)
        elif waits and not waited:
            self._arrived(pod, event.cause)
        elif waits:
            self._waiting_changed(old, pod, event.cause)
        elif waited:
            self._waiting_gone(pod, event.cause)

    def _bound(self, pod: Pod, cause: int) -> None:
        self.queue.delete(pod.uid)
        self.cache.nominator.delete(pod.uid)
        self.cache.add_pod(pod)
        self.queue.on_event(Happened(ASSIGNED_POD_ADD, None, pod, cause))

    def _bound_changed(self, old: Any, pod: Pod, cause: int) -> None:
        self.cache.update_pod(pod)
        for happened in pod_events(old, pod, assigned=True):
            self.queue.on_event(Happened(happened, old, pod, cause))

    def _left(self, pod: Pod, cause: int) -> None:
        self.cache.remove_pod(pod.uid)
        self.queue.on_event(Happened(ASSIGNED_POD_DELETE, pod, None, cause))

    def _arrived(self, pod: Pod, cause: int) -> None:
        if pod.spec.scheduler_name not in self._profiles:
            return
        if pod.nominated_node_name:
            self.cache.nominator.add(pod, pod.nominated_node_name)
        self.queue.add(pod, cause)

    def _waiting_changed(self, old: Any, pod: Pod, cause: int) -> None:
        if self.cache.is_assumed(pod.uid):  # it is being bound: its nomination is the scheduler's own
            return
        if pod.spec.scheduler_name in self._profiles:
            self._follow_nomination(old, pod, cause)
            self.queue.update(old, pod, pod_events(old, pod, assigned=False), cause)
        if old.nominated_node_name and old.nominated_node_name != pod.nominated_node_name:
            self._room_given_back(old, cause)

    def _waiting_gone(self, pod: Pod, cause: int) -> None:
        self.queue.delete(pod.uid)
        self.cache.nominator.delete(pod.uid)
        if self.cache.forget(pod.uid) is not None:
            self.queue.on_event(Happened(ASSIGNED_POD_DELETE, pod, None, cause))
        elif pod.nominated_node_name:
            self._room_given_back(pod, cause)

    def _follow_nomination(self, old: Pod, pod: Pod, cause: int) -> None:
        """What the API says wins; where it says nothing before and after, the nomination in memory stays."""
        nominator = self.cache.nominator
        if not old.nominated_node_name and not pod.nominated_node_name:
            nominator.update(pod)
            return
        previous = nominator.delete(pod.uid)
        if pod.nominated_node_name:
            nominator.add(pod, pod.nominated_node_name)
        elif previous:
            self.api.trace.add(
                self.api.loop.now, self.actor, "nominate", resource="pods", namespace=pod.namespace, name=pod.name, uid=pod.uid,
                reason="Cleared", cause=cause, data={"node": "", "previous": previous},
            )  # fmt: skip

    def _room_given_back(self, pod: Pod, cause: int) -> None:
        """A nomination ended: Pods of the same or a lower priority may have the room."""
        self.queue.on_event(Happened(ASSIGNED_POD_DELETE, pod, None, cause, at_most_priority=pod.priority))


def node_events(old: Node, new: Node) -> list[ClusterEvent]:
    """What changed on a Node, as the events that plugins know."""
    events = []
    if old.allocatable != new.allocatable:
        events.append(_node(Action.UPDATE_NODE_ALLOCATABLE, "NodeAllocatableChange"))
    if old.labels is not new.labels:
        events.append(_node(Action.UPDATE_NODE_LABEL, "NodeLabelChange"))
    if old.taints != new.taints or (old.unschedulable and not new.unschedulable):
        events.append(_node(Action.UPDATE_NODE_TAINT, "NodeTaintChange"))
    if {c.type: c.status for c in old.conditions} != {c.type: c.status for c in new.conditions}:
        events.append(_node(Action.UPDATE_NODE_CONDITION, "NodeConditionChange"))
    if old.annotations != new.annotations:
        events.append(_node(Action.UPDATE_NODE_ANNOTATION, "NodeAnnotationChange"))
    return events


def pod_events(old: Pod, new: Pod, *, assigned: bool) -> list[ClusterEvent]:
    """What changed on a Pod, as the events that plugins know; a change of status alone is none."""
    prefix = "AssignedPod" if assigned else "UnschedulablePod"
    events = []
    if old.labels is not new.labels:
        events.append(_pod(Action.UPDATE_POD_LABEL, f"{prefix}LabelChange"))
    if old.spec is not new.spec:
        before, after = old.spec.requests, new.spec.requests
        if any(after.get(r, 0) < amount for r, amount in before.items()):
            events.append(_pod(Action.UPDATE_POD_SCALE_DOWN, f"{prefix}ScaleDown"))
        if len(old.spec.tolerations) != len(new.spec.tolerations):
            events.append(_pod(Action.UPDATE_POD_TOLERATION, f"{prefix}TolerationChange"))
        if old.spec.scheduling_gates and not new.spec.scheduling_gates:
            events.append(_pod(Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, f"{prefix}SchedulingGatesEliminated"))
        if not events:
            events.append(_pod(Action.UPDATE_POD_OTHER, f"{prefix}Update"))
    return events
