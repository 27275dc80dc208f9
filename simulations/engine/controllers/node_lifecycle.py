"""The node lifecycle controller: Nodes whose kubelet is silent, and the taints that mirror a Node's state.

A kubelet renews its lease every 10 s; a Node that was silent for 50 s is Unknown at the next of the controller's ticks
(every 5 s). Ticks are planned only while a kubelet is silent. Differs: the NoExecute taints are set, but
nothing evicts for them yet; docs/controllers.md.

Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go, scheduler/rate_limited_queue.go, v1.36
"""

from typing import Any, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Condition, Pod
from simulations.engine.api.scheduling import ZONE_LABEL, Taint
from simulations.engine.cluster.answers import DELETED, Answer, WatchEvent
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.controllers.controller import ACTOR
from simulations.engine.kernel.clock import SECOND, SimTime
from simulations.engine.kernel.loop import Steps

NAME: Final = "node-lifecycle-controller"
TICK: Final = 5 * SECOND
GRACE: Final = 50 * SECOND
NEXT_TAINT: Final = 10 * SECOND
SLOW_TAINT: Final = 100 * SECOND
UNHEALTHY_ZONE: Final = 55
LARGE_CLUSTER: Final = 50
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
_MIRRORED: Final = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
_OURS: Final = frozenset({UNSCHEDULABLE, NOT_READY, UNREACHABLE, *_MIRRORED.values()})
_SILENT: Final = ("NodeStatusUnknown", "Kubelet stopped posting node status.")
Taints = tuple[Taint, ...]


