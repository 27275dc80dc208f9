"""What a budget's numbers are: how many Pods it expects, how many must stay healthy, how many are.

Source: pkg/controller/disruption/disruption.go, getExpectedPodCount, getExpectedScale, buildDisruptedPodMap, countHealthyPods, v1.36
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from simulations.engine.api.pod import OwnerReference, Pod
from simulations.engine.api.workloads import PodDisruptionBudget, Workload
from simulations.engine.cluster.api_server import RESOURCES, ApiServer
from simulations.engine.controllers.owners import controller_of
from simulations.engine.controllers.pod_book import ready
from simulations.engine.kernel.clock import MINUTE, SimTime

DELETION_TIMEOUT: Final = 2 * MINUTE
_SCALABLE: Final = {"ReplicationController": "", "ReplicaSet": "apps", "Deployment": "apps", "StatefulSet": "apps"}


@dataclass(frozen=True, slots=True)
class Expected:
    """How many Pods there should be and how many of them healthy; Pods that no controller manages; `error` why it is not known."""

    pods: int = 0
    healthy: int = 0
    unmanaged: tuple[str, ...] = ()
    error: str = ""


def expected(api: ApiServer, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> Expected:
    """What the budget expects of the Pods that it selects; percentages round up. minAvailable as a number counts Pods, all else the
    scale of their controllers.
    """
    if budget.max_unavailable is None and budget.min_available is None:
        return Expected()
    if budget.max_unavailable is None and isinstance(budget.min_available, int):
        return Expected(len(pods), budget.min_available)
    scale = _scale(api, pods)
    if scale.error:
        return scale
    if budget.max_unavailable is not None:
        return Expected(scale.pods, max(0, scale.pods - scaled(budget.max_unavailable, scale.pods)), scale.unmanaged)
    return Expected(scale.pods, scaled(budget.min_available or 0, scale.pods), scale.unmanaged)


def scaled(value: int | str, total: int) -> int:
    """A number, or a percentage of the total, rounded up."""
    return value if isinstance(value, int) else -(-int(value.rstrip("%")) * total // 100)


def _scale(api: ApiServer, pods: Sequence[Pod]) -> Expected:
    """The sum of the scales of the Pods' controllers, each once."""
    scales: dict[tuple[str, str], int] = {}
    known: dict[OwnerReference, None] = {}
    unmanaged = []
    for pod in pods:
        owner = pod.controller
        if owner is None:
            unmanaged.append(pod.name)
        if owner is None or owner in known:
            continue
        known[owner] = None
        found = _controller(api, owner, pod.namespace)
        if isinstance(found, str):
            return Expected(error=found or f'found no controllers for pod "{pod.name}"')
        scales[(found.kind, found.name)] = found.replicas
    return Expected(sum(scales.values()), unmanaged=tuple(unmanaged))


def _controller(api: ApiServer, owner: OwnerReference, namespace: str) -> Workload | str:
    """The object whose scale counts for a Pod of this owner, a ReplicaSet's Deployment rather than itself; or why there is none (empty:
    it is not there).
    """
    group = owner.api_version.rpartition("/")[0] if owner.api_version else _SCALABLE.get(owner.kind, "")
    if owner.kind not in RESOURCES:
        return f'no matches for kind "{owner.kind}" in version "{owner.api_version}"'
    if _SCALABLE.get(owner.kind) != group:
        resource = f"{RESOURCES[owner.kind]}.{group}".rstrip(".")
        return f"{resource} does not implement the scale subresource"
    item = _owned_by(api, owner, namespace)
    if item is None:
        return ""
    above = controller_of(item) if owner.kind == "ReplicaSet" else None
    deployment = _owned_by(api, above, namespace) if above is not None and above.kind == "Deployment" else None
    return deployment or item


def _owned_by(api: ApiServer, owner: OwnerReference, namespace: str) -> Workload | None:
    """The object that a reference means; one without a uid means whatever has the name."""
    item: Workload | None = api.get(owner.kind, namespace, owner.name)
    return item if item is not None and owner.uid in ("", item.uid) else None


def disrupted(
    budget: PodDisruptionBudget, pods: Sequence[Pod], now: SimTime
) -> tuple[dict[str, SimTime], SimTime | None, list[Pod]]:
    """The Pods whose granted eviction is still to show, when to look again for the first of them, and those that were not deleted in
    two minutes.
    """
    left: dict[str, SimTime] = {}
    late = []
    for pod in pods:
        since = budget.disrupted_pods.get(pod.name)
        if since is None or pod.terminating:
            continue
        if since + DELETION_TIMEOUT < now:
            late.append(pod)
        else:
            left[pod.name] = since
    return left, min(left.values()) + DELETION_TIMEOUT if left else None, late


def healthy(pods: Sequence[Pod], leaving: Mapping[str, SimTime], now: SimTime) -> int:
    """How many Pods are ready and neither being deleted nor about to be."""
    return sum(1 for pod in pods if ready(pod) and not pod.terminating and not _about_to_leave(pod, leaving, now))


def _about_to_leave(pod: Pod, leaving: Mapping[str, SimTime], now: SimTime) -> bool:
    since = leaving.get(pod.name)
    return since is not None and since + DELETION_TIMEOUT > now
