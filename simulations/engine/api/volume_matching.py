"""Which volume a claim gets: the rule that the scheduler and the volume controller share.

Source: staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go, v1.36
Differs: of several volumes of the same, smallest size upstream takes one that the order of a Go map puts first; here it is the one that
was created first.
"""

from collections.abc import Container, Iterable

from simulations.engine.api.labels import Labels
from simulations.engine.api.storage import AVAILABLE, PersistentVolume, PersistentVolumeClaim


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is bound to this claim, or the user wants it to be."""
    ref = volume.claim_ref
    return ref is not None and (ref.namespace, ref.name) == claim.key and ref.uid in ("", claim.uid)


def may_serve(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is big enough, of the claim's mode, not being deleted, and nobody else's."""
    return (
        (volume.claim_ref is None or is_bound_to(volume, claim))
        and volume.capacity >= (claim.request or 0)
        and volume.volume_mode == claim.volume_mode
        and volume.attributes_class == claim.attributes_class
        and not volume.terminating
    )


def is_free_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume that may serve is available, selected by the claim and of its class."""
    return (
        volume.phase == AVAILABLE
        and (claim.selector is None or claim.selector.matches(volume.labels))
        and volume.storage_class == claim.storage_class
    )


def has_modes(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume has all access modes that the claim asks for."""
    return all(mode in volume.access_modes for mode in claim.access_modes)


def volume_for_node(
    claim: PersistentVolumeClaim,
    volumes: Iterable[PersistentVolume],
    labels: Labels,
    taken: Container[str],
) -> PersistentVolume | None:
    """The scheduler's choice for a Node of these labels: the volume that is the claim's already, or the smallest one that is free.

    `taken` are the names of volumes that other claims of the Pod get.
    """
    smallest: PersistentVolume | None = None
    for volume in volumes:
        if volume.name in taken or not may_serve(volume, claim):
            continue
        if is_bound_to(volume, claim):
            return volume if volume.reachable_from(labels) else None
        if not is_free_for(volume, claim) or not has_modes(volume, claim) or not volume.reachable_from(labels):
            continue
        if smallest is None or volume.capacity < smallest.capacity:
            smallest = volume
    return smallest


def volume_for_controller(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], *, waits: bool
) -> PersistentVolume | None:
    """The controller's choice: volumes of the fewest access modes first, of these the claim's own, or the smallest one that is free.

    With `waits` (the claim is bound when its Pod is scheduled) only a volume that is the claim's already will do.

    Source: pkg/controller/volume/persistentvolume/index.go, findByClaim, v1.36
    """
    fitting = [volume for volume in volumes if has_modes(volume, claim) and may_serve(volume, claim)]
    for modes in sorted({_modes(volume) for volume in fitting}, key=lambda modes: (len(modes), modes)):
        smallest: PersistentVolume | None = None
        for volume in (volume for volume in fitting if _modes(volume) == modes):
            if is_bound_to(volume, claim):
                return volume
            if waits or not is_free_for(volume, claim):
                continue
            if smallest is None or volume.capacity < smallest.capacity:
                smallest = volume
        if smallest is not None:
            return smallest
    return None


def _modes(volume: PersistentVolume) -> tuple[str, ...]:
    return tuple(sorted(set(volume.access_modes)))
