"""RemoveDuplicates: pods of one owner and the same images that share a node, above the average per feasible node.

Source: pkg/framework/plugins/removeduplicates/removeduplicates.go, descheduler v0.36
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.descheduler.framework.args import ALL, ArgReader, Chosen
from simulations.engine.descheduler.framework.listing import PodFilter, Scope, both_filters
from simulations.engine.descheduler.framework.plugin import Handle, Outcome
from simulations.engine.kernel.loop import Steps

OwnerKey = tuple[str, str, str, tuple[str, ...]]
"""Namespace, kind and name of an owner, and the sorted images of its pods."""
Duplicates = dict[OwnerKey, dict[str, list[Pod]]]


@dataclass(frozen=True, slots=True)
class RemoveDuplicatesArgs:
    """Pods with an owner of an excluded kind are not looked at."""

    namespaces: Chosen = ALL
    exclude_owner_kinds: tuple[str, ...] = ()

    @classmethod
    def read(cls, args: ArgReader) -> "RemoveDuplicatesArgs":
        """Read the arguments; what is wrong is noted."""
        args.only("namespaces", "excludeOwnerKinds")
        return cls(args.chosen("namespaces"), args.texts("excludeOwnerKinds"))


class RemoveDuplicates:
    """The first pod of a kind on a node is the original, the others are duplicates; owners and pods come in the order of names."""

    NAME: ClassVar[str] = "RemoveDuplicates"

    def __init__(self, args: RemoveDuplicatesArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._filter = PodFilter(handle, Scope(args.namespaces), both_filters(handle))

    def balance(self, nodes: Sequence[Node]) -> Steps[None]:
        """Per owner, evict what a node has above the average over the nodes where its pods can be."""
        occurrences, duplicates = self._count(nodes)
        for key, by_node in sorted(duplicates.items()):
            feasible = self._feasible(by_node, nodes)
            found = [pod for pods in by_node.values() for pod in pods]
            if feasible < 2:
                self._leave(found, "less than two feasible nodes for duplicates to land")
                continue
            average = -(-occurrences[key] // feasible)
            self._leave(found, "its node has no more of its owner's pods than the average")
            for node, pods in by_node.items():
                why = f"{key[1]}/{key[2]} has {len(pods) + 1} pods on {node}, {average} on average over {feasible} feasible nodes"
                if (yield from self._evict(pods[average - 1 :], why)) is Outcome.TOTAL_LIMIT:
                    return

    def _evict(self, pods: Sequence[Pod], why: str) -> Steps[Outcome]:
        for pod in pods:
            outcome = yield from self._handle.evictor.evict(pod, self.NAME, why)
            if outcome in (Outcome.NODE_LIMIT, Outcome.TOTAL_LIMIT):
                return outcome
        return Outcome.EVICTED

    def _leave(self, pods: Sequence[Pod], why: str) -> None:
        for pod in pods:
            self._handle.notes.leave(pod, self.NAME, why)

    def _count(self, nodes: Sequence[Node]) -> tuple[Counter[OwnerKey], Duplicates]:
        occurrences: Counter[OwnerKey] = Counter()
        duplicates: Duplicates = {}
        for node in nodes:
            originals: set[tuple[tuple[str, ...], ...]] = set()
            for pod in self._filter.unfinished_on(node.name):
                if not pod.owners or any(owner.kind in self._args.exclude_owner_kinds for owner in pod.owners):
                    self._handle.notes.leave(pod, self.NAME, "it has no owner, or one of an excluded kind")
                    continue
                keys = _owner_keys(pod)
                occurrences.update(keys)
                combined = tuple(sorted((*key[:3], image) for key in keys for image in key[3]))
                if combined not in originals:
                    originals.add(combined)
                    self._handle.notes.leave(pod, self.NAME, "it is the first of its owner on its node")
                    continue
                for key in dict.fromkeys(keys):
                    duplicates.setdefault(key, {}).setdefault(node.name, []).extend([pod] * keys.count(key))
        return occurrences, duplicates

    def _feasible(self, by_node: dict[str, list[Pod]], nodes: Sequence[Node]) -> int:
        """On how many nodes the duplicates can be: what each distinct spec allows, where that is more than one node."""
        table = self._handle.view.table
        asked = table.mask(nodes)
        union = table.mask(())
        for spec in {pod.spec.id: pod.spec for pods in by_node.values() for pod in pods}.values():
            allowed = asked & table.matching(spec) & table.tolerated(spec)
            if allowed.sum() > 1:
                union |= allowed
        return int(union.sum())


def _owner_keys(pod: Pod) -> list[OwnerKey]:
    images = tuple(sorted(str(container.get("image") or "") for container in pod.spec.raw.get("containers") or ()))
    return [(pod.namespace, owner.kind, owner.name, images) for owner in pod.owners]
