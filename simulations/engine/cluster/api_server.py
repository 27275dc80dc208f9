"""The API server: one store with resource versions, watches, and the writes that change it.

Writes here happen at one instant and are recorded by their caller (`Client`); what an object's removal means is recorded here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random
from typing import Any, Final

from simulations.engine.api.budgets import budget_state
from simulations.engine.api.decode import AnyObject, decode_object
from simulations.engine.api.encode import node_state, pod_state
from simulations.engine.api.names import generate_name
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.workloads import PodDisruptionBudget, PriorityClass
from simulations.engine.cluster.admission import PodAdmission
from simulations.engine.cluster.answers import ADDED, DELETED, MODIFIED, WatchEvent
from simulations.engine.cluster.costs import CostModel, Costs
from simulations.engine.cluster.faults import Fault, FaultModel
from simulations.engine.cluster.heartbeats import Heartbeats
from simulations.engine.cluster.webhooks import Webhooks
from simulations.engine.kernel.loop import EventLoop
from simulations.engine.kernel.streams import Streams
from simulations.engine.kernel.trace import Trace

Key = tuple[str, str]
Handler = Callable[[WatchEvent], object]
RESOURCES: Final = {
    "Pod": "pods",
    "Node": "nodes",
    "Namespace": "namespaces",
    "Service": "services",
    "PriorityClass": "priorityclasses",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "ReplicaSet": "replicasets",
    "ReplicationController": "replicationcontrollers",
    "Deployment": "deployments",
    "StatefulSet": "statefulsets",
    "DaemonSet": "daemonsets",
    "Job": "jobs",
    "ResourceQuota": "resourcequotas",
    "LimitRange": "limitranges",
    "RuntimeClass": "runtimeclasses",
    "PersistentVolume": "persistentvolumes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "StorageClass": "storageclasses",
    "CSINode": "csinodes",
    "CSIDriver": "csidrivers",
    "CSIStorageCapacity": "csistoragecapacities",
    "VolumeAttachment": "volumeattachments",
}
"""The resource (plural) of each kind."""


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """How this API server behaves: the instant of T+0, gates, costs, faults; `names` that are generated and known beforehand, by base."""

    epoch: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    costs: Costs = field(default_factory=Costs)
    faults: tuple[Fault, ...] = ()
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)


def kind_of(item: AnyObject) -> str:
    """The kind under which an object is stored."""
    return item.kind


class ApiServer:
    """Objects by kind, namespace and name. Watchers hear of each change after the watch delay, in order."""

    def __init__(self, loop: EventLoop, trace: Trace, settings: ClusterSettings, streams: Streams) -> None:
        self.loop = loop
        self.trace = trace
        self.settings = settings
        self.streams = streams
        self.costs = CostModel(settings.costs, streams)
        self.faults = FaultModel(settings.faults, streams.stream("faults"))
        self.heartbeats = Heartbeats()
        self.webhooks = Webhooks()
        self.classes: dict[str, PriorityClass] = {}
        self.admission = PodAdmission(self.classes)
        self.taints_new_nodes = False
        """Whether TaintNodesByCondition acts: only with a controller that takes the taint away again."""
        self._names = {base: list(names) for base, names in settings.names.items()}
        self._uids = streams.stream("uids")
        self._objects: dict[str, dict[Key, Any]] = {}
        self._watchers: dict[str, list[Handler]] = {}
        self._version = 0
        self._rows = 0

    # ---- reading

    def get(self, kind: str, namespace: str, name: str) -> Any:
        """The object, or None."""
        return self._objects.get(kind, {}).get((namespace, name))

    def list(self, kind: str) -> list[Any]:
        """All objects of a kind in order of creation."""
        return list(self._objects.get(kind, {}).values())

    def watch(self, kind: str, handler: Handler) -> None:
        """Tell `handler` of every change of a kind; what is there already comes first, as ADDED, at once."""
        self._watchers.setdefault(kind, []).append(handler)
        for item in self.list(kind):
            handler(WatchEvent(ADDED, kind, item, None, 0))

    # ---- writing

    def new_uid(self) -> str:
        """A UID from the run's own stream."""
        digits = f"{self._uids.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def new_name(self, base: str, rng: Random) -> str:
        """A name that begins with `base`: the next one that is known for it, else a generated one."""
        known = self._names.get(base)
        return known.pop(0) if known else generate_name(base, rng)

    def decode(self, document: Mapping[str, Any]) -> AnyObject:
        """Read a manifest as this server does, Pods with admission.

        Raises:
            ScenarioError: the manifest is wrong.
        """
        if document.get("kind") == "Pod":
            document = {**document, "spec": self.admission.admit(document.get("spec") or {}, _labels(document))}
        return decode_object(document, epoch=self.settings.epoch)

    def insert(self, item: AnyObject) -> AnyObject:
        """Store a new object: it gets uid and resource version. The caller records and then calls `announce`."""
        self._version += 1
        uid = item.uid or self.new_uid()
        if isinstance(item, Pod | Node):
            item.uid, item.resource_version = uid, self._version
        else:
            item = replace(item, uid=uid, resource_version=self._version)
        self._objects.setdefault(kind_of(item), {})[item.key] = item
        self._note_class(item)
        return item

    def _note_class(self, item: Any, *, gone: bool = False) -> None:
        """Pods that are made from now on get their priority from the classes that there are now."""
        if not isinstance(item, PriorityClass):
            return
        if gone:
            self.classes.pop(item.name, None)
        else:
            self.classes[item.name] = item
        self.admission.forget()

    def next_row(self) -> int:
        """The row of a Node that is being created; rows count up from 0 and are never reused."""
        self._rows += 1
        return self._rows - 1

    def store(self, item: Any) -> Any:
        """Put a changed Pod, Node or other object in place of the old one; the caller then calls `announce`."""
        self._version += 1
        if isinstance(item, Pod | Node):
            item.resource_version = self._version
        else:
            item = replace(item, resource_version=self._version)
        self._objects[kind_of(item)][item.key] = item
        self._note_class(item)
        return item

    def announce(self, change: str, item: Any, old: Any, cause: int) -> None:
        """Tell the watchers, after the watch delay."""
        kind = kind_of(item)
        handlers = self._watchers.get(kind)
        if not handlers:
            return
        self.loop.after(self.settings.costs.watch_delay, _tell, handlers, WatchEvent(change, kind, item, old, cause))

    def added(self, item: Any, cause: int) -> None:
        """Announce a new object."""
        self.announce(ADDED, item, None, cause)

    def modified(self, item: Any, old: Any, cause: int) -> None:
        """Announce a changed object."""
        self.announce(MODIFIED, item, old, cause)

    def remove(self, item: Any, cause: int) -> None:
        """Take an object out of the store, record that it is gone and tell the watchers."""
        kind = kind_of(item)
        del self._objects[kind][item.key]
        self._note_class(item, gone=True)
        self._version += 1
        seq = self.trace.add(
            self.loop.now, "kube-apiserver", "gone", resource=RESOURCES[kind], namespace=item.namespace, name=item.name,
            uid=item.uid, cause=cause, data={"after": state_of(item)},
        )  # fmt: skip
        self.announce(DELETED, item, item, seq)


def _tell(handlers: list[Handler], event: WatchEvent) -> None:
    for handler in handlers:
        handler(event)


def _labels(document: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = document.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return labels if isinstance(labels, Mapping) else {}


def state_of(item: Any) -> dict[str, Any]:
    """The state of an object as records carry it."""
    if isinstance(item, Pod):
        return pod_state(item)
    if isinstance(item, Node):
        return node_state(item)
    if isinstance(item, PodDisruptionBudget):
        return budget_state(item)
    replicas = getattr(item, "replicas", None)
    return {} if replicas is None else {"replicas": replicas}
