"""The scheduler's cache: Nodes and the Pods that are bound to or assumed on them.

Source: pkg/scheduler/backend/cache/cache.go, v1.36
Differs: there is no separate snapshot; a cycle reads the cache at one instant of simulated time, and nothing changes meanwhile.
"""

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from simulations.engine.api.labels import EMPTY_LABELS, Labels
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.storage import StorageObject
from simulations.engine.api.workloads import AnyWorkload, Namespace, PodDisruptionBudget, Service
from simulations.engine.kernel.errors import InvariantError
from simulations.engine.scheduler.cache.columns import ABSENT, Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.cache.node_tree import NodeTree
from simulations.engine.scheduler.cache.nominator import Nominator
from simulations.engine.scheduler.cache.pod_counts import CountColumn, PodCounts, Question
from simulations.engine.scheduler.cache.volumes import Volumes

Key = tuple[str, str]
Listed = PodDisruptionBudget | Service | Namespace | AnyWorkload | StorageObject


class Listers:
    """What plugins look up besides Nodes and Pods: budgets, Services, owners, labels of Namespaces; each in order of arrival."""

    def __init__(self) -> None:
        self.budgets: dict[Key, PodDisruptionBudget] = {}
        self.services: dict[Key, Service] = {}
        self.workloads: dict[tuple[str, str, str], AnyWorkload] = {}
        """By kind, namespace, name."""
        self.namespaces: dict[str, Labels] = {}
        self.version = 0
        """Goes up whenever a Service or a workload is stored or removed."""
        self.budgets_version = 0
        """Goes up whenever a budget is."""

    def namespace_labels(self, namespace: str) -> Labels:
        """The labels of a Namespace; none if it is not known."""
        return self.namespaces.get(namespace, EMPTY_LABELS)


