"""The Deployment controller: one ReplicaSet for each template, rolled from old to new within surge and unavailability.

Differs: it reads availability from the Pods, not from the status of ReplicaSets; docs/controllers.md.

Source: pkg/controller/deployment/{sync,rolling,recreate}.go, util/deployment_util.go, v1.36
"""

import json
import zlib
from typing import Any, ClassVar, Final

from simulations.engine.api.pod import Pod
from simulations.engine.api.workloads import Deployment, ReplicaSet
from simulations.engine.cluster.answers import DELETED, Answer, WatchEvent
from simulations.engine.cluster.api_server import ApiServer, Key
from simulations.engine.controllers.controller import Controller
from simulations.engine.controllers.owners import controller_of, owner_reference
from simulations.engine.controllers.rounding import scaled
from simulations.engine.kernel.loop import Steps

NAME: Final = "deployment-controller"
HASH_LABEL: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"
DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
HISTORY: Final = 10
_DIGITS: Final = str.maketrans("0123456789", "456789bcdf")
Sets = list[ReplicaSet]


class DeploymentController(Controller[Deployment]):
    """Rolls Deployments out."""

    KIND: ClassVar[str] = "Deployment"
    CLAIMS: ClassVar[bool] = False

    def __init__(self, api: ApiServer) -> None:
        self.sets: dict[Key, dict[str, ReplicaSet]] = {}
        self._started = False
        api.watch("ReplicaSet", self._on_set)
        super().__init__(api)
        self._started = True

    # ---- what it sees

    def _on_set(self, event: WatchEvent) -> None:
        item: ReplicaSet = event.object
        owner = controller_of(item)
        if owner is None or owner.kind != self.KIND:
            return
        key = (item.namespace, owner.name)
        if event.type == DELETED:
            self.sets.get(key, {}).pop(item.name, None)
        else:
            self.sets.setdefault(key, {})[item.name] = item
        if getattr(self, "_started", False):
            self.enqueue(key, event.cause)

    def owner_of(self, pod: Pod) -> Key | None:
        """The Deployment whose ReplicaSet has the Pod."""
        owner = pod.controller
        if owner is None or owner.kind != "ReplicaSet":
            return None
        found = self.api.get("ReplicaSet", pod.namespace, owner.name)
        above = None if found is None else controller_of(found)
        return (pod.namespace, above.name) if above is not None and above.kind == self.KIND else None

    def tally_key(self, key: Key, pod: Pod) -> Key:
        """Pods are counted for each ReplicaSet."""
        owner = pod.controller
        return key if owner is None else (pod.namespace, owner.name)

    # ---- syncs

    def status_of(self, item: Deployment) -> dict[str, Any]:
        """How many Pods there are, are of the present template, ready, available, and missing."""
        sets = list(self.sets.get(item.key, {}).values())
        if not sets:
            return {}
        new = next((s.key for s in sets if same_template(s.template, item.template)), ("", ""))
        available = sum(self.number_available(item, s.key) for s in sets)
        return {
            "replicas": sum(self.book.tally(s.key).active for s in sets),
            "updatedReplicas": self.book.tally(new).active,
            "readyReplicas": sum(self.book.tally(s.key).ready for s in sets),
            "availableReplicas": available,
            "unavailableReplicas": max(0, item.replicas - available),
        }

    def sync(self, item: Deployment, cause: int) -> Steps[None]:
        """Do one thing: follow a scaling, or one step of the rollout."""
        sets = sorted(self.sets.get(item.key, {}).values(), key=lambda s: (s.created, s.name))
        if not sets and any(item.selector is not None and item.selector.matches(p.labels) for p in self._pods_of_nobody(item)):
            return  # a dump without its ReplicaSets: what they made is left alone
        new = next((s for s in sets if same_template(s.template, item.template)), None)
        if item.raw.get("spec", {}).get("paused") or self._scaled(item, sets):
            yield from self._follow_scale(item, new, sets, cause)
            return
        olds = [s for s in sets if s is not new]
        if _strategy(item).get("type") == "Recreate":
            yield from self._recreate(item, new, olds, cause)
        else:
            yield from self._roll(item, new, olds, cause)

    def _pods_of_nobody(self, item: Deployment) -> list[Pod]:
        pods = [p for p in self.api.list("Pod") if p.namespace == item.namespace and p.controller is not None]
        return [
            p
            for p in pods
            if p.controller.kind == "ReplicaSet" and self.api.get("ReplicaSet", p.namespace, p.controller.name) is None
        ]

    @staticmethod
    def _scaled(item: Deployment, sets: Sets) -> bool:
        """Whether the Deployment's own number changed since its ReplicaSets were last told."""
        told = [s.annotations.get(DESIRED) for s in sets if s.replicas]
        return any(number is not None and number != str(item.replicas) for number in told)

    def _follow_scale(self, item: Deployment, new: ReplicaSet | None, sets: Sets, cause: int) -> Steps[None]:
        """One ReplicaSet takes all of the change; several share it in proportion to their size, the newest what is left over."""
        with_pods = [s for s in sets if s.replicas] or ([new] if new is not None else [])
        if len(with_pods) == 1:
            yield from self._scale(item, with_pods[0], item.replicas, cause)
            return
        surge, _unavailable = fence_posts(item)
        whole = sum(s.replicas for s in with_pods)
        change = (item.replicas + surge if item.replicas else 0) - whole
        wanted = {s.name: s.replicas + int(change * s.replicas / whole) for s in with_pods} if whole else {}
        largest = max(with_pods, key=lambda s: (s is new, s.replicas), default=None)
        if largest is not None:
            wanted[largest.name] += change - sum(wanted[s.name] - s.replicas for s in with_pods)
        for one in with_pods:
            yield from self._scale(item, one, max(0, wanted[one.name]), cause)

    def _roll(self, item: Deployment, new: ReplicaSet | None, olds: Sets, cause: int) -> Steps[None]:
        surge, unavailable = fence_posts(item)
        whole = sum(s.replicas for s in (*olds, *([new] if new is not None else [])))
        wanted = min(item.replicas, (new.replicas if new else 0) + max(0, item.replicas + surge - whole))
        if new is None:
            yield from self._new_set(item, olds, wanted, cause)
            number, running = wanted, 0
        else:
            yield from self._note_revision(item, new, olds, cause)
            if new.replicas > item.replicas or wanted > new.replicas:
                yield from self._scale(item, new, min(wanted, item.replicas), cause)
                return
            number, running = new.replicas, self._available(item, new)
        yield from self._shrink_olds(item, olds, (number, running, unavailable), cause)

    def _shrink_olds(self, item: Deployment, olds: Sets, new: tuple[int, int, int], cause: int) -> Steps[None]:
        """Take Pods from the old ReplicaSets: what is not available first, then what the minimum leaves over."""
        number, running, unavailable = new
        left = [s for s in olds if s.replicas]
        if not left:
            yield from self._forget_history(item, olds, cause)
            return
        minimum = item.replicas - unavailable
        allowed = sum(s.replicas for s in left) + number - minimum - (number - running)
        sizes = {s.name: s.replicas for s in left}
        for one in left:
            broken = min(max(0, allowed), sizes[one.name] - min(sizes[one.name], self._available(item, one)))
            allowed -= broken
            sizes[one.name] -= broken
        spare = sum(self._available(item, s) for s in left) + running - minimum
        for one in left:
            taken = max(0, min(spare, allowed, sizes[one.name]))
            spare, allowed = spare - taken, allowed - taken
            sizes[one.name] -= taken
            yield from self._scale(item, one, sizes[one.name], cause)

    def _recreate(self, item: Deployment, new: ReplicaSet | None, olds: Sets, cause: int) -> Steps[None]:
        """All old Pods have to be gone, or ended, before the first new one is made."""
        for one in olds:
            yield from self._scale(item, one, 0, cause)
        old_names = {s.name for s in olds}
        if any(p.controller.name in old_names and not p.terminal for p in self._pods(item)):
            return
        if new is None:
            yield from self._new_set(item, olds, item.replicas, cause)
        else:
            yield from self._note_revision(item, new, olds, cause)
            yield from self._scale(item, new, item.replicas, cause)
            yield from self._forget_history(item, olds, cause)

    # ---- parts

    def _pods(self, item: Deployment) -> list[Any]:
        return list(self.pods.get(item.key, {}).values())

    def _available(self, item: Deployment, one: ReplicaSet) -> int:
        return self.number_available(item, one.key)

    def _pods_of_set(self, one: ReplicaSet) -> list[Pod]:
        owner = controller_of(one)
        known = self.pods.get((one.namespace, owner.name), {}) if owner is not None else {}
        return [p for p in known.values() if p.controller is not None and p.controller.name == one.name]

    def _scale(self, item: Deployment, one: ReplicaSet, number: int, cause: int) -> Steps[None]:
        patch: dict[str, Any] = {}
        if one.annotations.get(DESIRED) != str(item.replicas):
            patch["metadata"] = {"annotations": {DESIRED: str(item.replicas)}}
        if number != one.replicas:
            patch["spec"] = {"replicas": number}
        elif not number:
            return
        if not patch:
            return
        answer: Answer = yield self.client.patch("ReplicaSet", one.namespace, one.name, patch, cause=cause)
        if answer.ok and number != one.replicas:
            word = "up" if number > one.replicas else "down"
            note = f"Scaled {word} replica set {one.name} from {one.replicas} to {number}"
            self.event(item, "ScalingReplicaSet", note, answer.seq)

    def _new_set(self, item: Deployment, olds: Sets, number: int, cause: int) -> Steps[None]:
        name = f"{item.name}-{template_hash(item.template)}"
        revision = str(1 + max((_revision(s) for s in olds), default=0))
        answer: Answer = yield self.client.create(_set_manifest(item, name, number, revision), cause=cause)
        if answer.ok:
            if number:
                self.event(item, "ScalingReplicaSet", f"Scaled up replica set {name} from 0 to {number}", answer.seq)
            yield self.client.patch(
                self.KIND, item.namespace, item.name, {"metadata": {"annotations": {REVISION: revision}}}, cause=answer.seq
            )
        else:
            self.event(
                item, "ReplicaSetCreateError", f'Failed to create new replica set "{name}": {answer.message}', answer.seq, "Warning"
            )

    def _note_revision(self, item: Deployment, new: ReplicaSet, olds: Sets, cause: int) -> Steps[None]:
        """An old template that is wanted again gets the next revision."""
        revision = 1 + max((_revision(s) for s in olds), default=0)
        if olds and _revision(new) < revision:
            patch = {"metadata": {"annotations": {REVISION: str(revision)}}}
            yield self.client.patch("ReplicaSet", new.namespace, new.name, patch, cause=cause)
            yield self.client.patch(self.KIND, item.namespace, item.name, patch, cause=cause)

    def _forget_history(self, item: Deployment, olds: Sets, cause: int) -> Steps[None]:
        limit = item.raw.get("spec", {}).get("revisionHistoryLimit")
        keep = limit if isinstance(limit, int) else HISTORY
        if len(olds) <= keep:
            return
        empty = sorted((s for s in olds if not s.replicas and not self._pods_of_set(s)), key=_revision)
        for one in empty[: max(0, len(empty) - keep)]:
            yield self.client.delete("ReplicaSet", one.namespace, one.name, cause=cause)


