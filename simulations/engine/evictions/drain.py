"""`kubectl drain` and `kubectl cordon`: all named Nodes are cordoned, then emptied one after the other, a Node's Pods all at once.

Source: staging/src/k8s.io/kubectl/pkg/drain/{drain,cordon}.go; staging/src/k8s.io/kubectl/pkg/cmd/drain/drain.go, v1.36
"""

from collections.abc import Sequence
from typing import Any, Final

from simulations.engine.api.durations import format_duration
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.cluster.answers import Answer
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.eviction import Eviction
from simulations.engine.evictions.drain_filters import EVICT, aggregate, errors_of, overdue, verdict, warnings_of
from simulations.engine.evictions.drain_flags import DrainFlags
from simulations.engine.evictions.evictor import Evictor
from simulations.engine.kernel.clock import SECOND, SimTime
from simulations.engine.kernel.loop import Steps, all_of

RETRY: Final = 5 * SECOND
POLL: Final = SECOND
QPS: Final = 50
BURST: Final = 300
"""What kubectl allows itself."""


def cordon(api: ApiServer, client: Client, name: str, wanted: bool, cause: int = 0) -> Steps[None]:
    """Make a Node unschedulable, or schedulable again; a Node that is so already is left alone."""
    node: Node | None = api.get("Node", "", name)
    if node is None or node.unschedulable != wanted:
        patch = {"spec": {"unschedulable": True if wanted else None}}
        yield client.patch("Node", "", name, patch, cause=cause)


class Drain:
    """One drain command. It evicts through `evictor`, and does the rest as the client's actor."""

    def __init__(self, api: ApiServer, client: Client, evictor: Evictor, flags: DrainFlags) -> None:
        self.api = api
        self.client = client
        self.evictor = evictor
        self.flags = flags

    def run(self, names: Sequence[str]) -> Steps[None]:
        """Drain the Nodes; when one of them is not there, nothing is done at all."""
        nodes = [self.api.get("Node", "", name) for name in names]
        missing = [name for name, node in zip(names, nodes, strict=True) if node is None]
        begun = [self._begin(name, node, missing) for name, node in zip(names, nodes, strict=True)]
        if missing:
            return
        for name, seq in zip(names, begun, strict=True):
            if self.flags.dry_run != "client":
                yield from cordon(self.api, self.client, name, True, seq)
        for name, seq in zip(names, begun, strict=True):
            yield from self._empty(name, seq)

    def _begin(self, name: str, node: Node | None, missing: Sequence[str]) -> int:
        code, text = (404, f'nodes "{missing[0]}" not found') if missing else (200, "")
        reason = "NotFound" if missing else ""
        return self._note("drain", name, node, code, reason, text, 0, {"flags": list(self.flags.texts)})

    # ---- one Node

    def _empty(self, name: str, cause: int) -> Steps[None]:
        """Look at the Node's Pods, and unless one of them is an error make all leave."""
        pods = self._pods_of(name)
        found = [(pod, verdict(self.api, pod, self.flags)) for pod in pods]
        told = [{"namespace": p.namespace, "name": p.name, "action": v.action, "message": v.message} for p, v in found]
        error, node = errors_of(found), self.api.get("Node", "", name)
        listed = self._note("drain-list", name, node, 0, "", error or warnings_of(found), cause, {"pods": told})
        if not error and self.flags.dry_run != "client":
            leaving = [pod for pod, said in found if said.action == EVICT]
            error = yield from (
                self._delete_all(leaving, listed) if self.flags.disable_eviction else self._evict_all(leaving, listed)
            )
        left = [f"{pod.namespace}/{pod.name}" for pod in self._pods_of(name) if verdict(self.api, pod, self.flags).action == EVICT]
        data: dict[str, Any] = {"pending": left} if error else {}
        self._note("drained", name, node, 0, "Failed" if error else "Drained", error, listed, data)

    def _pods_of(self, name: str) -> list[Pod]:
        selector = self.flags.pod_selector
        pods: list[Pod] = self.api.list("Pod")
        here = [p for p in pods if p.node_name == name and (selector is None or selector.matches(p.labels))]
        return sorted(here, key=lambda p: p.key)

    def _evict_all(self, pods: Sequence[Pod], cause: int) -> Steps[str]:
        end = self._end()
        processes = [self.api.loop.spawn(self._evict(pod, end, cause), f"drain of {pod.name}") for pod in pods]
        found: list[str] = yield all_of(self.api.loop, processes)
        return aggregate([error for error in found if error])

    def _delete_all(self, pods: Sequence[Pod], cause: int) -> Steps[str]:
        """Without evictions: one deletion after the other, then one wait for all."""
        if self.flags.dry_run == "server":
            return ""
        for pod in pods:
            answer: Answer = yield self.client.delete("Pod", *pod.key, grace_seconds=self._grace(), cause=cause)
            if not answer.ok and not answer.not_found:
                return answer.message
        error: str = yield from self._wait(pods, self._end())
        return error

    def _end(self) -> SimTime | None:
        return self.api.loop.now + self.flags.timeout if self.flags.timeout else None

    def _grace(self) -> int | None:
        return self.flags.grace_seconds if self.flags.grace_seconds >= 0 else None

    # ---- one Pod

    def _evict(self, pod: Pod, end: SimTime | None, cause: int) -> Steps[str]:
        """Ask until the Pod may leave, and wait until it has left; the error that ended it."""
        asked = Eviction(self._grace(), dry_run=self.flags.dry_run == "server")
        while True:
            where = f'pods/"{pod.name}" -n "{pod.namespace}"'
            if end is not None and self.api.loop.now >= end:
                return f"error when evicting {where}: {self._timed_out()}"
            answer: Answer = yield self.evictor.evict(pod, asked, cause=cause)
            if answer.ok and asked.dry_run:
                return ""
            if answer.ok or answer.not_found:
                break
            closing = _namespace_terminates(answer)
            if answer.code != 429 and not closing:
                return f"error when evicting {where}: {answer.message}"
            current: Pod | None = self.api.get("Pod", *pod.key)
            if closing and current is not None and current.terminating:
                break
            yield RETRY
        error: str = "" if answer.not_found else (yield from self._wait([pod], end))
        return f'error when waiting for pod "{pod.name}" in namespace "{pod.namespace}" to terminate: {error}' if error else ""

    def _wait(self, pods: Sequence[Pod], end: SimTime | None) -> Steps[str]:
        """Look every second whether the Pods are gone, or others have their names."""
        while any(self._is_there(pod) for pod in pods):
            if end is not None and self.api.loop.now >= end:
                return self._timed_out()
            yield POLL if end is None else min(POLL, end - self.api.loop.now)
        return ""

    def _is_there(self, pod: Pod) -> bool:
        current: Pod | None = self.api.get("Pod", *pod.key)
        return current is not None and current.uid == pod.uid and not overdue(current, self.flags, self.api.loop.now)

    def _timed_out(self) -> str:
        return f"global timeout reached: {format_duration(self.flags.timeout)}"

    def _note(self, verb: str, name: str, node: Node | None, code: int, reason: str, message: str, cause: int, data: Any) -> int:
        return self.api.trace.add(
            self.api.loop.now, self.client.actor, verb, resource="nodes", name=name, uid=node.uid if node is not None else "",
            code=code, reason=reason, message=message, cause=cause, data=data,
        )  # fmt: skip


def _namespace_terminates(answer: Answer) -> bool:
    causes = answer.details.get("causes") or []
    return answer.code == 403 and any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
