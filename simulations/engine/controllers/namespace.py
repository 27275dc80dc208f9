"""The namespace controller: a Namespace that is being deleted is emptied, and then let go.

Source: pkg/controller/namespace/deletion/namespaced_resources_deleter.go, v1.36
"""

from typing import Any, Final

from simulations.engine.api.decode import CLUSTER_SCOPED
from simulations.engine.cluster.answers import DELETED, WatchEvent
from simulations.engine.cluster.api_server import RESOURCES, ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.controllers.controller import ACTOR
from simulations.engine.kernel.loop import Future, Steps, all_of

NAME: Final = "namespace-controller"
_KINDS: Final = tuple(kind for kind in RESOURCES if kind not in CLUSTER_SCOPED)


class NamespaceController:
    """Empties Namespaces."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=20, burst=30)
        self._waiting: dict[str, Future[None]] = {}
        """Namespaces that are being emptied, each with what is resolved when something in it goes."""
        api.watch("Namespace", self._on_namespace)
        for kind in _KINDS:
            api.watch(kind, self._on_object)

    def _on_namespace(self, event: WatchEvent) -> None:
        name = event.object.name
        if event.type != DELETED and event.object.terminating and name not in self._waiting:
            self._waiting[name] = Future()
            self.api.loop.spawn(self._empty(name, event.cause), f"namespace {name}")

    def _on_object(self, event: WatchEvent) -> None:
        if event.type != DELETED or event.object.namespace not in self._waiting:
            return
        gone = self._waiting[event.object.namespace]
        if not gone.done:
            gone.resolve(None)

    def _empty(self, name: str, cause: int) -> Steps[None]:
        asked: set[str] = set()
        while left := self._content(name):
            new = [(kind, item) for kind, item in left if item.uid not in asked]
            asked |= {item.uid for _kind, item in new}
            self._waiting[name] = Future()
            yield all_of(self.api.loop, [self.client.delete(k, name, o.name, uid=o.uid, cause=cause) for k, o in new])
            if self._content(name):
                yield self._waiting[name]
        yield self.client.finalize_namespace(name, cause=cause)
        del self._waiting[name]

    def _content(self, name: str) -> list[tuple[str, Any]]:
        return [(kind, item) for kind in _KINDS for item in self.api.list(kind) if item.namespace == name]
