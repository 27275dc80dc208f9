"""RemovePodsViolatingInterPodAntiAffinity: pods that are together with pods which they required to be apart from.

Source: pkg/framework/plugins/removepodsviolatinginterpodantiaffinity/pod_antiaffinity.go;
pkg/utils/predicates.go, CheckPodsWithAntiAffinityExist, descheduler v0.36
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import PodAffinityTerm
from simulations.engine.descheduler.framework.args import ArgReader
from simulations.engine.descheduler.framework.listing import EVERYTHING, FILTER, PRE_EVICTION_FILTER, PodFilter, Scope
from simulations.engine.descheduler.framework.plugin import Handle, Outcome
from simulations.engine.descheduler.framework.predicates import by_priority, term_namespaces, term_selects
from simulations.engine.kernel.loop import Steps

TermKey = tuple[PodAffinityTerm, tuple[str, ...]]
Nodes = Mapping[str, Node]


@dataclass(frozen=True, slots=True)
class RemovePodsViolatingInterPodAntiAffinityArgs:
    """Just pods of the scope are looked at, as victims and as those that they must not be with."""

    scope: Scope = EVERYTHING

    @classmethod
    def read(cls, args: ArgReader) -> "RemovePodsViolatingInterPodAntiAffinityArgs":
        """Read the arguments; what is wrong is noted."""
        args.only("namespaces", "labelSelector")
        return cls(Scope(args.chosen("namespaces"), args.selector("labelSelector")))


class _Selected:
    """The pods that a term selects: names by node and by value of its topology key. Names, since a pod of the same name, in whatever
    namespace, is taken for the pod itself.
    """

    def __init__(self, term: PodAffinityTerm, namespaces: tuple[str, ...], pods: Sequence[Pod], nodes: Nodes) -> None:
        self._key = term.topology_key
        self._nodes = nodes
        self._by_node: dict[str, Counter[str]] = {}
        self._by_value: dict[str, Counter[str]] = {}
        self._uids = {pod.uid for pod in pods if term_selects(term, namespaces, pod)}
        for pod in pods:
            self.count(pod, 1)

    def count(self, pod: Pod, sign: int) -> None:
        """A pod is there (1), or was evicted (-1)."""
        if pod.uid not in self._uids:
            return
        for names in self._places(pod):
            names[pod.name] += sign
            if not names[pod.name]:
                del names[pod.name]

    def _places(self, pod: Pod) -> list[Counter[str]]:
        found = [self._by_node.setdefault(pod.node_name, Counter())]
        value = self._nodes[pod.node_name].labels.get(self._key)
        if value is not None:
            found.append(self._by_value.setdefault(value, Counter()))
        return found

    def meets(self, pod: Pod) -> str:
        """The first other pod on the pod's node, or in its topology domain; empty where there is none."""
        found = (name for names in self._places(pod) for name in names if name != pod.name)
        return next(found, "")


class RemovePodsViolatingInterPodAntiAffinity:
    """Node by node, from the pod that may go first. What is evicted is out of the way of those that come after it."""

    NAME: ClassVar[str] = "RemovePodsViolatingInterPodAntiAffinity"

    def __init__(self, args: RemovePodsViolatingInterPodAntiAffinityArgs, handle: Handle) -> None:
        self._handle = handle
        self._filter = PodFilter(handle, args.scope, ())

    def deschedule(self, nodes: Sequence[Node]) -> Steps[None]:
        """Evict pods whose own required anti-affinity is broken, if both filters let them go."""
        by_name = {node.name: node for node in nodes}
        pods = {node.name: self._filter.unfinished_on(node.name) for node in nodes}
        everyone = [pod for found in pods.values() for pod in found]
        selected: dict[TermKey, _Selected] = {}
        for node in nodes:
            for pod in by_priority(pods[node.name]):
                other = self._broken_by(pod, selected, everyone, by_name)
                if not self._may_go(pod, other):
                    continue
                outcome = yield from self._handle.evictor.evict(pod, self.NAME, f"it must not be with {other}")
                if outcome is Outcome.TOTAL_LIMIT:
                    return
                if outcome is Outcome.NODE_LIMIT:
                    break
                if outcome is Outcome.EVICTED:
                    everyone.remove(pod)
                    for found in selected.values():
                        found.count(pod, -1)

    def _broken_by(self, pod: Pod, selected: dict[TermKey, _Selected], everyone: Sequence[Pod], nodes: Nodes) -> str:
        anti_affinity = pod.spec.pod_anti_affinity
        for term in anti_affinity.required if anti_affinity is not None else ():
            namespaces = term_namespaces(pod, term)
            key = (term, namespaces)
            if key not in selected:
                selected[key] = _Selected(term, namespaces, everyone, nodes)
            other = selected[key].meets(pod)
            if other:
                return other
        return ""

    def _may_go(self, pod: Pod, other: str) -> bool:
        if not other:
            self._handle.notes.leave(pod, self.NAME, "no pod is with it that it must be apart from")
            return False
        for by, check in ((FILTER, self._handle.evictor.filter), (PRE_EVICTION_FILTER, self._handle.evictor.pre_eviction_filter)):
            why = check(pod)
            if why:
                self._handle.notes.leave(pod, by, why)
                return False
        return True