class SchedulerCache:
    """Node state as objects (`infos`), columns and counts, changed together."""

    def __init__(self) -> None:
        self.columns = Columns()
        self.counts = PodCounts()
        self.nominator = Nominator()
        self.listers = Listers()
        self.volumes = Volumes()
        self.infos: dict[str, NodeInfo] = {}
        self.waiting: dict[Key, Pod] = {}
        """Pods without a Node as the informer has them."""
        self.derived: dict[Hashable, Any] = {}
        """What others work out from the cache and keep with it; they see to it themselves that it holds."""
        self._tree = NodeTree()
        self._order: Ints = np.zeros(0, dtype=np.int64)
        self._order_stale = False
        self._node_of: dict[str, str] = {}
        self._pods: dict[str, Pod] = {}
        self._assumed: dict[str, Pod] = {}
        self._homeless: dict[str, dict[str, Pod]] = {}

    # ---- what else is looked up

    def store(self, item: Listed) -> None:
        """Take in an object that plugins look up, in place of an older one."""
        listers = self.listers
        if isinstance(item, PodDisruptionBudget):
            listers.budgets[item.key] = item
            listers.budgets_version += 1
        elif isinstance(item, Namespace):
            if listers.namespaces.get(item.name) is not item.labels:
                listers.namespaces[item.name] = item.labels
                self.counts.forget_questions()
        elif isinstance(item, Service):
            listers.services[item.key] = item
            listers.version += 1
        elif isinstance(item, StorageObject):
            self.volumes.store(item)
        else:
            listers.workloads[item.kind, item.namespace, item.name] = item
            listers.version += 1

    def discard(self, item: Listed) -> None:
        """Forget an object that plugins look up."""
        listers = self.listers
        if isinstance(item, PodDisruptionBudget):
            listers.budgets.pop(item.key, None)
            listers.budgets_version += 1
        elif isinstance(item, Namespace):
            if listers.namespaces.pop(item.name, None) is not None:
                self.counts.forget_questions()
        elif isinstance(item, Service):
            listers.services.pop(item.key, None)
            listers.version += 1
        elif isinstance(item, StorageObject):
            self.volumes.discard(item)
        else:
            listers.workloads.pop((item.kind, item.namespace, item.name), None)
            listers.version += 1

    # ---- nodes

    def add_node(self, node: Node) -> None:
        """Take a Node in; Pods that were bound to it before it was known are on it at once."""
        info = NodeInfo(node, self.columns.add_row(node))
        self.counts.forget_tallies()
        self.infos[node.name] = info
        self._tree.add(node)
        self._order_stale = True
        for pod in self._homeless.pop(node.name, {}).values():
            self._place(info, pod)

    def update_node(self, node: Node) -> None:
        """Take over what the Node says now."""
        info = self.infos.get(node.name)
        if info is None:
            self.add_node(node)
            return
        self._tree.update(info.node, node)
        info.node = node
        self.columns.set_node(info.row, node)
        self.counts.forget_tallies()

    def remove_node(self, name: str) -> None:
        """Forget a Node; its Pods stay known until they are gone themselves."""
        info = self.infos.pop(name, None)
        if info is None:
            return
        self._tree.remove(info.node)
        self._order_stale = True
        for pod in list(info.pods):
            self._unplace(info, pod)
            self._homeless.setdefault(name, {})[pod.uid] = pod
        self.columns.remove_row(info.row)
        self.counts.forget_tallies()

    def info_at(self, row: int) -> NodeInfo | None:
        """The NodeInfo of a row; None if its Node left."""
        return self.infos[self.columns.names[row]] if self.columns.valid[row] else None

    def order(self) -> Ints:
        """The rows of all Nodes in the order in which they are looked at."""
        if self._order_stale:
            rows = [self.infos[name].row for name in self._tree.names()]
            self._order = np.array(rows, dtype=np.int64)
            self._order_stale = False
        return self._order

    # ---- pods on nodes

    def add_pod(self, pod: Pod) -> None:
        """Take in a bound Pod; one that was assumed becomes bound."""
        self._assumed.pop(pod.uid, None)
        if pod.uid in self._node_of:
            self.update_pod(pod)
            return
        self._insert(pod, pod.node_name)

    def update_pod(self, pod: Pod) -> None:
        """Put a newer object in place of a Pod on a Node."""
        old, info = self._pods.get(pod.uid), self.infos.get(pod.node_name)
        if old is not None and info is not None and old.spec is pod.spec and self._node_of[pod.uid] == pod.node_name:
            self._replace(info, old, pod)
            return
        if old is not None:
            self._take_out(pod.uid)
        self._insert(pod, pod.node_name)

    def remove_pod(self, uid: str) -> Pod | None:
        """Take a Pod out; None if it was not here."""
        self._assumed.pop(uid, None)
        return self._take_out(uid) if uid in self._node_of else None

    def assume(self, pod: Pod, node_name: str) -> Pod:
        """Put a Pod on a Node before it is bound, and return the object that stands there.

        Raises:
            InvariantError: the Pod is on a Node already.
        """
        if pod.uid in self._node_of:
            raise InvariantError(f"pod {pod.namespace}/{pod.name} is assumed twice")
        assumed = pod.replace(node_name=node_name)
        self._assumed[pod.uid] = assumed
        self._insert(assumed, node_name)
        return assumed

    def forget(self, uid: str) -> Pod | None:
        """Take an assumed Pod back; None if it is not assumed (any more)."""
        return self._take_out(uid) if self._assumed.pop(uid, None) is not None else None

    def is_assumed(self, uid: str) -> bool:
        """Whether the Pod is assumed and not seen bound yet."""
        return uid in self._assumed

    def pod(self, uid: str) -> Pod | None:
        """The Pod on a Node with this uid."""
        return self._pods.get(uid)

    def placed(self) -> Iterator[tuple[int, Pod]]:
        """(row, Pod) of every Pod on a Node that is here."""
        for info in self.infos.values():
            for pod in info.pods:
                yield info.row, pod

    def count_column(self, key: Hashable, question: Question) -> CountColumn:
        """Pods per row for which the question holds; see `PodCounts.column`."""
        return self.counts.column(key, question, len(self.columns.valid))

    def counts_by_label(self, counted: CountColumn, key: str) -> Ints:
        """The sums of a count column by value id of a Node label; 0 for Nodes without the label. Not to be changed."""
        label = self.columns.label(key)
        sums = counted.sums(("label", key), label.ids, len(label.values))
        sums[ABSENT] = 0
        return sums

    def _insert(self, pod: Pod, node_name: str) -> None:
        self._node_of[pod.uid] = node_name
        self._pods[pod.uid] = pod
        info = self.infos.get(node_name)
        if info is None:
            self._homeless.setdefault(node_name, {})[pod.uid] = pod
        else:
            self._place(info, pod)

    def _replace(self, info: NodeInfo, old: Pod, pod: Pod) -> None:
        """The same spec on the same Node: what the Pods take together stays."""
        self._pods[pod.uid] = pod
        info.replace_pod(pod)
        self.counts.replace(info.row, old, pod)
        self.columns.note_replaced(info.row)

    def _take_out(self, uid: str) -> Pod:
        node_name = self._node_of.pop(uid)
        pod = self._pods.pop(uid)
        info = self.infos.get(node_name)
        if info is None:
            self._homeless.get(node_name, {}).pop(uid, None)
        else:
            self._unplace(info, pod)
        return pod

    def _place(self, info: NodeInfo, pod: Pod) -> None:
        info.add_pod(pod)
        self.counts.add(info.row, pod)
        self.columns.set_usage(info)
        if pod.spec.claims:
            self.volumes.count(pod, 1)

    def _unplace(self, info: NodeInfo, pod: Pod) -> None:
        info.remove_pod(pod.uid)
        self.counts.add(info.row, pod, -1)
        self.columns.set_usage(info)
        if pod.spec.claims:
            self.volumes.count(pod, -1)
