"""The taint eviction controller: Pods that do not tolerate the NoExecute taints of their Node are deleted, at once or after a while.

Budgets are not asked.

Source: pkg/controller/tainteviction/{taint_eviction,timed_workers}.go, v1.36
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Condition, Pod
from simulations.engine.api.scheduling import NO_EXECUTE, Taint, Toleration
from simulations.engine.cluster.answers import DELETED, Answer, WatchEvent
from simulations.engine.cluster.api_server import ApiServer, Key
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.eviction import DISRUPTION_TARGET
from simulations.engine.controllers.controller import ACTOR, BURST, QPS
from simulations.engine.kernel.clock import MILLISECOND, SECOND, SimTime
from simulations.engine.kernel.loop import Handle, Steps

NAME: Final = "taint-eviction-controller"
TRIES: Final = 5
RETRY: Final = 10 * MILLISECOND
Taints = tuple[Taint, ...]


@dataclass(slots=True)
class _Timer:
    """The deletion of a Pod that is planned; without a handle it is under way or done."""

    made: SimTime
    handle: Handle | None


def wait_of(tolerations: Sequence[Toleration], taints: Sequence[Taint]) -> int | None:
    """How long a Pod may stay on a Node with these NoExecute taints, in ns: 0 not at all, None for ever.

    Of each taint the first toleration that matches counts, and of those the shortest.
    """
    used = []
    for taint in taints:
        found = next((t for t in tolerations if t.tolerates(taint)), None)
        if found is None:
            return 0
        used.append(found)
    seconds = [t.seconds for t in used if t.seconds is not None]
    return max(0, min(seconds)) * SECOND if seconds else None


class TaintEvictionController:
    """Deletes what must not stay; a Pod that may stay for a while has a timer."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=QPS, burst=BURST)
        self.events = Client(api, ACTOR)
        self._taints: dict[str, Taints] = {}
        self._pods: dict[str, dict[Key, Pod]] = {}
        """The Pods of each Node."""
        self._timers: dict[Key, _Timer] = {}
        api.watch("Node", self._on_node)
        api.watch("Pod", self._on_pod)

    # ---- what it sees

    def _on_node(self, event: WatchEvent) -> None:
        node: Node = event.object
        taints = () if event.type == DELETED else tuple(t for t in node.taints if t.effect == NO_EXECUTE)
        if self._taints.get(node.name, ()) == taints:
            return
        self._taints[node.name] = taints
        if event.type == DELETED:
            return  # timers of its Pods run on
        for key, pod in list(self._pods.get(node.name, {}).items()):
            if taints:
                self._judge(pod, taints, event.cause)
            else:
                self._cancel(key, event.cause)

    def _on_pod(self, event: WatchEvent) -> None:
        pod, old = event.object, event.old
        if event.type == DELETED:
            self._pods.get(pod.node_name, {}).pop(pod.key, None)
            self._cancel(pod.key, event.cause)
            return
        self._pods.setdefault(pod.node_name, {})[pod.key] = pod
        same = old is not None and (old.spec.tolerations, old.node_name) == (pod.spec.tolerations, pod.node_name)
        taints = self._taints.get(pod.node_name, ())
        if old is not None and old.node_name != pod.node_name:
            self._pods.get(old.node_name, {}).pop(pod.key, None)
        if pod.node_name and taints and not same:
            self._judge(pod, taints, event.cause)

    # ---- decisions

    def _judge(self, pod: Pod, taints: Taints, cause: int) -> None:
        """Delete the Pod now or later, or let it stay."""
        wait = wait_of(pod.spec.tolerations, taints)
        timer = self._timers.get(pod.key)
        if wait is None:
            self._cancel(pod.key, cause)
        elif wait == 0:
            self._cancel(pod.key, cause)
            self._plan(pod.key, 0, cause)
        elif timer is None or timer.made == self.api.loop.now:
            self._cancel(pod.key, cause)
            self._plan(pod.key, wait, cause)

    def _plan(self, key: Key, wait: int, cause: int) -> None:
        handle = self.api.loop.after(wait, self._fire, key, cause) if wait else None
        self._timers[key] = _Timer(self.api.loop.now, handle)
        if handle is None:
            self._fire(key, cause)

    def _cancel(self, key: Key, cause: int) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None and timer.handle is not None:
            timer.handle.cancel()
            self._event(key, f"Cancelling deletion of Pod {key[0]}/{key[1]}", cause)

    # ---- writes

    def _fire(self, key: Key, cause: int) -> None:
        self._timers[key].handle = None
        self._event(key, f"Marking for deletion Pod {key[0]}/{key[1]}", cause)
        self.api.loop.spawn(self._delete(key, cause), f"taint eviction of {key[1]}")

    def _delete(self, key: Key, cause: int) -> Steps[None]:
        for _ in range(TRIES):
            good: bool = yield from self._try(key, cause)
            if good:
                return
            yield RETRY
        self._timers.pop(key, None)

    def _try(self, key: Key, cause: int) -> Steps[bool]:
        pod: Pod | None = self.api.get("Pod", *key)
        if pod is None:
            return False
        text = "Taint manager: deleting due to NoExecute taint"
        condition = Condition(DISRUPTION_TARGET, "True", "DeletionByTaintManager", text, pod.generation)
        if pod.condition(DISRUPTION_TARGET) != condition:
            patched: Answer = yield self.client.patch_pod_status(pod, conditions=(condition,), cause=cause)
            if not patched.ok:
                return False
        answer: Answer = yield self.client.delete("Pod", *key, cause=cause)
        return answer.ok

    def _event(self, key: Key, note: str, cause: int) -> None:
        regarding = {"kind": "Pod", "namespace": key[0], "name": key[1]}
        event = {"type": "Normal", "reason": "TaintManagerEviction", "note": note, "action": "", "regarding": regarding}
        self.events.create_event(event, cause=cause)
