"""What a Node offers to a Pod's claims: the rule for one Node.

Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, v1.36
Differs: volumes of the old cloud kinds are not translated to CSI; their own node affinity counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.quantity import ceil_units
from simulations.engine.api.storage import NO_PROVISIONER, CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass
from simulations.engine.api.volume_matching import volume_for_node
from simulations.engine.scheduler.cache.volumes import Volumes
from simulations.engine.scheduler.framework.claims import claim_name, not_made_for

NODE_CONFLICT: Final = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT: Final = "node(s) didn't find available persistent volumes to bind"
NOT_ENOUGH_SPACE: Final = "node(s) did not have enough free storage"
NO_VOLUME: Final = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
Binding = tuple[PersistentVolume, PersistentVolumeClaim]


@dataclass(slots=True)
class PodVolumes:
    """What is to be done for a Pod on a Node: volumes to bind, claims to provision for."""

    bindings: list[Binding] = field(default_factory=list)
    provisions: list[PersistentVolumeClaim] = field(default_factory=list)


@dataclass(slots=True)
class PodClaims:
    """A Pod's claims as they are when its cycle begins, and the volumes that may be bound to those that wait, by class."""

    bound: list[PersistentVolumeClaim] = field(default_factory=list)
    waiting: list[PersistentVolumeClaim] = field(default_factory=list)
    immediate: list[PersistentVolumeClaim] = field(default_factory=list)
    candidates: dict[str, list[PersistentVolume]] = field(default_factory=dict)

    @property
    def to_match(self) -> list[PersistentVolumeClaim]:
        """The claims that wait and were given no Node yet, the smallest first."""
        return sorted((c for c in self.waiting if c.selected_node is None), key=lambda claim: claim.request or 0)

    @property
    def to_provision(self) -> list[PersistentVolumeClaim]:
        """The claims that are being provisioned for a Node."""
        return [claim for claim in self.waiting if claim.selected_node is not None]


@dataclass(slots=True)
class Outcome:
    """What came out for a Node: reasons against it (in upstream's order), or what is to be done there."""

    reasons: tuple[str, ...] = ()
    volumes: PodVolumes = field(default_factory=PodVolumes)
    error: str = ""


def sort_claims(pod: Pod, known: Volumes) -> PodClaims | str:
    """The Pod's claims by what is to be done about them; or why that cannot be said."""
    claims = PodClaims()
    for volume in pod.spec.claim_volumes:
        key = (pod.namespace, claim_name(pod, volume))
        claim = known.claims.get(key)
        if claim is None:
            return f'error getting PVC "{"/".join(key)}": could not find v1.PersistentVolumeClaim "{"/".join(key)}"'
        if volume.ephemeral and not_made_for(pod, claim):
            return not_made_for(pod, claim)
        if claim.bound:
            claims.bound.append(claim)
            continue
        found = known.classes.get(claim.storage_class)
        waits = found is not None and found.waits and not claim.volume_name
        (claims.waiting if waits else claims.immediate).append(claim)
    claims.candidates = {claim.storage_class: known.of_class(claim.storage_class) for claim in claims.waiting}
    return claims


def find(claims: PodClaims, known: Volumes, node: Node) -> Outcome:
    """What the Node offers."""
    conflict, missing = _bound_elsewhere(claims.bound, known, node)
    if any(claim.selected_node != node.name for claim in claims.to_provision):
        return Outcome(_reasons(conflict, True, False, missing))
    volumes, unmatched = match(claims, node)
    problem, error = "", ""
    for claim in [*claims.to_provision, *unmatched]:
        problem, error = _provision(claim, known, node)
        if problem or error:
            break
        volumes.provisions.append(claim)
    reasons = _reasons(conflict, problem == BIND_CONFLICT, problem == NOT_ENOUGH_SPACE, missing)
    return Outcome(reasons, volumes, error)


def _bound_elsewhere(claims: Sequence[PersistentVolumeClaim], known: Volumes, node: Node) -> tuple[bool, bool]:
    """Whether a bound volume cannot be reached from the Node, or is not there at all: what comes first."""
    for claim in claims:
        volume = known.volumes.get(("", claim.volume_name))
        if volume is None:
            return False, True
        if not volume.reachable_from(node.labels):
            return True, False
    return False, False


def match(claims: PodClaims, node: Node) -> tuple[PodVolumes, list[PersistentVolumeClaim]]:
    """Volumes that are there for claims that wait, the smallest claim first; and the claims that are left."""
    volumes, unmatched, taken = PodVolumes(), [], set[str]()
    for claim in claims.to_match:
        volume = volume_for_node(claim, claims.candidates[claim.storage_class], node.labels, taken)
        if volume is None:
            unmatched.append(claim)
            continue
        taken.add(volume.name)
        volumes.bindings.append((volume, claim))
    return volumes, unmatched


def class_of(claim: PersistentVolumeClaim, known: Volumes) -> StorageClass | str:
    """The class of a claim that is to be provisioned, or the error of having none."""
    if not claim.storage_class:
        return f'no class for claim "{claim.namespace}/{claim.name}"'
    return known.classes.get(claim.storage_class) or f'failed to find storage class "{claim.storage_class}"'


def provisions(found: StorageClass) -> bool:
    """Whether anybody makes volumes of the class."""
    return found.provisioner not in ("", NO_PROVISIONER)


def capacities(claim: PersistentVolumeClaim, found: StorageClass, known: Volumes) -> list[CSIStorageCapacity] | None:
    """Where there is room for the claim; None where nobody looks at it, for its driver does not ask for that."""
    driver = known.drivers.get(found.provisioner)
    if claim.request is None or driver is None or not driver.storage_capacity:
        return None
    size = ceil_units(claim.request)
    return [
        item
        for item in known.capacities.values()
        if item.storage_class == found.name
        and item.limit is not None
        and ceil_units(item.limit) >= size
        and item.topology is not None
    ]


def _provision(claim: PersistentVolumeClaim, known: Volumes, node: Node) -> tuple[str, str]:
    """Why no volume can be provisioned for the Node, and an error; both empty where one can."""
    found = class_of(claim, known)
    if isinstance(found, str):
        return "", found
    if not provisions(found) or not found.allows(node.labels):
        return BIND_CONFLICT, ""
    room = capacities(claim, found, known)
    if room is None or any(item.topology is not None and item.topology.matches(node.labels) for item in room):
        return "", ""
    return NOT_ENOUGH_SPACE, ""


def _reasons(conflict: bool, unmatched: bool, full: bool, missing: bool) -> tuple[str, ...]:
    flags = ((conflict, NODE_CONFLICT), (unmatched, BIND_CONFLICT), (full, NOT_ENOUGH_SPACE), (missing, NO_VOLUME))
    return tuple(reason for flag, reason in flags if flag)
