"""The user of a run: issues the operations of a scenario, each at its time or as soon as the one before is answered."""

from typing import Any, Final

from simulations.engine.api.encode import condition_manifest
from simulations.engine.api.pod import Pod
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.evictions import Eviction, EvictionCalls
from simulations.engine.evictions.drain import BURST, QPS, Drain, cordon
from simulations.engine.kernel.loop import Future, Steps
from simulations.engine.scenario import Operation

ACTOR: Final = "user"


class User:
    """Does what a scenario says. A drain runs beside the other operations, as in a terminal of its own."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR)

    def operate(self, operations: tuple[Operation, ...], start: int) -> Steps[None]:
        """All operations in order; `start` ns from now is T+0."""
        yield start
        for operation in operations:
            yield max(0, operation.at - self.api.loop.now)
            if operation.verb in ("fail", "recover"):
                self._kubelet_stops_or_returns(operation)
            elif operation.verb in ("cordon", "uncordon"):
                yield from cordon(self.api, self.client, operation.name, operation.verb == "cordon")
            elif operation.verb == "drain":
                self._drain(operation)
            else:
                yield self._issue(operation)

    def _issue(self, operation: Operation) -> Future[Any]:
        kind, namespace, name = operation.kind, operation.namespace, operation.name
        if operation.verb == "create":
            return self.client.create(operation.manifest)
        if operation.verb == "delete":
            return self.client.delete(
                kind, namespace, name, grace_seconds=operation.grace_seconds, propagation=operation.propagation
            )
        if operation.verb == "evict":
            return self.client.evict(namespace, name, Eviction(operation.grace_seconds, dry_run=operation.dry_run))
        if operation.verb == "evict-nth":
            return self._evict_one_of(operation)
        return self.client.patch(kind, namespace, name, operation.manifest)

    def _evict_one_of(self, operation: Operation) -> Future[Any]:
        """The n-th of the live Pods of an app, by name; counting begins anew after the last one."""
        pods: list[Pod] = [p for p in self.api.list("Pod") if p.namespace == operation.namespace and not p.terminating]
        names = sorted(p.name for p in pods if not p.terminal and p.labels.get("app") == operation.name)
        if names:
            return self.client.evict(operation.namespace, names[operation.number % len(names)], Eviction(operation.grace_seconds))
        self.api.trace.add(
            self.api.loop.now, ACTOR, "evict", resource="pods", namespace=operation.namespace, name=operation.name, code=404,
            reason="NotFound", message=f"no pod with the label app={operation.name} is there to be evicted",
        )  # fmt: skip
        nothing: Future[None] = Future()
        nothing.resolve(None)
        return nothing

    def _drain(self, operation: Operation) -> None:
        client = Client(self.api, ACTOR, qps=QPS, burst=BURST)
        flags = operation.drain
        names = operation.nodes
        if flags.node_selector is not None:
            names = tuple(sorted(n.name for n in self.api.list("Node") if flags.node_selector.matches(n.labels)))
        drain = Drain(self.api, client, EvictionCalls(client), flags)
        self.api.loop.spawn(drain.run(names), f"drain of {', '.join(names)}")

    def _kubelet_stops_or_returns(self, operation: Operation) -> None:
        """Not a call: something happens to a machine."""
        node = self.api.get("Node", "", operation.name)
        code, reason = (200, "") if node is not None else (404, "NotFound")
        seq = self.api.trace.add(
            self.api.loop.now, ACTOR, operation.verb, resource="nodes", name=operation.name, uid=node.uid if node else "", code=code,
            reason=reason, message="" if node else f'nodes "{operation.name}" not found',
        )  # fmt: skip
        if node is None:
            return
        if operation.verb == "fail":
            conditions = [condition_manifest(c) for c in node.conditions] or [{"type": "Ready", "status": "True"}]
            self.api.heartbeats.fail(node.name, self.api.loop.now, conditions, seq)
        else:
            self.api.heartbeats.recover(node.name, seq)
