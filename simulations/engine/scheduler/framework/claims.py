"""The claims of a Pod, and why one cannot be used.

Source: staging/src/k8s.io/component-helpers/storage/ephemeral/ephemeral.go, v1.36
"""

from collections.abc import Iterator

from simulations.engine.api.pod import ClaimVolume, Pod
from simulations.engine.api.storage import PersistentVolumeClaim


def claim_name(pod: Pod, volume: ClaimVolume) -> str:
    """The name of a volume's claim; one that is made for the Pod is called after Pod and volume."""
    return f"{pod.name}-{volume.name}" if volume.ephemeral else volume.name


def claim_names(pod: Pod) -> Iterator[str]:
    """The names of all claims of a Pod, in the order of its volumes."""
    return (claim_name(pod, volume) for volume in pod.spec.claim_volumes)


def uses(pod: Pod, claim: PersistentVolumeClaim) -> bool:
    """Whether one of the Pod's volumes comes of this claim."""
    return pod.namespace == claim.namespace and claim.name in claim_names(pod)


def not_made_for(pod: Pod, claim: PersistentVolumeClaim) -> str:
    """Why an ephemeral volume's claim is not the Pod's own; empty when it is."""
    if any(owner.controller and owner.uid == pod.uid for owner in claim.owners):
        return ""
    return f"PVC {claim.namespace}/{claim.name} was not created for pod {pod.namespace}/{pod.name} (pod is not owner)"


def no_claim(name: str) -> str:
    """In the words of a lister."""
    return f'persistentvolumeclaim "{name}" not found'
