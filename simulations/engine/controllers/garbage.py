"""The garbage collector: what an object owned goes after it (Background), before it (Foreground), or stays (Orphan).

An owner that never was here counts as present: a dump may lack it. Cycles end, for each object is deleted once.

Source: pkg/controller/garbagecollector/{garbagecollector,graph_builder}.go, v1.36
"""

from typing import Any, Final

from simulations.engine.api.pod import OwnerReference
from simulations.engine.api.workloads import ApiObject
from simulations.engine.cluster.answers import DELETED, WatchEvent
from simulations.engine.cluster.api_server import RESOURCES, ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.deletion import FOREGROUND, ORPHAN
from simulations.engine.controllers.controller import ACTOR
from simulations.engine.controllers.owners import reference
from simulations.engine.kernel.clock import MILLISECOND

NAME: Final = "garbage-collector-controller"
DELAY: Final = 100 * MILLISECOND
Named = tuple[str, str, str]


class GarbageCollector:
    """Deletes dependents of owners that it saw deleted."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=20, burst=30)
        self._dependents: dict[str, dict[str, Named]] = {}
        """By uid of the owner: kind, namespace and name of what it owns, by uid."""
        self._gone: set[str] = set()
        self._held: dict[str, tuple[Named, str, int]] = {}
        """Objects that wait for what they own, with the finalizer that holds them and the record of their deletion."""
        for kind in RESOURCES:
            api.watch(kind, self._on_object)

    # ---- what it sees

    def _on_object(self, event: WatchEvent) -> None:
        item: Any = event.object
        if event.type == DELETED:
            self._on_gone(item, event.cause)
            return
        owners = _owners(item)
        for owner in owners:
            self._dependents.setdefault(owner.uid, {})[item.uid] = (event.kind, item.namespace, item.name)
        if event.old is not None and event.old.uid == item.uid:
            for owner in _owners(event.old):
                if owner not in owners:
                    self._forget(owner.uid, item.uid)
        if isinstance(item, ApiObject) and item.terminating and item.uid not in self._held:
            self._begin(event.kind, item, event.cause)

    def _on_gone(self, item: Any, cause: int) -> None:
        for owner in _owners(item):
            self._forget(owner.uid, item.uid)
        self._held.pop(item.uid, None)
        self._gone.add(item.uid)
        orphaned = self._dependents.pop(item.uid, None)
        if orphaned:
            self.api.loop.after(DELAY, self._collect, list(orphaned.items()), cause)

    def _forget(self, owner: str, uid: str) -> None:
        """The owner has one dependent less; one that waited for the last of them is let go."""
        known = self._dependents.get(owner)
        if known is None or known.pop(uid, None) is None or known:
            return
        del self._dependents[owner]
        self._let_go(owner)

    # ---- what it does

    def _begin(self, kind: str, item: ApiObject, cause: int) -> None:
        finalizer = next((name for name in item.finalizers if name in (FOREGROUND, ORPHAN)), "")
        if not finalizer:
            return
        self._held[item.uid] = ((kind, item.namespace, item.name), finalizer, cause)
        found = list(self._dependents.get(item.uid, {}).items())
        if all(uid in self._held for uid, _named in found):  # nothing, or only what waits for this one: a cycle
            self._let_go(item.uid)
        for uid, named in found:
            if finalizer == ORPHAN:
                self._disown(named, item.uid, cause)
            else:
                self._delete(uid, named, cause, foreground=True)

    def _let_go(self, uid: str) -> None:
        if uid not in self._held:
            return
        (kind, namespace, name), finalizer, cause = self._held[uid]
        item = self.api.get(kind, namespace, name)
        if item is not None and item.uid == uid:
            left = [text for text in item.finalizers if text != finalizer]
            self.client.patch(kind, namespace, name, {"metadata": {"finalizers": left}}, cause=cause)

    def _disown(self, named: Named, owner: str, cause: int) -> None:
        item = self.api.get(*named)
        if item is not None:
            left = [reference(o) for o in _owners(item) if o.uid != owner]
            self.client.patch(*named, {"metadata": {"ownerReferences": left}}, cause=cause)

    def _collect(self, found: list[tuple[str, Named]], cause: int) -> None:
        for uid, named in found:
            self._delete(uid, named, cause)

    def _delete(self, uid: str, named: Named, cause: int, *, foreground: bool = False) -> None:
        """Delete a dependent once no owner is left to keep it; in the foreground what it owns goes first, too."""
        item = self.api.get(*named)
        if item is None or item.uid != uid or getattr(item, "terminating", False):
            return
        if any(owner.uid not in self._gone and owner.uid not in self._held for owner in _owners(item)):
            return
        policy = "Foreground" if foreground and self._dependents.get(uid) else ""
        self.client.delete(*named, uid=uid, propagation=policy, cause=cause)


def _owners(item: Any) -> list[OwnerReference]:
    return [owner for owner in getattr(item, "owners", ()) if owner.uid]
