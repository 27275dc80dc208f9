"""Makes a decision about volumes true: assumed in memory at Reserve, written and waited for at PreBind.

Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, AssumePodVolumes, BindPodVolumes, v1.36
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from simulations.engine.api.pod import Pod
from simulations.engine.api.storage import (
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    ClaimRef,
    PersistentVolume,
    PersistentVolumeClaim,
)
from simulations.engine.api.volume_matching import is_bound_to
from simulations.engine.cluster.client import Client
from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.loop import Steps
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.plugins.volume_binding.finding import Binding, PodVolumes

POLL: Final = SECOND
"""How often upstream looks whether the controller is done; the first time after one interval."""


def assume(volumes: PodVolumes, cache: SchedulerCache, node: str) -> str:
    """Put what is decided into the cache, and into `volumes`; returns why that failed (then nothing is assumed), else nothing."""
    bindings: list[Binding] = []
    provisions: list[PersistentVolumeClaim] = []
    known = cache.volumes
    for volume, claim in volumes.bindings:
        bound = bound_to(volume, claim)
        error = known.volumes.assume(bound) if bound is not volume else ""
        if error:
            break
        bindings.append((bound, claim))
    else:
        for claim in volumes.provisions:
            chosen = replace(claim, annotations={**claim.annotations, SELECTED_NODE: node})
            error = known.claims.assume(chosen)
            if error:
                break
            provisions.append(chosen)
        else:
            volumes.bindings, volumes.provisions = bindings, provisions
            return ""
    revert(PodVolumes(bindings, provisions), cache)
    return error


def revert(volumes: PodVolumes, cache: SchedulerCache) -> None:
    """Take back what was assumed; what the informer says counts again."""
    for volume, _claim in volumes.bindings:
        cache.volumes.volumes.restore(volume.key)
    for claim in volumes.provisions:
        cache.volumes.claims.restore(claim.key)


def bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """The volume with a reference to the claim; the same object where nothing changes."""
    ref = ClaimRef(claim.namespace, claim.name, claim.uid)
    annotations = volume.annotations
    if not is_bound_to(volume, claim) and BOUND_BY_CONTROLLER not in annotations:
        annotations = {**annotations, BOUND_BY_CONTROLLER: "yes"}
    if volume.claim_ref == ref and annotations is volume.annotations:
        return volume
    return replace(volume, claim_ref=ref, annotations=annotations)


def write(volumes: PodVolumes, cache: SchedulerCache, client: Client, cause: int) -> Steps[str]:
    """Make the API calls; after an error what was not written is no longer assumed. Returns the error."""
    for i, (volume, claim) in enumerate(volumes.bindings):
        answer = yield client.update("PersistentVolume", volume, _volume_patch(volume, claim), cause=cause)
        if not answer.ok:
            revert(PodVolumes(volumes.bindings[i:], volumes.provisions), cache)
            return str(answer.message)
        volumes.bindings[i] = (answer.object, claim)
    for i, claim in enumerate(volumes.provisions):
        patch = {"metadata": {"annotations": {SELECTED_NODE: claim.selected_node}}}
        answer = yield client.update("PersistentVolumeClaim", claim, patch, cause=cause)
        if not answer.ok:
            revert(PodVolumes([], volumes.provisions[i:]), cache)
            return str(answer.message)
        volumes.provisions[i] = answer.object
    return ""


def wait(pod: Pod, node: str, volumes: PodVolumes, cache: SchedulerCache, timeout: tuple[Client, int]) -> Steps[str]:
    """Look every second whether all is bound, at most `timeout` ns by the client's clock. Returns the error."""
    client, longest = timeout
    end = client.api.loop.now + longest
    while client.api.loop.now + POLL < end:
        yield POLL
        done, error = check(pod, node, volumes, cache)
        if done or error:
            return error
    yield max(0, end - client.api.loop.now)
    return "context deadline exceeded"


def check(pod: Pod, node_name: str, volumes: PodVolumes, cache: SchedulerCache) -> tuple[bool, str]:
    """Whether all is bound, as the informers have it; and what has gone wrong."""
    info = cache.infos.get(node_name)
    if info is None:
        return False, f'failed to get node "{node_name}": node "{node_name}" not found'
    if pod.key not in cache.waiting:
        return False, f'pod does not exist any more: pod "{pod.name}" not found'
    states = [_static(volume, claim, cache, node_name) for volume, claim in volumes.bindings]
    states += [_dynamic(claim, cache, node_name) for claim in volumes.provisions]
    return _first(states)


def _first(states: Sequence[tuple[bool, str]]) -> tuple[bool, str]:
    """The first that is not done or has an error decides."""
    return next((state for state in states if not state[0]), (True, ""))


def _static(volume: PersistentVolume, claim: PersistentVolumeClaim, cache: SchedulerCache, node_name: str) -> tuple[bool, str]:
    known = cache.volumes
    now, its_claim = known.volumes.seen(volume.key), known.claims.seen(claim.key)
    if now is None:
        return False, f'failed to check binding: could not find v1.PersistentVolume "{volume.name}"'
    if its_claim is None:
        name = f"{claim.namespace}/{claim.name}"
        return False, f'failed to check binding: could not find v1.PersistentVolumeClaim "{name}"'
    if volume.resource_version > now.resource_version:
        return False, ""
    if not now.reachable_from(cache.infos[node_name].node.labels):
        return False, _unreachable(now, node_name)
    if now.claim_ref is None or not now.claim_ref.uid:
        return False, f'ClaimRef got reset for pv "{now.name}"'
    return its_claim.bound, ""


def _dynamic(claim: PersistentVolumeClaim, cache: SchedulerCache, node_name: str) -> tuple[bool, str]:
    known = cache.volumes
    now = known.claims.seen(claim.key)
    if now is None:
        return False, f'failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "{claim.namespace}/{claim.name}"'
    if claim.resource_version > now.resource_version:
        return False, ""
    if not now.annotations:
        return False, f'selectedNode annotation reset for PVC "{claim.name}"'
    if now.selected_node != node_name:
        return False, f'provisioning failed for PVC "{claim.name}"'
    if now.volume_name:
        volume = known.volumes.seen(("", now.volume_name))
        if volume is None:
            return False, ""
        if not volume.reachable_from(cache.infos[node_name].node.labels):
            return False, _unreachable(volume, node_name)
    return now.bound, ""


def _unreachable(volume: PersistentVolume, node_name: str) -> str:
    return f'pv "{volume.name}" node affinity doesn\'t match node "{node_name}": no matching NodeSelectorTerms'


def _volume_patch(volume: PersistentVolume, claim: PersistentVolumeClaim) -> dict[str, Any]:
    ref = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": claim.namespace, "name": claim.name, "uid": claim.uid,
        "resourceVersion": str(claim.resource_version),
    }  # fmt: skip
    by = volume.annotations.get(BOUND_BY_CONTROLLER)
    patch: dict[str, Any] = {"spec": {"claimRef": ref}}
    return {**patch, "metadata": {"annotations": {BOUND_BY_CONTROLLER: by}}} if by else patch
