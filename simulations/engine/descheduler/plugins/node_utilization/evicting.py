"""The loop of both utilization plugins: evict from the source nodes while they need it and the destinations have room.

Source: pkg/framework/plugins/nodeutilization/nodeutilization.go, evictPodsFromSourceNodes, descheduler v0.36
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simulations.engine.api.pod import Pod
from simulations.engine.descheduler.framework.listing import FILTER, PRE_EVICTION_FILTER
from simulations.engine.descheduler.framework.plugin import Check, Handle, Outcome
from simulations.engine.descheduler.framework.predicates import by_priority, tolerates_all
from simulations.engine.descheduler.plugins.node_utilization.usage import Amounts, NodeUsage
from simulations.engine.kernel.loop import Steps


@dataclass(frozen=True, slots=True)
class Rules:
    """What differs between the two: the name, which pods may go, whether a node with this usage still has to give pods (None: always),
    namespaces that give none, and how many pods a node gives at most.
    """

    strategy: str
    resources: Sequence[str]
    removable: Check
    goes_on: Callable[[NodeUsage], bool]
    excluded_namespaces: tuple[str, ...] = ()
    per_node: int | None = None


class SourceNodes:
    """Evicts from source nodes, in their order; `pool` is what the destinations can still take, per resource."""

    def __init__(self, handle: Handle, rules: Rules, destinations: Sequence[NodeUsage], pool: Amounts) -> None:
        self._handle = handle
        self._rules = rules
        self._pool = pool
        self._taints = list(dict.fromkeys(usage.node.taints for usage in destinations))
        self._tolerant: dict[int, bool] = {}

    def evict_from(self, sources: Sequence[NodeUsage]) -> Steps[None]:
        """Go through the nodes; a limit on all evictions ends it."""
        for usage in sources:
            removable = [pod for pod in usage.pods if self._may_go(pod)]
            outcome = yield from self._evict(usage, by_priority(removable))
            if outcome is Outcome.TOTAL_LIMIT:
                return

    def _may_go(self, pod: Pod) -> bool:
        why = self._rules.removable(pod)
        if why:
            self._leave(pod, FILTER, why)
        return not why

    def _evict(self, usage: NodeUsage, pods: Sequence[Pod]) -> Steps[Outcome]:
        evicted = 0
        for i, pod in enumerate(pods):
            stopped = self._stopped(usage, evicted)
            if stopped:
                self._leave_all(pods[i:], stopped)
                break
            held = self._held_back(pod)
            if held:
                self._leave(pod, *held)
                continue
            outcome = yield from self._handle.evictor.evict(pod, self._rules.strategy, self._why(usage))
            if outcome in (Outcome.NODE_LIMIT, Outcome.TOTAL_LIMIT):
                return outcome
            if outcome is Outcome.EVICTED:
                evicted += 1
                self._subtract(usage, pod)
        return Outcome.EVICTED

    def _stopped(self, usage: NodeUsage, evicted: int) -> str:
        """Why no more pods of the node have to go, or can."""
        if self._rules.per_node is not None and evicted >= self._rules.per_node:
            return f"evictionLimits.node allows {self._rules.per_node} evictions per node"
        if not self._rules.goes_on(usage):
            return "its node is not above its target"
        spent = [name for name in self._rules.resources if self._pool[name] <= 0]
        return f"the destination nodes have no {spent[0]} left" if spent else ""

    def _held_back(self, pod: Pod) -> tuple[str, str] | None:
        if not self._tolerates_a_destination(pod):
            return self._rules.strategy, "it does not tolerate the taints of any destination node"
        if pod.namespace in self._rules.excluded_namespaces:
            return "evictableNamespaces", "its namespace is excluded"
        why = self._handle.evictor.pre_eviction_filter(pod)
        return (PRE_EVICTION_FILTER, why) if why else None

    def _tolerates_a_destination(self, pod: Pod) -> bool:
        """All taints of any effect count, and the pod has to have at least as many tolerations as the node has taints."""
        known = self._tolerant.get(pod.spec.id)
        if known is None:
            given = pod.spec.tolerations
            known = any(len(given) >= len(taints) and tolerates_all(given, taints) for taints in self._taints)
            self._tolerant[pod.spec.id] = known
        return known

    def _subtract(self, usage: NodeUsage, pod: Pod) -> None:
        for name in self._rules.resources:
            amount = 1 if name == "pods" else pod.spec.requests.get(name, 0)
            usage.used[name] -= amount
            self._pool[name] -= amount

    def _why(self, usage: NodeUsage) -> str:
        said = ", ".join(f"{name} {usage.percent[name]:.1f} %" for name in self._rules.resources if name in usage.percent)
        return f"{usage.node.name} was used by {said}"

    def _leave(self, pod: Pod, by: str, why: str) -> None:
        self._handle.notes.leave(pod, by, why)

    def _leave_all(self, pods: Sequence[Pod], why: str) -> None:
        for pod in pods:
            self._leave(pod, self._rules.strategy, why)


def pool_of(destinations: Sequence[NodeUsage], capped: Callable[[NodeUsage], Amounts], resources: Sequence[str]) -> Amounts:
    """What the destinations can take in all: per resource the sum of their caps without what they are used by."""
    pool = dict.fromkeys(resources, 0)
    for usage in destinations:
        caps = capped(usage)
        for name in resources:
            pool[name] += caps[name] - usage.used[name]
    return pool


def leave_pods(handle: Handle, usages: Sequence[NodeUsage], strategy: str, why: str) -> None:
    """Note that the pods of these nodes were left alone."""
    for usage in usages:
        for pod in usage.pods:
            handle.notes.leave(pod, strategy, why)


def has_nothing_to_do(under: int, other: int, nodes: int, least: int, none_other: str) -> str:
    """Why nothing is done, in upstream's words; empty where something is to do."""
    if under == 0:
        return "No node is underutilized, nothing to do here, you might tune your thresholds further"
    if under <= least:
        return "Number of nodes underutilized is less or equal than NumberOfNodes, nothing to do here"
    if under == nodes:
        return "All nodes are underutilized, nothing to do here"
    return none_other if other == 0 else ""
