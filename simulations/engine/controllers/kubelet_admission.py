"""Whether a kubelet takes a Pod that was bound to its Node.

Source: pkg/kubelet/lifecycle/predicate.go; pkg/scheduler/framework/plugins/noderesources/fit.go (Fits), v1.36
"""

from typing import Any, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import tolerated

PODS: Final = "pods"


class NodeLoad:
    """What the Pods that kubelets have taken ask for, by Node."""

    def __init__(self) -> None:
        self._on: dict[str, dict[str, dict[str, int]]] = {}

    def add(self, pod: Pod) -> None:
        """A Pod was taken, or was there already."""
        self._on.setdefault(pod.node_name, {})[pod.uid] = pod.spec.requests

    def remove(self, pod: Pod) -> None:
        """A Pod ended or is gone."""
        self._on.get(pod.node_name, {}).pop(pod.uid, None)

    def used(self, node: str, resource: str) -> int:
        """How much of a resource is asked for on a Node; of `pods` how many there are."""
        requests = self._on.get(node, {})
        return len(requests) if resource == PODS else sum(amounts.get(resource, 0) for amounts in requests.values())


def refusal(pod: Pod, node: Node, load: NodeLoad) -> tuple[str, str] | None:
    """The reason and the words with which the Pod is refused; None: it is taken."""
    wanted = {PODS: 1, **pod.spec.requests}
    for resource, amount in wanted.items():
        capacity = node.allocatable.get(resource, 0)
        used = load.used(node.name, resource)
        if amount > capacity - used and (resource != PODS or PODS in node.allocatable):
            text = f"Node didn't have enough resource: {resource}, requested: {amount}, used: {used}, capacity: {capacity}"
            return f"OutOf{resource}", text
    spec: Any = pod.spec
    selected = all(node.labels.get(key) == value for key, value in spec.node_selector.items())
    if not selected or (spec.node_affinity is not None and not spec.node_affinity.required_matches(node.name, node.labels)):
        return "NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
    for taint in node.taints:
        if taint.effect == "NoExecute" and not tolerated(spec.tolerations, taint):
            return "TaintToleration", "Predicate TaintToleration failed: node(s) had untolerated taint(s)"
    return None
