"""The garbage collector: what an object owned goes after it, in the background.

An owner that never was here counts as present: a dump may lack it. Cycles end, for each object is deleted once.

Source: pkg/controller/garbagecollector/{garbagecollector,graph_builder}.go, v1.36
"""

from typing import Any, Final

from simulations.engine.api.pod import OwnerReference
from simulations.engine.cluster.answers import DELETED, WatchEvent
from simulations.engine.cluster.api_server import RESOURCES, ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.controllers.controller import ACTOR
from simulations.engine.kernel.clock import MILLISECOND

NAME: Final = "garbage-collector-controller"
DELAY: Final = 100 * MILLISECOND


class GarbageCollector:
    """Deletes dependents of owners that it saw deleted."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=20, burst=30)
        self._dependents: dict[str, dict[str, tuple[str, str, str]]] = {}
        """By uid of the owner: kind, namespace and name of what it owns, by uid."""
        self._gone: set[str] = set()
        for kind in RESOURCES:
            api.watch(kind, self._on_object)

    def _on_object(self, event: WatchEvent) -> None:
        item: Any = event.object
        if event.type != DELETED:
            for owner in _owners(item):
                self._dependents.setdefault(owner.uid, {})[item.uid] = (event.kind, item.namespace, item.name)
            return
        for owner in _owners(item):
            self._dependents.get(owner.uid, {}).pop(item.uid, None)
        self._gone.add(item.uid)
        orphaned = self._dependents.pop(item.uid, None)
        if orphaned:
            self.api.loop.after(DELAY, self._collect, list(orphaned.items()), event.cause)

    def _collect(self, found: list[tuple[str, tuple[str, str, str]]], cause: int) -> None:
        for uid, (kind, namespace, name) in found:
            item = self.api.get(kind, namespace, name)
            if item is None or item.uid != uid or getattr(item, "terminating", False):
                continue
            if all(owner.uid in self._gone for owner in _owners(item)):
                self.client.delete(kind, namespace, name, uid=uid, cause=cause)


def _owners(item: Any) -> list[OwnerReference]:
    return [owner for owner in getattr(item, "owners", ()) if owner.uid]
