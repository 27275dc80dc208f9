"""The DaemonSet controller: one Pod on each Node that it is meant for; the scheduler binds them.

Source: pkg/controller/daemon/{daemon_controller,update}.go, util/daemonset_util.go, v1.36
"""

from typing import Any, ClassVar, Final

from simulations.engine.api.labels import Labels, intern_labels
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.pod_spec import intern_pod_spec
from simulations.engine.api.scheduling import tolerated
from simulations.engine.api.workloads import DaemonSet
from simulations.engine.cluster.answers import MODIFIED, WatchEvent
from simulations.engine.cluster.api_server import ApiServer, Key
from simulations.engine.controllers.controller import Controller
from simulations.engine.controllers.deployment import template_hash
from simulations.engine.controllers.rounding import scaled
from simulations.engine.controllers.statefulset import REVISION_LABEL
from simulations.engine.kernel.clock import MINUTE, SECOND
from simulations.engine.kernel.loop import Steps

NAME: Final = "daemonset-controller"
LONGEST_BACKOFF: Final = 15 * MINUTE
_FIELD: Final = "metadata.name"
_NO_EXECUTE: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_NO_SCHEDULE: Final = (
    "node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure", "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unschedulable",
)  # fmt: skip


class DaemonSetController(Controller[DaemonSet]):
    """Keeps DaemonSets."""

    KIND: ClassVar[str] = "DaemonSet"

    def __init__(self, api: ApiServer) -> None:
        self._backoff: dict[tuple[Key, str], tuple[int, int]] = {}
        """Per object and Node: until when a failed Pod stays, and how long that wait is."""
        self._meant: dict[Key, frozenset[str]] = {}
        """Per object the Nodes that it was meant for at its last sync."""
        self._first: dict[Key, tuple[str, str]] = {}
        super().__init__(api)
        api.watch("Node", self._on_node)

    def _on_node(self, event: WatchEvent) -> None:
        old, node = event.old, event.object
        if old is None or event.type != MODIFIED or (old.taints, old.labels) != (node.taints, node.labels):
            for key in self.items:
                self.enqueue(key, event.cause)

    def sync(self, item: DaemonSet, cause: int) -> Steps[None]:
        """Make what is missing, remove what must not be, replace what failed or is old."""
        spec = self._pod_spec(item, "")
        interned = intern_pod_spec(spec, item.namespace, _labels_of(item))
        there = self._by_node(item)
        missing: list[str] = []
        wrong: list[Pod] = []
        meant: list[str] = []
        nodes: list[Node] = self.api.list("Node")
        for node in nodes:
            runs, stays = _wanted(item, interned, node)
            meant += [node.name] if runs else []
            pods = there.pop(node.name, [])
            if runs and not pods:
                missing.append(node.name)
            elif not stays:
                wrong += [p for p in pods if not p.terminating]
            else:
                wrong += self._failed(item, node.name, pods, cause)
                wrong += [p for p in sorted(pods, key=lambda p: (p.created, p.name))[1:] if not p.terminating and not p.terminal]
        self._meant[item.key] = frozenset(meant)
        manifests = [self._manifest(item, name) for name in missing]
        yield from self.create_pods(item, manifests, [cause] * len(manifests))
        yield from self.delete_pods(item, wrong, cause)
        if not missing and not wrong:
            yield from self._update(item, cause)

    def status_of(self, item: DaemonSet) -> dict[str, Any]:
        """On how many Nodes one should run, and on how many one does."""
        wanted = self._meant.get(item.key, frozenset())
        there = {p.node_name for p in self.pods.get(item.key, {}).values() if p.node_name and not p.terminal}
        well = [p for p in self.pods.get(item.key, {}).values() if p.node_name in wanted and self.available(item, p)]
        return {
            "desiredNumberScheduled": len(wanted),
            "currentNumberScheduled": len(wanted & there),
            "numberMisscheduled": len(there - wanted),
            "numberReady": len({p.node_name for p in well}),
        }

    def _failed(self, item: DaemonSet, node: str, pods: list[Pod], cause: int) -> list[Pod]:
        """Failed Pods are deleted, each time not before a longer wait since the last deletion on that Node."""
        failed = [p for p in pods if p.terminal and not p.terminating]
        if not failed:
            return []
        now = self.api.loop.now
        until, wait = self._backoff.get((item.key, node), (0, 0))
        if now < until:
            self.api.loop.at(until, self.enqueue, item.key, cause)
            return []
        wait = min(LONGEST_BACKOFF, wait * 2 or SECOND)
        self._backoff[item.key, node] = (now + wait, wait)
        return failed

    def _update(self, item: DaemonSet, cause: int) -> Steps[None]:
        """Old Pods are deleted while not more than maxUnavailable (1) are not ready."""
        strategy = item.raw.get("spec", {}).get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete":
            return
        revision = self._revision(item)
        pods = list(self.pods.get(item.key, {}).values())
        old = [p for p in pods if p.labels.get(REVISION_LABEL, revision) != revision and not p.terminating]
        limit = scaled((strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1), len(pods), up=True) or 1
        down = sum(1 for p in pods if p.terminating or not self.available(item, p))
        broken = [p for p in old if not self.available(item, p)]
        well = [p for p in old if self.available(item, p)][: max(0, limit - down)]
        if broken or well:
            yield from self.delete_pods(item, [*broken, *well], cause)

    # ---- values

    def _by_node(self, item: DaemonSet) -> dict[str, list[Pod]]:
        found: dict[str, list[Pod]] = {}
        for pod in self.pods.get(item.key, {}).values():
            found.setdefault(pod.node_name or target_of(pod), []).append(pod)
        return found

    def _revision(self, item: DaemonSet) -> str:
        """The revision of the template; Pods of a dump have that of the template that came with them."""
        short = template_hash(item.template)
        labels = [p.labels.get(REVISION_LABEL) for p in self.pods.get(item.key, {}).values()]
        known = self._first.setdefault(item.key, (short, next((text for text in labels if text), short)))
        return known[1] if short == known[0] else short

    def _pod_spec(self, item: DaemonSet, node: str) -> dict[str, Any]:
        spec = dict(item.template.get("spec") or {})
        own = [{"key": key, "operator": "Exists", "effect": "NoExecute"} for key in _NO_EXECUTE]
        keys = (*_NO_SCHEDULE, *(("node.kubernetes.io/network-unavailable",) if spec.get("hostNetwork") else ()))
        own += [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in keys]
        spec["tolerations"] = [*(spec.get("tolerations") or []), *own]
        if node:
            affinity = dict(spec.get("affinity") or {})
            by_node = dict(affinity.get("nodeAffinity") or {})
            fields = [{"key": _FIELD, "operator": "In", "values": [node]}]
            by_node["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchFields": fields}]}
            spec["affinity"] = {**affinity, "nodeAffinity": by_node}
        return spec

    def _manifest(self, item: DaemonSet, node: str) -> dict[str, Any]:
        manifest = self.pod_manifest(item, labels={REVISION_LABEL: self._revision(item)})
        manifest["spec"] = self._pod_spec(item, node)
        return manifest


def _labels_of(item: DaemonSet) -> Labels:
    return intern_labels({str(k): str(v) for k, v in ((item.template.get("metadata") or {}).get("labels") or {}).items()})


def _wanted(item: DaemonSet, spec: Any, node: Node) -> tuple[bool, bool]:
    """Whether a Pod should be made for the Node, and whether one that is there may stay."""
    if any(node.labels.get(key) != value for key, value in spec.node_selector.items()):
        return False, False
    if spec.node_affinity is not None and not spec.node_affinity.required_matches(node.name, node.labels):
        return False, False
    hard = [t for t in node.taints if t.effect in ("NoSchedule", "NoExecute") and not tolerated(spec.tolerations, t)]
    return not hard, not any(t.effect == "NoExecute" for t in hard)


def target_of(pod: Pod) -> str:
    """The Node that an unbound Pod of a DaemonSet is made for."""
    affinity = pod.spec.raw.get("affinity") or {}
    required = (affinity.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or []:
        for wanted in term.get("matchFields") or []:
            if wanted.get("key") == _FIELD and wanted.get("values"):
                return str(wanted["values"][0])
    return ""
