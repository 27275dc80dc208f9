"""Rules about one pod, or one pod and one node, that several plugins share.

Source: pkg/utils/{pod.go,predicates.go,qos.go}, pkg/descheduler/pod/pods.go, descheduler v0.36
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod, PodSpec
from simulations.engine.api.quantity import parse_quantity
from simulations.engine.api.requests import container_requests
from simulations.engine.api.scheduling import NO_EXECUTE, NO_SCHEDULE, PodAffinityTerm, Taint, Toleration

PREFER_NO_EVICTION: Final = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
BLOCKING: Final = (NO_SCHEDULE, NO_EXECUTE)
"""The effects that keep a pod away from a node."""
_QOS_ORDER: Final = {"BestEffort": 0, "Burstable": 1, "Guaranteed": 2}
_QOS_RESOURCES: Final = ("cpu", "memory")
Document = Mapping[str, Any]


def priority_of(pod: Pod) -> int | None:
    """The pod's priority, None where nobody set one."""
    return None if pod.spec.raw.get("priority") is None else pod.spec.priority


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether any toleration tolerates the taint; comparisons count."""
    return any(toleration.tolerates(taint, comparison=True) for toleration in tolerations)


def tolerates_all(tolerations: tuple[Toleration, ...], taints: tuple[Taint, ...], effects: tuple[str, ...] | None = None) -> bool:
    """Whether all taints of these effects (None: of any) are tolerated."""
    return all(tolerates(tolerations, taint) for taint in taints if effects is None or taint.effect in effects)


def matches_node(spec: PodSpec, node: Node) -> bool:
    """Whether nodeSelector and required node affinity allow the node."""
    if any(node.labels.get(key) != value for key, value in spec.node_selector.items()):
        return False
    return spec.node_affinity is None or spec.node_affinity.required_matches(node.name, node.labels)


def term_namespaces(pod: Pod, term: PodAffinityTerm) -> tuple[str, ...]:
    """Where a term looks for pods: the namespaces that it lists, else the pod's own; its namespaceSelector is not looked at."""
    return term.namespaces or (pod.namespace,)


def term_selects(term: PodAffinityTerm, namespaces: tuple[str, ...], other: Pod) -> bool:
    """Whether another pod is meant by a term."""
    return other.namespace in namespaces and term.selector is not None and term.selector.matches(other.labels)


def containers(spec: PodSpec) -> list[Document]:
    """The manifests of regular and init containers."""
    return [*(spec.raw.get("containers") or []), *(spec.raw.get("initContainers") or [])]


def requested_names(spec: PodSpec) -> frozenset[str]:
    """The resources that any container requests, limits counting where a request is missing."""
    names = spec.cache.get("descheduler/requested")
    if names is None:
        amounts = (container_requests(container, "spec") for container in containers(spec))
        names = spec.cache["descheduler/requested"] = frozenset(name for found in amounts for name in found)
    return frozenset(names)


def qos_class(pod: Pod) -> str:
    """Guaranteed, Burstable or BestEffort: as the status has it, else worked out."""
    if pod.details.qos_class:
        return pod.details.qos_class
    known = pod.spec.cache.get("descheduler/qos")
    if known is None:
        known = pod.spec.cache["descheduler/qos"] = _qos(pod.spec)
    return str(known)


def _qos(spec: PodSpec) -> str:
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    guaranteed = True
    for container in containers(spec):
        _add(requests, container_requests(container, "spec"))
        given = {name: parse_quantity(v) for name, v in ((container.get("resources") or {}).get("limits") or {}).items()}
        limited = _add(limits, given)
        guaranteed = guaranteed and limited == len(_QOS_RESOURCES)
    if not requests and not limits:
        return "BestEffort"
    same = all(limits.get(name) == amount for name, amount in requests.items()) and len(requests) == len(limits)
    return "Guaranteed" if guaranteed and same else "Burstable"


def _add(total: dict[str, int], amounts: Mapping[str, int]) -> int:
    """Sum cpu and memory above zero; how many of the two there were."""
    found = [(name, amounts[name]) for name in _QOS_RESOURCES if amounts.get(name, 0) > 0]
    for name, amount in found:
        total[name] = total.get(name, 0) + amount
    return len(found)


def by_priority(pods: Iterable[Pod]) -> list[Pod]:
    """From the pod that may go first to the last: no priority, then lower priority; BestEffort, Burstable, Guaranteed; without the
    annotation that asks to be spared; by name.

    Source: pkg/descheduler/pod/pods.go, SortPodsBasedOnPriorityLowToHigh
    """
    return sorted(pods, key=_order)


def _order(pod: Pod) -> tuple[Any, ...]:
    priority = priority_of(pod)
    spared = PREFER_NO_EVICTION in pod.annotations
    return priority is not None, priority or 0, _QOS_ORDER.get(qos_class(pod), 0), spared, pod.key