# ---- values


def fence_posts(item: Deployment) -> tuple[int, int]:
    """How many Pods above and below the wanted number a rollout may have: surge rounds up, unavailable down, both 0 means 0 and 1."""
    rolling = _strategy(item).get("rollingUpdate") or {}
    surge = scaled(rolling.get("maxSurge", "25%"), item.replicas, up=True)
    unavailable = scaled(rolling.get("maxUnavailable", "25%"), item.replicas, up=False)
    return surge, unavailable if surge or unavailable else 1


def _strategy(item: Deployment) -> dict[str, Any]:
    found = item.raw.get("spec", {}).get("strategy")
    return found if isinstance(found, dict) else {}


def _revision(one: ReplicaSet) -> int:
    text = one.annotations.get(REVISION, "0")
    return int(text) if text.isdigit() else 0


def same_template(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two templates are equal but for the label of their hash."""
    return _plain(one) == _plain(other)


def _plain(template: dict[str, Any]) -> str:
    metadata = dict(template.get("metadata") or {})
    metadata.pop("creationTimestamp", None)
    labels = {k: v for k, v in (metadata.get("labels") or {}).items() if k != HASH_LABEL}
    return json.dumps({**template, "metadata": {**metadata, "labels": labels}}, sort_keys=True, default=str)


def template_hash(template: dict[str, Any]) -> str:
    """A name for a template, in the alphabet of generated names."""
    return str(zlib.crc32(_plain(template).encode())).translate(_DIGITS)


def _set_manifest(item: Deployment, name: str, number: int, revision: str) -> dict[str, Any]:
    spec = item.raw.get("spec", {})
    short = name.rpartition("-")[2]
    template = dict(item.template)
    metadata = dict(template.get("metadata") or {})
    labels = {**(metadata.get("labels") or {}), HASH_LABEL: short}
    selector = dict(spec.get("selector") or {})
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name, "namespace": item.namespace, "labels": labels, "annotations": {DESIRED: str(item.replicas), REVISION: revision},
            "ownerReferences": [owner_reference(item, "Deployment")],
        },
        "spec": {
            "replicas": number,
            **({"minReadySeconds": spec["minReadySeconds"]} if spec.get("minReadySeconds") else {}),
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), HASH_LABEL: short}},
            "template": {**template, "metadata": {**metadata, "labels": labels}},
        },
    }  # fmt: skip
