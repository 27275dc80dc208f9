"""RemovePodsViolatingTopologySpreadConstraint: pods of domains that have too many, so that the scheduler can spread them again.

Source: pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go, descheduler v0.36
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import TopologySpreadConstraint
from simulations.engine.descheduler.framework.args import ArgReader
from simulations.engine.descheduler.framework.listing import EVERYTHING, FILTER, PRE_EVICTION_FILTER, PodFilter, Scope
from simulations.engine.descheduler.framework.node_table import Mask
from simulations.engine.descheduler.framework.plugin import Handle, Outcome
from simulations.engine.descheduler.framework.predicates import BLOCKING, matches_node, priority_of, tolerates_all
from simulations.engine.kernel.loop import Steps

ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
HONOR: Final = "Honor"


@dataclass(frozen=True, slots=True)
class RemovePodsViolatingTopologySpreadConstraintArgs:
    """`constraints` are the whenUnsatisfiable values that are looked at; with `node_fit` a pod goes only if it fits a node of a domain
    below the average.
    """

    scope: Scope = EVERYTHING
    constraints: tuple[str, ...] = ("DoNotSchedule",)
    node_fit: bool = True

    @classmethod
    def read(cls, args: ArgReader) -> "RemovePodsViolatingTopologySpreadConstraintArgs":
        """Read the arguments; what is wrong is noted."""
        args.only("namespaces", "labelSelector", "constraints", "topologyBalanceNodeFit")
        constraints = args.texts("constraints")
        for i, name in enumerate(constraints):
            if name not in ACTIONS:
                args.wrong(f"constraints[{i}]", f"constraint {name} is not one of {', '.join(ACTIONS)}")
        scope = Scope(args.chosen("namespaces"), args.selector("labelSelector"))
        return cls(scope, constraints or ("DoNotSchedule",), args.flag("topologyBalanceNodeFit", True))


@dataclass(slots=True)
class _Domain:
    """A value of the topology key and the pods there, those that go first at the end."""

    value: str
    pods: list[Pod]


class RemovePodsViolatingTopologySpreadConstraint:
    """Just pods that may be evicted are counted. minDomains is not looked at."""

    NAME: ClassVar[str] = "RemovePodsViolatingTopologySpreadConstraint"

    def __init__(self, args: RemovePodsViolatingTopologySpreadConstraintArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._filter = PodFilter(handle, args.scope, [(FILTER, handle.evictor.filter)])

    def balance(self, nodes: Sequence[Node]) -> Steps[None]:
        """Choose pods for each distinct constraint of each namespace, then evict what was chosen."""
        by_namespace: dict[str, list[Pod]] = {}
        for node in nodes:
            for pod in self._filter.unfinished_on(node.name):
                by_namespace.setdefault(pod.namespace, []).append(pod)
        chosen: dict[str, tuple[Pod, str]] = {}
        for _namespace, pods in sorted(by_namespace.items()):
            for constraint, pod in self._constraints(pods):
                self._choose(constraint, pod, pods, nodes, chosen)
        for pods in by_namespace.values():
            for pod in pods:
                if pod.uid not in chosen:
                    self._handle.notes.leave(pod, self.NAME, "its constraints need no pod of its domain moved, or it has none")
        yield from self._evict([chosen[uid] for uid in sorted(chosen, key=lambda uid: chosen[uid][0].key)])

    def _evict(self, chosen: Sequence[tuple[Pod, str]]) -> Steps[None]:
        full: set[str] = set()
        for pod, why in chosen:
            if pod.node_name in full or not self._filter(pod):
                continue
            held = self._handle.evictor.pre_eviction_filter(pod)
            if held:
                self._handle.notes.leave(pod, PRE_EVICTION_FILTER, held)
                continue
            outcome = yield from self._handle.evictor.evict(pod, self.NAME, why)
            if outcome is Outcome.TOTAL_LIMIT:
                return
            if outcome is Outcome.NODE_LIMIT:
                full.add(pod.node_name)

    def _constraints(self, pods: Sequence[Pod]) -> Iterator[tuple[TopologySpreadConstraint, Pod]]:
        """Each distinct constraint with the first pod that has it."""
        seen: set[Any] = set()
        for pod in pods:
            for constraint in pod.spec.spread_constraints:
                key = _identity(constraint, pod)
                if constraint.when_unsatisfiable in self._args.constraints and key not in seen:
                    seen.add(key)
                    yield constraint, pod

    def _choose(
        self, constraint: TopologySpreadConstraint, owner: Pod, pods: Sequence[Pod], nodes: Sequence[Node],
        chosen: dict[str, tuple[Pod, str]],
    ) -> None:  # fmt: skip
        eligible = [node for node in nodes if _is_eligible(constraint, owner, node)]
        domains = self._domains(constraint, pods, nodes, eligible)
        sizes = [len(domain.pods) for domain in domains]
        if not sizes or max(sizes) - min(sizes) <= constraint.max_skew:
            return
        average = sum(sizes) / len(sizes)
        low = {domain.value for domain in domains if len(domain.pods) < average}
        below = self._handle.view.table.mask(node for node in eligible if node.labels.get(constraint.topology_key) in low)
        for pod, domain in self._moves(constraint, domains, average, below):
            if self._args.node_fit and not self._fits(pod, below):
                self._handle.notes.leave(pod, self.NAME, "it fits no node of a domain below the average")
                continue
            said = f"{constraint.topology_key}={domain} has more pods than maxSkew {constraint.max_skew} allows"
            chosen.setdefault(pod.uid, (pod, said))

    def _domains(
        self, constraint: TopologySpreadConstraint, pods: Sequence[Pod], nodes: Sequence[Node], eligible: Sequence[Node]
    ) -> list[_Domain]:
        """The domains from the smallest to the largest: those of eligible nodes, and those in which pods are."""
        key = constraint.topology_key
        found: dict[str, list[Pod]] = {node.labels[key]: [] for node in eligible if key in node.labels}
        values = {node.name: node.labels[key] for node in nodes if key in node.labels}
        for pod in pods:
            counted = constraint.selector is not None and constraint.selector.matches(pod.labels)
            if counted and not pod.terminating and pod.node_name in values:
                found.setdefault(values[pod.node_name], []).append(pod)
        domains = [_Domain(value, sorted(there, key=self._order)) for value, there in found.items()]
        return sorted(domains, key=lambda domain: (len(domain.pods), domain.value))

    def _order(self, pod: Pod) -> tuple[Any, ...]:
        """Protected ones, then those with a nodeSelector or node affinity, then lower priority: the last go first."""
        priority = priority_of(pod)
        affinity = pod.spec.raw.get("affinity") or {}
        bound = pod.spec.raw.get("nodeSelector") is not None or affinity.get("nodeAffinity") is not None
        return not self._handle.evictor.filter(pod), not bound, priority is not None, priority or 0, pod.key

    def _moves(
        self, constraint: TopologySpreadConstraint, domains: list[_Domain], average: float, below: Mask
    ) -> Iterator[tuple[Pod, str]]:
        """The pods that move from the largest domains to the smallest, with the domain that each leaves."""
        i, j = 0, len(domains) - 1
        while i < j:
            if len(domains[j].pods) <= average:
                j -= 1
            skew = len(domains[j].pods) - len(domains[i].pods)
            if skew <= constraint.max_skew:
                i += 1
                continue
            above = math.ceil(len(domains[j].pods) - average)
            under = math.ceil(average - len(domains[i].pods))
            move = min(above, under, -(-(skew - constraint.max_skew) // 2))
            if move <= 0:
                i += 1
                continue
            domains[j].pods.sort(key=lambda pod: self._fits(pod, below))
            moving = domains[j].pods[-move:]
            for pod in moving:
                yield pod, domains[j].value
            del domains[j].pods[-move:]
            domains[i].pods.extend(moving)

    def _fits(self, pod: Pod, nodes: Mask) -> bool:
        return self._handle.fit.fits_any(pod, nodes, other=True)


def _is_eligible(constraint: TopologySpreadConstraint, pod: Pod, node: Node) -> bool:
    """Whether the constraint's policies let the node count."""
    if constraint.node_affinity_policy == HONOR and not matches_node(pod.spec, node):
        return False
    return constraint.node_taints_policy != HONOR or tolerates_all(pod.spec.tolerations, node.taints, BLOCKING)


def _identity(constraint: TopologySpreadConstraint, pod: Pod) -> tuple[Any, ...]:
    """What makes two constraints one: their fields but minDomains, and what their policies look at in the pod."""
    affinity = constraint.node_affinity_policy == HONOR
    taints = constraint.node_taints_policy == HONOR
    required = pod.spec.node_affinity.required if pod.spec.node_affinity is not None else None
    return (
        constraint.max_skew, constraint.topology_key, constraint.selector, constraint.node_affinity_policy, constraint.node_taints_policy,
        (pod.spec.node_selector, required) if affinity else None, pod.spec.tolerations if taints else None,
    )  # fmt: skip