class NodeLifecycleController:
    """Marks Nodes that are not well."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=20, burst=30)
        self.events = Client(api, ACTOR)
        self._silent: dict[str, int] = {}
        """Nodes whose kubelet is silent, with the record that says since when."""
        self._ticking = False
        self._next_taint: dict[str, SimTime] = {}
        """Per zone: when the next Node may get its NoExecute taint."""
        api.taints_new_nodes = True
        api.watch("Node", self._on_node)
        api.heartbeats.watch(self._on_silence, self._on_return)

    # ---- what it sees

    def _on_node(self, event: WatchEvent) -> None:
        node: Node = event.object
        if event.type == DELETED or event.old is None or event.old.ready != node.ready:
            self._resume()
        if event.type == DELETED:
            self._silent.pop(node.name, None)
        elif _no_schedule(node) != tuple(t for t in node.taints if t.key in _OURS and t.effect == "NoSchedule"):
            self.api.loop.spawn(self._mirror(node, event.cause), f"taints of {node.name}")

    def _on_silence(self, name: str, cause: int) -> None:
        self._silent[name] = cause
        self._resume()

    def _on_return(self, name: str, cause: int) -> None:
        self._silent.pop(name, None)
        node: Node | None = self.api.get("Node", "", name)
        if node is not None and not node.ready:
            self.api.loop.spawn(self._well_again(node, cause), f"return of {name}")

    # ---- ticks

    def _resume(self) -> None:
        if self._silent and not self._ticking:
            self._ticking = True
            self._plan()

    def _plan(self) -> None:
        self.api.loop.at((self.api.loop.now // TICK + 1) * TICK, self._tick)

    def _tick(self) -> None:
        self._spare_all()
        waiting = [name for name in self._silent if self._act(name)]
        self._ticking = bool(waiting)
        if waiting:
            self._plan()

    def _spare_all(self) -> None:
        """When no Node is ready the fault may be on this side: nobody is to be driven away."""
        nodes: list[Node] = self.api.list("Node")
        if any(node.ready for node in nodes):
            return
        for node in nodes:
            left = tuple(t for t in node.taints if t.key not in (NOT_READY, UNREACHABLE) or t.effect != "NoExecute")
            if left != node.taints:
                self.client.patch("Node", "", node.name, _taints(left), cause=next(reversed(self._silent.values()), 0))

    def _act(self, name: str) -> bool:
        """Look at a silent Node; whether it has to be looked at again."""
        node: Node | None = self.api.get("Node", "", name)
        if node is None:
            return False
        now, cause = self.api.loop.now, self._silent[name]
        if now < self.api.heartbeats.last(name) + GRACE:
            return True
        if node.ready:
            self.api.loop.spawn(self._unknown(node, cause), f"silence of {name}")
            return True
        if any(t.key == UNREACHABLE and t.effect == "NoExecute" for t in node.taints):
            return False
        wait = self._between_taints(node)
        if wait is None:
            return False  # nothing is tainted until some Node changes
        zone = node.labels.get(ZONE_LABEL) or ""
        if now >= self._next_taint.get(zone, now):
            self._next_taint[zone] = now + wait
            taints = (*node.taints, Taint(UNREACHABLE, "", "NoExecute"))
            self.client.patch("Node", "", name, _taints(taints), cause=cause)
        return True

    def _between_taints(self, node: Node) -> int | None:
        """How long until the next Node of the zone; None: nothing is tainted while all is down, or in a small zone that is mostly down."""
        zone = node.labels.get(ZONE_LABEL) or ""
        nodes: list[Node] = self.api.list("Node")
        if not any(n.ready for n in nodes):
            return None
        here = [n for n in nodes if (n.labels.get(ZONE_LABEL) or "") == zone]
        down = sum(1 for n in here if not n.ready)
        if down > 2 and down * 100 >= UNHEALTHY_ZONE * len(here):
            return SLOW_TAINT if len(nodes) > LARGE_CLUSTER else None
        return NEXT_TAINT

    # ---- writes

    def _unknown(self, node: Node, cause: int) -> Steps[None]:
        """The Node's conditions become Unknown, its Pods are not ready any more."""
        known = {c.type for c in node.conditions} | {"Ready"}
        conditions = [{"type": t, "status": "Unknown", "reason": _SILENT[0], "message": _SILENT[1]} for t in sorted(known)]
        answer: Answer = yield self.client.patch("Node", "", node.name, {"status": {"conditions": conditions}}, cause=cause)
        self._event("Node", "", node.name, node.uid, ("Normal", f"Node {node.name} status is now: NodeNotReady"), answer.seq)
        pods: list[Pod] = [p for p in self.api.list("Pod") if p.node_name == node.name and not p.terminal]
        for pod in pods:
            ready = pod.condition("Ready")
            if ready is not None and ready.status == "True":
                yield self.client.report_pod(pod, pod.phase, conditions=(Condition("Ready", "False"),), cause=answer.seq)
                self._event("Pod", pod.namespace, pod.name, pod.uid, ("Warning", "Node is not ready"), answer.seq)

    def _well_again(self, node: Node, cause: int) -> Steps[None]:
        """The kubelet is back: it reports its conditions, and the taints of its silence go."""
        status = {"status": {"conditions": self.api.heartbeats.conditions(node.name)}}
        answer: Answer = yield self.client.patch("Node", "", node.name, status, cause=cause)
        now: Node | None = self.api.get("Node", "", node.name)
        if now is None:
            return
        left = tuple(t for t in now.taints if t.key not in (UNREACHABLE, NOT_READY))
        if left != now.taints:
            yield self.client.patch("Node", "", node.name, _taints(left), cause=answer.seq)

    def _mirror(self, node: Node, cause: int) -> Steps[None]:
        """NoSchedule taints as the conditions and `unschedulable` say, at once."""
        yield 0
        now: Node | None = self.api.get("Node", "", node.name)
        if now is None:
            return
        wanted = _no_schedule(now)
        others = tuple(t for t in now.taints if not (t.key in _OURS and t.effect == "NoSchedule"))
        if {(t.key, t.effect) for t in now.taints} != {(t.key, t.effect) for t in (*others, *wanted)}:
            yield self.client.patch("Node", "", now.name, _taints((*others, *wanted)), cause=cause)

    def _event(self, kind: str, namespace: str, name: str, uid: str, words: tuple[str, str], cause: int) -> None:
        regarding = {"kind": kind, "namespace": namespace, "name": name, "uid": uid}
        event: dict[str, Any] = {"type": words[0], "reason": "NodeNotReady", "note": words[1], "action": "", "regarding": regarding}
        self.events.create_event(event, cause=cause)


def _no_schedule(node: Node) -> Taints:
    """The NoSchedule taints that mirror the Node's state."""
    status = {c.type: c.status for c in node.conditions}
    keys = [UNSCHEDULABLE] if node.unschedulable else []
    ready = status.get("Ready", "True")
    keys += [NOT_READY] if ready == "False" else [UNREACHABLE] if ready == "Unknown" else []
    keys += [key for condition, key in _MIRRORED.items() if status.get(condition) == "True"]
    return tuple(Taint(key, "", "NoSchedule") for key in keys)


def _taints(taints: Taints) -> dict[str, Any]:
    return {"spec": {"taints": [{"key": t.key, "value": t.value, "effect": t.effect} for t in taints]}}
