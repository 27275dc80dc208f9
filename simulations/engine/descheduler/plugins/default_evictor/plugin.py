"""DefaultEvictor: which pods may be evicted, and which can be placed elsewhere.

Source: pkg/framework/plugins/defaultevictor/defaultevictor.go, descheduler v0.36
"""

from typing import ClassVar, Final

from simulations.engine.api.pod import Pod
from simulations.engine.descheduler.framework.node_table import Mask, NodeTable
from simulations.engine.descheduler.framework.plugin import Handle
from simulations.engine.descheduler.framework.predicates import PREFER_NO_EVICTION
from simulations.engine.descheduler.plugins.default_evictor.args import MANDATORY, DefaultEvictorArgs
from simulations.engine.descheduler.plugins.default_evictor.protections import checks

EVICT: Final = "descheduler.alpha.kubernetes.io/evict"
NO_OTHER_NODE: Final = "pod does not fit on any other node because of nodeSelector(s), Taint(s), or nodes marked as unschedulable"
NAMESPACE: Final = "pod namespace do not match the namespaceLabelSelector filter in the policy parameter"
MANDATORY_SAID: Final = "pod asks not to be evicted, and noEvictionPolicy is Mandatory"


class DefaultEvictor:
    """Filter: the annotation that asks for eviction lets a pod pass whatever protects it. PreEvictionFilter asks whether another node
    has room and whether the namespace is meant; no annotation passes by it.
    """

    NAME: ClassVar[str] = "DefaultEvictor"

    def __init__(self, args: DefaultEvictorArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._checks = checks(args, handle)
        self._asked: tuple[NodeTable, Mask] | None = None

    def filter(self, pod: Pod) -> str:
        """Every protection that holds, as upstream lists them; empty where none does."""
        if EVICT in pod.annotations:
            return ""
        if self._args.no_eviction_policy == MANDATORY and PREFER_NO_EVICTION in pod.annotations:
            return MANDATORY_SAID
        found = [why for check in self._checks if (why := check(pod))]
        return f"[{', '.join(found)}]" if len(found) > 1 else "".join(found)

    def pre_eviction_filter(self, pod: Pod) -> str:
        """Why it is held back: no other node fits, or its namespace is not meant."""
        args, handle = self._args, self._handle
        if args.node_fit and not handle.fit.fits_any(pod, self._nodes(), other=True):
            reasons = handle.fit.reasons(pod, self._nodes(), other=True)
            said = ", ".join(f"{number} {reason}" for reason, number in reasons.items())
            return f"{NO_OTHER_NODE}: {said}" if said else NO_OTHER_NODE
        selector = args.namespace_label_selector
        if selector is not None and not selector.empty and not selector.matches(handle.view.namespace_labels(pod.namespace)):
            return NAMESPACE
        return ""

    def _nodes(self) -> Mask:
        """The nodes that NodeFit asks: ready ones that the plugin's own nodeSelector matches, whatever the policy's says."""
        table = self._handle.view.table
        if self._asked is None or self._asked[0] is not table:
            self._asked = (table, table.mask(self._handle.view.ready_nodes(self._args.node_selector)))
        return self._asked[1]
