"""What the descheduler sees of the cluster: the caches that its watches fill.

In a dry run a pod that was "evicted" is hidden until the cycle ends, as upstream's in-memory copy of the cluster does it.

Source: pkg/descheduler/{pod/pods.go,node/node.go,kubeclientsandbox.go}, descheduler v0.36
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from simulations.engine.api.labels import EMPTY_LABELS, Labels
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.selectors import LabelSelector
from simulations.engine.api.storage import PersistentVolumeClaim
from simulations.engine.api.workloads import PodDisruptionBudget
from simulations.engine.cluster.answers import DELETED, WatchEvent
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.descheduler.framework.node_table import NodeTable


class ClusterView:
    """Nodes, pods by node and by owner, namespaces, budgets and claims. Lists come in the order of names."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._pods: dict[str, Pod] = {}
        self._by_node: dict[str, dict[str, Pod]] = {}
        self._sorted: dict[str, list[Pod]] = {}
        self._owned: Counter[str] = Counter()
        self._namespaces: dict[str, Labels] = {}
        self._budgets: dict[str, dict[str, PodDisruptionBudget]] = {}
        self._claims: dict[tuple[str, str], PersistentVolumeClaim] = {}
        self._hidden: dict[str, Pod] = {}
        self._table: NodeTable | None = None

    def watch(self, api: ApiServer) -> None:
        """Fill the caches and keep them up to date."""
        for kind in ("Node", "Pod", "Namespace", "PodDisruptionBudget", "PersistentVolumeClaim"):
            api.watch(kind, self.on_event)

    def on_event(self, event: WatchEvent) -> None:
        """Something changed."""
        item, gone = event.object, event.type == DELETED
        if isinstance(item, Pod):
            self._pod(item, gone)
        elif isinstance(item, Node):
            self._table = None
            _put(self.nodes, item.name, item, gone)
        elif isinstance(item, PodDisruptionBudget):
            _put(self._budgets.setdefault(item.namespace, {}), item.name, item, gone)
        elif isinstance(item, PersistentVolumeClaim):
            _put(self._claims, item.key, item, gone)
        else:
            _put(self._namespaces, item.name, item.labels, gone)

    # ---- pods

    def _pod(self, pod: Pod, gone: bool) -> None:
        hidden = self._hidden.pop(pod.uid, None)
        if pod.uid in self._pods:
            self._drop(self._pods[pod.uid])
        if not gone:
            self._keep(pod)
            if hidden is not None:
                self.hide(pod)

    def _keep(self, pod: Pod) -> None:
        self._pods[pod.uid] = pod
        for uid in dict.fromkeys(owner.uid for owner in pod.owners):
            self._owned[uid] += 1
        if pod.node_name:
            self._by_node.setdefault(pod.node_name, {})[pod.uid] = pod
            self._sorted.pop(pod.node_name, None)
            if self._table is not None:
                self._table.count(pod, 1)

    def _drop(self, pod: Pod) -> None:
        del self._pods[pod.uid]
        for uid in dict.fromkeys(owner.uid for owner in pod.owners):
            self._owned[uid] -= 1
        if pod.node_name:
            del self._by_node[pod.node_name][pod.uid]
            self._sorted.pop(pod.node_name, None)
            if self._table is not None:
                self._table.count(pod, -1)

    def hide(self, pod: Pod) -> None:
        """Take a pod out of sight until `restore`: it was evicted in a dry run."""
        if pod.uid in self._pods:
            self._hidden[pod.uid] = self._pods[pod.uid]
            self._drop(self._pods[pod.uid])

    def restore(self) -> None:
        """Show what was hidden."""
        hidden, self._hidden = self._hidden, {}
        for pod in hidden.values():
            self._keep(pod)

    def pods_on(self, node: str) -> Sequence[Pod]:
        """All pods of a node, in the order of namespace and name."""
        found = self._sorted.get(node)
        if found is None:
            found = self._sorted[node] = sorted(self._by_node.get(node, {}).values(), key=lambda pod: pod.key)
        return found

    def unfinished_on(self, node: str) -> list[Pod]:
        """The pods of a node that occupy it: neither Succeeded nor Failed."""
        return [pod for pod in self.pods_on(node) if not pod.terminal]

    def owned_by(self, uid: str) -> int:
        """How many pods have an owner with this uid."""
        return self._owned[uid]

    # ---- nodes and the rest

    def ready_nodes(self, selector: LabelSelector | None) -> list[Node]:
        """The nodes that the selector matches and that are not known to be unready, in the order of names; cordoned ones too."""
        nodes = (self.nodes[name] for name in sorted(self.nodes))
        return [node for node in nodes if node.ready and (selector is None or selector.matches(node.labels))]

    @property
    def table(self) -> NodeTable:
        """The nodes with what is free on them, in columns."""
        if self._table is None:
            self._table = NodeTable([self.nodes[name] for name in sorted(self.nodes)])
            for pods in self._by_node.values():
                for pod in pods.values():
                    self._table.count(pod, 1)
        return self._table

    def namespace_labels(self, name: str) -> Labels:
        """The labels of a namespace; none where it is not there."""
        return self._namespaces.get(name, EMPTY_LABELS)

    def has_budget(self, pod: Pod) -> bool:
        """Whether a budget of its namespace selects the pod."""
        budgets = self._budgets.get(pod.namespace, {}).values()
        return any(b.selector is not None and b.selector.matches(pod.labels) for b in budgets)

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        """The claim of this name."""
        return self._claims.get((namespace, name))


def _put(items: dict[Any, Any], key: Any, item: Any, gone: bool) -> None:
    if gone:
        items.pop(key, None)
    else:
        items[key] = item
