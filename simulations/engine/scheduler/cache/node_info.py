"""One Node as the scheduler sees it: its Pods and what they take.

Source: pkg/scheduler/framework/types.go, NodeInfo, v1.36
"""

from typing import Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod, PodSpec
from simulations.engine.api.scheduling import HostPort

NO_PRIORITY: Final = 2**62
"""Above every priority."""
BASE_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")


def is_scalar(resource: str) -> bool:
    """Whether the scheduler counts a resource beside cpu, memory and ephemeral-storage.

    Source: pkg/apis/core/v1/helper/helpers.go, IsScalarResourceName, v1.36
    """
    if "/" in resource:
        return not resource.startswith("requests.")
    return resource.startswith(("hugepages-", "attachable-volumes-"))


def is_extended(resource: str) -> bool:
    """Whether a resource is an extended one: with a domain, and that not Kubernetes' own."""
    return "/" in resource and "kubernetes.io/" not in resource and not resource.startswith("requests.")


def counted_requests(spec: PodSpec) -> tuple[tuple[str, int], ...]:
    """The requests of a spec that count on a Node, in a fixed order: cpu, memory, ephemeral-storage, then the scalars by name."""
    known = spec.cache.get("counted_requests")
    if known is None:
        base = [(r, spec.requests[r]) for r in BASE_RESOURCES if r in spec.requests]
        scalars = [(r, amount) for r, amount in sorted(spec.requests.items()) if is_scalar(r)]
        known = spec.cache["counted_requests"] = tuple(base + scalars)
    counted: tuple[tuple[str, int], ...] = known
    return counted


class NodeInfo:
    """A Node with its Pods: bound, assumed, and terminating until they are gone.

    `row` is its place in the columns. `requested` is by resource in the scheduler's integers. A Pod that leaves swaps places with
    the last one, as upstream's list does.
    """

    __slots__ = ("_lowest", "node", "nonzero_cpu", "nonzero_memory", "pods", "ports", "requested", "row")

    def __init__(self, node: Node, row: int) -> None:
        self.node = node
        self.row = row
        self.pods: list[Pod] = []
        self.requested: dict[str, int] = {}
        self.nonzero_cpu = 0
        self.nonzero_memory = 0
        self.ports: list[HostPort] = []
        self._lowest: int | None = NO_PRIORITY

    @property
    def lowest_priority(self) -> int:
        """The lowest priority of its Pods; above all priorities without Pods."""
        if self._lowest is None:
            self._lowest = min((pod.priority for pod in self.pods), default=NO_PRIORITY)
        return self._lowest

    @property
    def name(self) -> str:
        """The Node's name."""
        return self.node.name

    def add_pod(self, pod: Pod) -> None:
        """Count the Pod in."""
        self.pods.append(pod)
        if self._lowest is not None and pod.priority < self._lowest:
            self._lowest = pod.priority
        self._count(pod.spec, 1)
        self.ports.extend(pod.spec.host_ports)

    def remove_pod(self, uid: str) -> Pod | None:
        """Count the Pod with this uid out and return it; None if it is not here."""
        for i, pod in enumerate(self.pods):
            if pod.uid == uid:
                self.pods[i] = self.pods[-1]
                self.pods.pop()
                if pod.priority == self._lowest:
                    self._lowest = None
                self._count(pod.spec, -1)
                for port in pod.spec.host_ports:
                    self.ports.remove(port)
                return pod
        return None

    def replace_pod(self, pod: Pod) -> None:
        """Put a newer object of the same spec in place of a Pod that is here; in the list it leaves and comes back."""
        pods = self.pods
        place = next(i for i, other in enumerate(pods) if other.uid == pod.uid)
        pods[place] = pods[-1]
        pods[-1] = pod

    def _count(self, spec: PodSpec, sign: int) -> None:
        requested = self.requested
        for resource, amount in counted_requests(spec):
            requested[resource] = requested.get(resource, 0) + sign * amount
        self.nonzero_cpu += sign * spec.nonzero_cpu
        self.nonzero_memory += sign * spec.nonzero_memory

    def clone(self) -> "NodeInfo":
        """A copy for a dry run: its Pods may come and go without touching the original."""
        copy = NodeInfo(self.node, self.row)
        copy.pods = list(self.pods)
        copy.requested = dict(self.requested)
        copy.nonzero_cpu, copy.nonzero_memory = self.nonzero_cpu, self.nonzero_memory
        copy.ports = list(self.ports)
        copy._lowest = self._lowest
        return copy
