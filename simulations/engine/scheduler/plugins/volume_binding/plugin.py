"""VolumeBinding, the plugin.

Differs: Score is part of the gate StorageCapacityScoring, which is off by default and not modelled; PreScore skips it.

Source: pkg/scheduler/framework/plugins/volumebinding/volume_binding.go, v1.36
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.api.storage import LOST
from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.loop import Steps
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.claims import claim_name, no_claim, not_made_for
from simulations.engine.scheduler.framework.events import EventRegistration
from simulations.engine.scheduler.framework.plugin import CycleState, FilterColumn, Handle, Plugin, PreFilterResult, Scope
from simulations.engine.scheduler.framework.status import SKIP, Code, Status, unresolvable
from simulations.engine.scheduler.plugins.volume_binding import binding
from simulations.engine.scheduler.plugins.volume_binding.columns import REASONS, Offers, find_all
from simulations.engine.scheduler.plugins.volume_binding.finding import PodClaims, PodVolumes, find, sort_claims
from simulations.engine.scheduler.plugins.volume_binding.hints import REGISTRATIONS

NAME: Final = "VolumeBinding"
_SKIPPED: Final = PreFilterResult(SKIP)
_UNBOUND: Final = PreFilterResult(unresolvable(NAME, "pod has unbound immediate PersistentVolumeClaims"))
_STATUSES: Final = [
    unresolvable(NAME, *(reason for i, reason in enumerate(REASONS) if bits >> i & 1)) for bits in range(1, 1 << len(REASONS))
]
"""By the bits of the reasons, less one."""


@dataclass(frozen=True, slots=True)
class VolumeBindingArgs:
    """How long PreBind waits for volumes, in seconds."""

    bind_timeout_seconds: int = 600


@dataclass(slots=True)
class _State:
    """The Pod's claims, what Nodes offer, and what was decided for the chosen one."""

    claims: PodClaims
    by_node: dict[str, PodVolumes] = field(default_factory=dict)
    offers: Offers | None = None
    all_bound: bool = False
    reserved: PodVolumes | None = None


class VolumeBinding(Plugin):
    """Bound volumes must be reachable; claims that wait get a free volume or one that is provisioned."""

    NAME = NAME
    FILTER_SCOPE = Scope.CLUSTER

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        self._timeout = args.bind_timeout_seconds * SECOND
        self._handle = handle
        self._cache = handle.cache

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Nodes, volumes, claims, classes, and what drivers say."""
        return REGISTRATIONS

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult | None:
        """All claims must be there, and those that do not wait for Pods bound."""
        if not pod.spec.claim_volumes:
            return _SKIPPED
        problem = self._problem(pod)
        if problem:
            return PreFilterResult(unresolvable(NAME, problem))
        claims = sort_claims(pod, self._cache.volumes)
        if isinstance(claims, str):
            return PreFilterResult(Status(Code.ERROR, (claims,), NAME))
        if claims.immediate:
            return _UNBOUND
        state.data[NAME] = _State(claims)
        return None

    def filter(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """What does this Node offer?"""
        found: _State = state.data[NAME]
        outcome = find(found.claims, self._cache.volumes, info.node)
        if outcome.error:
            return Status(Code.ERROR, (outcome.error,), NAME)
        if outcome.reasons:
            return unresolvable(NAME, *outcome.reasons)
        found.by_node[info.name] = outcome.volumes
        return None

    def filter_columns(self, state: CycleState, pod: Pod, columns: Columns) -> FilterColumn | None:
        """What do all Nodes offer?"""
        found: _State = state.data[NAME]
        found.offers = offers = find_all(found.claims, self._cache, columns)
        if offers.error:
            return FilterColumn.rejecting(columns.valid.copy(), Status(Code.ERROR, (offers.error,), NAME))
        return FilterColumn(offers.reasons.astype(np.int16), _STATUSES)

    def pre_score(self, state: CycleState, pod: Pod, rows: Ints) -> Status | None:
        """No scores."""
        return SKIP

    def score(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """Never asked: PreScore skips it."""
        return 0

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Assume what is to be done on the chosen Node."""
        found: _State | None = state.data.get(NAME)
        if found is None:
            return None
        known = self._cache.volumes.claims
        claims = (known.get((pod.namespace, claim_name(pod, volume))) for volume in pod.spec.claim_volumes)
        found.all_bound = all(claim is not None and claim.bound for claim in claims)
        if found.all_bound:
            return None
        found.reserved = self._decided(found, node_name)
        error = binding.assume(found.reserved, self._cache, node_name)
        return Status(Code.ERROR, (error,), NAME) if error else None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Take it back."""
        found: _State | None = state.data.get(NAME)
        if found is not None and found.reserved is not None:
            binding.revert(found.reserved, self._cache)

    def pre_bind_work(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        """Whether there are volumes to bind."""
        found: _State | None = state.data.get(NAME)
        return found is not None and not found.all_bound

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str, cause: int) -> Steps[Status | None]:
        """Write what was assumed, and wait until the controller has bound it."""
        found: _State | None = state.data.get(NAME)
        client = self._handle.client
        if found is None or found.all_bound or found.reserved is None or client is None:
            return None
        error = yield from binding.write(found.reserved, self._cache, client, cause)
        if not error:
            error = yield from binding.wait(pod, node_name, found.reserved, self._cache, (client, self._timeout))
            error = f"binding volumes: {error}" if error else ""
        return Status(Code.ERROR, (error,), NAME) if error else None

    def _decided(self, found: _State, node_name: str) -> PodVolumes:
        """What Filter found for the chosen Node."""
        volumes = found.by_node.get(node_name)
        info = self._cache.infos.get(node_name)
        if volumes is None and found.offers is not None and info is not None:
            volumes = found.offers.on(info.row)
        return volumes or PodVolumes()

    def _problem(self, pod: Pod) -> str:
        """Why one of the Pod's claims cannot be used; empty where all can."""
        for volume in pod.spec.claim_volumes:
            name = claim_name(pod, volume)
            claim = self._cache.volumes.claims.seen((pod.namespace, name))
            if claim is None and volume.ephemeral:
                return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            if claim is None:
                return no_claim(name)
            if claim.phase == LOST:
                return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.volume_name}"'
            if claim.terminating:
                return f'persistentvolumeclaim "{name}" is being deleted'
            if volume.ephemeral and not_made_for(pod, claim):
                return not_made_for(pod, claim)
        return ""
