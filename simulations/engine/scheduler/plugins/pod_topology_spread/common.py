"""What Filter and Score of PodTopologySpread share: the constraints of a Pod, who is counted, which Nodes take part.

Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go; plugins/helper/spread.go (DefaultSelector), v1.36
"""

from collections.abc import Callable, Hashable
from dataclasses import replace

import numpy as np

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import NO_EXECUTE, NO_SCHEDULE, TopologySpreadConstraint, tolerated
from simulations.engine.api.selectors import LabelSelector
from simulations.engine.scheduler.cache.cache import Listers, SchedulerCache
from simulations.engine.scheduler.cache.columns import Bools, Columns
from simulations.engine.scheduler.cache.pod_counts import CountColumn
from simulations.engine.scheduler.framework.label_masks import node_matches, required_mask

Constraints = tuple[TopologySpreadConstraint, ...]


def default_selector(pod: Pod, listers: Listers) -> LabelSelector:
    """What the Services that select the Pod and its controlling owner ask for, together; `{}` where nothing does."""
    found = LabelSelector(())
    for service in listers.services.values():
        if service.namespace == pod.namespace and service.selector is not None and service.selector.matches(pod.labels):
            found = found.with_requirements(service.selector.requirements)
    owner = pod.controller
    if owner is not None and owner.kind in ("ReplicationController", "ReplicaSet", "StatefulSet"):
        workload = listers.workloads.get((owner.kind, pod.namespace, owner.name))
        if workload is not None and workload.selector is not None:
            found = found.with_requirements(workload.selector.requirements)
    return found


def own_constraints(pod: Pod, *, hard: bool) -> Constraints:
    """The constraints that the Pod itself has: those that filter, or those that score. The same object for the same spec."""
    known: Constraints | None = pod.spec.cache.get(("spread", hard))
    if known is None:
        known = pod.spec.cache["spread", hard] = tuple(c for c in pod.spec.spread_constraints if c.hard == hard)
    return known


class Defaulting:
    """Default constraints with the default selector of a Pod, remembered until a Service or a workload changes."""

    def __init__(self) -> None:
        self._version = -1
        self._known: dict[Hashable, Constraints] = {}

    def constraints(self, defaults: Constraints, pod: Pod, listers: Listers) -> Constraints:
        """The constraints; none where the selector selects nothing."""
        if self._version != listers.version:
            self._known.clear()
            self._version = listers.version
        owner = pod.controller
        key = (defaults[0].hard, pod.namespace, pod.labels.id, owner and (owner.kind, owner.name))
        known = self._known.get(key)
        if known is None:
            selector = default_selector(pod, listers)
            known = () if selector.empty else tuple(replace(c, selector=selector) for c in defaults)
            self._known[key] = known
        return known


def matching(cache: SchedulerCache, namespace: str, selector: LabelSelector | None) -> CountColumn | None:
    """Per row, the Pods of the namespace that the selector matches and that are not terminating; None: there can be none."""
    if selector is None or selector.empty:
        return None
    return cache.count_column(("spread", namespace, selector), _counted(namespace, selector))


def _counted(namespace: str, selector: LabelSelector) -> Callable[[Pod], bool]:
    return lambda pod: pod.namespace == namespace and not pod.terminating and selector.matches(pod.labels)


def count_on(pods: list[Pod], namespace: str, selector: LabelSelector | None) -> int:
    """The same for the Pods of one Node."""
    if selector is None or selector.empty:
        return 0
    return sum(1 for p in pods if p.namespace == namespace and not p.terminating and selector.matches(p.labels))


def _taints_tolerated(pod: Pod, node: Node) -> bool:
    return all(t.effect not in (NO_SCHEDULE, NO_EXECUTE) or tolerated(pod.spec.tolerations, t) for t in node.taints)


def node_included(pod: Pod, constraint: TopologySpreadConstraint, node: Node) -> bool:
    """Whether the constraint's inclusion policies let the Node take part."""
    if constraint.node_affinity_policy == "Honor" and not node_matches(pod, node.name, node.labels):
        return False
    return constraint.node_taints_policy != "Honor" or _taints_tolerated(pod, node)


def included_mask(pod: Pod, constraint: TopologySpreadConstraint, columns: Columns) -> Bools:
    """The rows that take part."""
    mask = columns.valid.copy()
    if constraint.node_affinity_policy == "Honor" and (pod.spec.node_selector or pod.spec.node_affinity):
        mask &= required_mask(pod, columns)
    if constraint.node_taints_policy == "Honor":
        blocking = [
            any(t.effect in (NO_SCHEDULE, NO_EXECUTE) and not tolerated(pod.spec.tolerations, t) for t in taints)
            for taints in columns.taints
        ]
        mask &= ~np.array(blocking, dtype=np.bool_)[columns.taint_sets]
    return mask


def has_all_keys(constraints: Constraints, columns: Columns) -> Bools:
    """The rows of Nodes that have the topology keys of all constraints."""
    mask = columns.valid.copy()
    for constraint in constraints:
        mask &= columns.label(constraint.topology_key).ids > 0
    return mask


def node_has_all_keys(constraints: Constraints, node: Node) -> bool:
    """Whether the Node has the topology keys of all constraints."""
    return all(c.topology_key in node.labels for c in constraints)
