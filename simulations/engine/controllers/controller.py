"""What the controllers of workloads share: a queue of keys, one sync at a time for each, Pods by their owner, events.

Source: pkg/controller/controller_utils.go; staging/src/k8s.io/client-go/util/workqueue, v1.36
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

from simulations.engine.api.pod import Pod
from simulations.engine.api.workloads import ApiObject
from simulations.engine.cluster.answers import ADDED, DELETED, Answer, WatchEvent
from simulations.engine.cluster.api_server import ApiServer, Key
from simulations.engine.cluster.client import Client
from simulations.engine.controllers.owners import owner_reference, reference
from simulations.engine.controllers.pod_book import PodBook, active, ready
from simulations.engine.kernel.clock import MILLISECOND, SECOND, SimTime
from simulations.engine.kernel.loop import Future, Steps, all_of

ACTOR: Final = "controller-manager"
SYNC_DELAY: Final = 8 * MILLISECOND
QPS: Final = 20
BURST: Final = 30
T = TypeVar("T", bound=ApiObject)
Document = dict[str, Any]


class Controller(Generic[T]):
    """Keeps the objects of one kind as they should be. Subclasses say how, in `sync`."""

    KIND: ClassVar[str]
    CLAIMS: ClassVar[bool] = True
    """Whether Pods without a controller that the selector matches are adopted, and own ones that it does not match are let go."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=QPS, burst=BURST)
        self.events = Client(api, ACTOR)
        self.rng = api.streams.stream(f"names/{self.KIND.lower()}s")
        self.items: dict[Key, T] = {}
        self.book = PodBook(self.tally_key)
        self.pods = self.book.pods
        self._orphans: dict[str, dict[str, Pod]] = {}
        """Pods without a controller, by namespace and uid."""
        self._to_claim: set[Key] = set()
        """Objects whose Pods may have to be adopted or let go."""
        self._ready_since: dict[str, SimTime] = {}
        self._due: set[Key] = set()
        self._busy: set[Key] = set()
        self._again: dict[Key, int] = {}
        api.watch(self.KIND, self.on_item)
        api.watch("Pod", self.on_pod)

    # ---- what it sees

    def on_item(self, event: WatchEvent) -> None:
        """An object of the kind changed."""
        item: T = event.object
        if event.type == DELETED:
            self.items.pop(item.key, None)
            return
        new = item.key not in self.items
        self.items[item.key] = item
        selector = getattr(item, "selector", None)
        if new and self.CLAIMS and selector is not None:
            self._to_claim.add(item.key)
            for pod in list(self._orphans.get(item.namespace, {}).values()):
                if selector.matches(pod.labels):
                    self.book.keep(item.key, pod)
                    del self._orphans[item.namespace][pod.uid]
        self.enqueue(item.key, event.cause, own=True)

    def on_pod(self, event: WatchEvent) -> None:
        """A Pod changed; those of others are not kept."""
        pod, old = event.object, event.old
        key = self.owner_of(pod)
        if old is not None and (old.owners is not pod.owners or old.labels is not pod.labels):
            self._claims_changed(self.owner_of(old), key, event)
        if event.type == DELETED:
            self._orphans.get(pod.namespace, {}).pop(pod.uid, None)
            self._ready_since.pop(pod.uid, None)
            if key is not None:
                self.book.drop(key, pod.uid)
        elif key is not None:
            self.book.keep(key, pod)
            self._orphans.get(pod.namespace, {}).pop(pod.uid, None)
            if pod.controller is None:
                self._to_claim.add(key)
            self._note_ready(key, pod, event)
        elif pod.controller is None and self.CLAIMS:
            self._orphans.setdefault(pod.namespace, {})[pod.uid] = pod
        if key is not None:
            self.pod_changed(key, event)

    def _claims_changed(self, before: Key | None, key: Key | None, event: WatchEvent) -> None:
        """Labels or owners changed: the Pod may have to be adopted, or let go."""
        pod: Pod = event.object
        if before is not None and before != key:
            self.book.drop(before, pod.uid)
            self.enqueue(before, event.cause)
        selector = getattr(self.items.get(key), "selector", None) if key is not None else None
        if key is not None and (before != key or (selector is not None and not selector.matches(pod.labels))):
            self._to_claim.add(key)
            self.enqueue(key, event.cause)

    def tally_key(self, key: Key, pod: Pod) -> Key:
        """Under what a Pod of the object is counted."""
        return key

    def _note_ready(self, key: Key, pod: Pod, event: WatchEvent) -> None:
        if not ready(pod):
            self._ready_since.pop(pod.uid, None)
        elif pod.uid not in self._ready_since:
            there = event.type == ADDED and not event.cause  # when the run began; it has been ready since it started
            self._ready_since[pod.uid] = (pod.start_time or pod.created) if there else self.api.loop.now
            wait = self.min_ready(self.items[key]) if key in self.items else 0
            if wait:
                self.api.loop.after(wait, self.enqueue, key, event.cause)

    @staticmethod
    def min_ready(item: ApiObject) -> int:
        """How long a Pod has to be ready before it counts as available, in ns."""
        seconds = (item.raw.get("spec") or {}).get("minReadySeconds")
        return seconds * SECOND if isinstance(seconds, int) else 0

    def number_available(self, item: T, key: Key) -> int:
        """How many of the Pods that are counted under a key are available."""
        if not self.min_ready(item):
            return self.book.tally(key).ready
        pods = self.pods.get(item.key, {}).values()
        return sum(1 for p in pods if active(p) and self.tally_key(item.key, p) == key and self.available(item, p))

    def available(self, item: ApiObject, pod: Pod) -> bool:
        """Whether the Pod is ready, and has been for the object's minReadySeconds."""
        since = self._ready_since.get(pod.uid)
        return ready(pod) and since is not None and self.api.loop.now >= since + self.min_ready(item)

    def owner_of(self, pod: Pod) -> Key | None:
        """The object that has this Pod; an orphan is adopted by the one that selects it."""
        owner = pod.controller
        if owner is not None:
            return (pod.namespace, owner.name) if owner.kind == self.KIND else None
        for key, item in self.items.items():
            selector = getattr(item, "selector", None)
            if item.namespace == pod.namespace and selector is not None and selector.matches(pod.labels):
                return key
        return None

    def pod_changed(self, key: Key, event: WatchEvent) -> None:
        """A Pod of the object changed: look at it if that may matter."""
        old, pod = event.old, event.object
        if event.type == DELETED or old is None or _state(old) != _state(pod):
            self.enqueue(key, event.cause)

    # ---- syncs

    def enqueue(self, key: Key, cause: int, *, own: bool = False) -> None:
        """Sync the object soon; while a sync of it is under way, once more after that. A change of the object itself (`own`) is the
        cause before any change of its Pods.
        """
        if key not in self.items:
            return
        if key in self._busy:
            if own or key not in self._again:
                self._again[key] = cause
        elif key not in self._due:
            self._due.add(key)
            self.api.loop.after(SYNC_DELAY, self._begin, key, cause)

    def _begin(self, key: Key, cause: int) -> None:
        self._due.discard(key)
        if key in self.items:
            self._busy.add(key)
            self.api.loop.spawn(self._run(key, cause), f"{self.KIND.lower()} {key[1]}")

    def _run(self, key: Key, cause: int) -> Steps[None]:
        item = self.items[key]
        if item.terminating:
            yield from self.sync_terminating(item, cause)
        else:
            yield from self._claim(item, cause)
            yield from self.sync(item, cause)
            yield from self._report(item.key, cause)
        yield self.api.settings.costs.watch_delay  # its own writes are seen before the next sync
        self._busy.discard(key)
        again = self._again.pop(key, None)
        if again is not None:
            self.enqueue(key, again)

    def sync(self, item: T, cause: int) -> Steps[None]:
        """Bring the object one step nearer to what it should be."""
        raise NotImplementedError

    def status_of(self, item: T) -> Document:
        """The counters of the object's status, from the Pods that the informer has; empty for one that is not counted for."""
        return {}

    def _report(self, key: Key, cause: int) -> Steps[None]:
        """Write the status where it differs from the stored one."""
        item = self.items.get(key)
        status = self.status_of(item) if item is not None else {}
        known = (item.raw.get("status") or {}) if item is not None else {}
        if item is not None and any(known.get(name, 0) != value for name, value in status.items()):
            yield self.client.update_status(self.KIND, item.namespace, item.name, status, cause=cause)

    def may_adopt(self, item: T, pod: Pod) -> bool:
        """Whether an orphan that the selector matches can be one of the object's."""
        return not pod.terminal

    def _claim(self, item: T, cause: int) -> Steps[None]:
        """Adopt orphans that the selector matches; let go of own Pods whose labels it does not match any more."""
        selector = getattr(item, "selector", None)
        if item.key not in self._to_claim or selector is None:
            return
        self._to_claim.discard(item.key)
        known = self.pods.get(item.key, {})
        calls: list[Future[Answer]] = []
        for pod in list(known.values()):
            owners = [reference(owner) for owner in pod.owners if not owner.controller]
            if pod.terminating or selector.matches(pod.labels) == (pod.controller is not None):
                continue
            if pod.controller is None and not self.may_adopt(item, pod):
                self.book.drop(item.key, pod.uid)
                continue
            if pod.controller is None:
                owners.append(owner_reference(item, self.KIND))
            else:
                self.book.drop(item.key, pod.uid)
            patch = {"metadata": {"ownerReferences": owners}}
            calls.append(self.client.patch("Pod", pod.namespace, pod.name, patch, cause=cause))
        yield all_of(self.api.loop, calls)

    def sync_terminating(self, item: T, cause: int) -> Steps[None]:
        """An object that is being deleted makes and removes nothing any more."""
        yield 0

    # ---- writes

    def create_pods(self, item: T, manifests: Sequence[Document], causes: Sequence[int]) -> Steps[list[Answer]]:
        """Create in parallel batches of 1, 2, 4 ...; an error ends it after its batch."""
        answers: list[Answer] = []
        batch, at = 1, 0
        while at < len(manifests):
            part = list(zip(manifests, causes, strict=True))[at : at + batch]
            found: list[Answer] = yield all_of(self.api.loop, [self.client.create(m, cause=c) for m, c in part])
            for (manifest, _cause), answer in zip(part, found, strict=True):
                self.created(item, manifest["metadata"]["name"], answer)
            answers += found
            if not all(answer.ok for answer in found):
                break
            at, batch = at + batch, batch * 2
        return answers

    def delete_pods(self, item: T, pods: Sequence[Pod], cause: int) -> Steps[None]:
        """Delete in parallel."""
        calls: list[Future[Answer]] = [self.client.delete("Pod", p.namespace, p.name, cause=cause) for p in pods]
        answers: list[Answer] = yield all_of(self.api.loop, calls)
        for pod, answer in zip(pods, answers, strict=True):
            if answer.ok:
                self.deleted(item, pod.name, answer)

    def created(self, item: T, name: str, answer: Answer) -> None:
        """Say that a Pod was created, or why not."""
        if answer.ok:
            self.event(item, "SuccessfulCreate", f"Created pod: {name}", answer.seq)
        else:
            self.event(item, "FailedCreate", f"Error creating: {answer.message}", answer.seq)

    def deleted(self, item: T, name: str, answer: Answer) -> None:
        """Say that a Pod was deleted."""
        self.event(item, "SuccessfulDelete", f"Deleted pod: {name}", answer.seq)

    def event(self, item: ApiObject, reason: str, note: str, cause: int, kind: str = "") -> None:
        """Write an event about the object."""
        regarding = {"kind": self.KIND, "namespace": item.namespace, "name": item.name, "uid": item.uid}
        kind = kind or ("Warning" if reason.startswith("Failed") else "Normal")
        self.events.create_event({"type": kind, "reason": reason, "note": note, "action": "", "regarding": regarding}, cause=cause)

    def pod_manifest(self, item: T, name: str = "", labels: Mapping[str, str] | None = None) -> Document:
        """A Pod of the object's template; without a name one is generated."""
        template: Mapping[str, Any] = getattr(item, "template", {})
        metadata = template.get("metadata") or {}
        own: Document = {
            "name": name or self.api.new_name(f"{item.name}-", self.rng),
            "namespace": item.namespace,
            "labels": {**(metadata.get("labels") or {}), **(labels or {})},
            "ownerReferences": [owner_reference(item, self.KIND)],
        }
        if metadata.get("annotations"):
            own["annotations"] = dict(metadata["annotations"])
        return {"apiVersion": "v1", "kind": "Pod", "metadata": own, "spec": template.get("spec") or {}}


def _state(pod: Pod) -> tuple[Any, ...]:
    return pod.phase, pod.terminating, pod.node_name, ready(pod), pod.finalizers
