"""Cluster events that may make a rejected Pod schedulable, and how plugins ask to hear of them.

Source: staging/src/k8s.io/kube-scheduler/framework/types.go and pkg/scheduler/framework/events.go, v1.36
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from typing import Any

from simulations.engine.api.pod import Pod


class Resource(StrEnum):
    """The kinds of object whose events matter."""

    POD = "Pod"
    NODE = "Node"
    VOLUME = "PersistentVolume"
    CLAIM = "PersistentVolumeClaim"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    WILDCARD = "*"


class Action(IntFlag):
    """What happened to the object; updates of Pods and Nodes are split by what changed, UPDATE is that of any other kind."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_POD_LABEL = 128
    UPDATE_POD_SCALE_DOWN = 256
    UPDATE_POD_TOLERATION = 512
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1024
    UPDATE_POD_OTHER = 2048
    UPDATE = 4096
    ALL = 8191


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """A resource and the actions on it; `label` is how metrics and the trace call it."""

    resource: Resource
    action: Action
    label: str = ""

    def matches(self, happened: "ClusterEvent") -> bool:
        """Whether a registration for this event covers what happened."""
        if self.resource is Resource.WILDCARD or happened.resource is Resource.WILDCARD:
            return True
        return self.resource is happened.resource and bool(self.action & happened.action)


HintFn = Callable[[Pod, Any, Any], bool]
"""`hint(pod, old, new)`: whether the event (old object, new object; None where there is none) may let the Pod fit."""


@dataclass(frozen=True, slots=True)
class EventRegistration:
    """An event that a plugin wants to hear of; without a hint it always queues the Pod."""

    event: ClusterEvent
    hint: HintFn | None = None


def pod_event(action: Action) -> ClusterEvent:
    """An event on Pods."""
    return ClusterEvent(Resource.POD, action)


def node_event(action: Action) -> ClusterEvent:
    """An event on Nodes."""
    return ClusterEvent(Resource.NODE, action)
