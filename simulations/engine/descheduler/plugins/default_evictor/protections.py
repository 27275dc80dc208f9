"""What protects a pod from eviction: one check per protection and option, each in upstream's words.

Source: pkg/framework/plugins/defaultevictor/{defaultevictor.go,constraints.go}, descheduler v0.36
"""

from collections.abc import Iterator
from typing import Final

from simulations.engine.api.pod import FAILED, Pod
from simulations.engine.descheduler.framework.plugin import Check, Handle
from simulations.engine.descheduler.framework.predicates import priority_of
from simulations.engine.descheduler.plugins.default_evictor.args import (
    DAEMON_SETS,
    FAILED_BARE,
    LOCAL_STORAGE,
    RESOURCE_CLAIMS,
    SYSTEM_CRITICAL,
    SYSTEM_CRITICAL_PRIORITY,
    WITH_PVC,
    WITHOUT_PDB,
    DefaultEvictorArgs,
)
from simulations.engine.kernel.clock import HOUR, MINUTE, SECOND
from simulations.engine.kernel.errors import ScenarioError

MIRROR: Final = "kubernetes.io/config.mirror"
SOURCE: Final = "kubernetes.io/config.source"


def checks(args: DefaultEvictorArgs, handle: Handle) -> list[Check]:
    """The checks that are in force, in upstream's order.

    Raises:
        ScenarioError: E0804, the class of the priority threshold is not there, or too high.
    """
    return [_mirror, _static, _terminating, *_of_protections(args, handle), *_of_options(args, handle)]


def threshold(args: DefaultEvictorArgs, handle: Handle) -> int:
    """The priority from which on pods are protected.

    Raises:
        ScenarioError: E0804.
    """
    if args.priority_threshold is not None or not args.priority_class:
        return SYSTEM_CRITICAL_PRIORITY if args.priority_threshold is None else args.priority_threshold
    value = handle.priority_of_class(args.priority_class)
    if value > SYSTEM_CRITICAL_PRIORITY:
        raise ScenarioError(
            "E0804", f"priority threshold can't be greater than {SYSTEM_CRITICAL_PRIORITY}", "priorityThreshold.name"
        )
    return value


def _mirror(pod: Pod) -> str:
    return "pod is a mirror pod" if MIRROR in pod.annotations else ""


def _static(pod: Pod) -> str:
    return "pod is a static pod" if pod.annotations.get(SOURCE, "api") != "api" else ""


def _terminating(pod: Pod) -> str:
    return "pod is terminating" if pod.terminating else ""


def _of_protections(args: DefaultEvictorArgs, handle: Handle) -> Iterator[Check]:
    on = args.protections
    limit = threshold(args, handle)
    if SYSTEM_CRITICAL in on:
        yield _critical
        yield lambda pod: _too_important(pod, limit)
    yield _bare if FAILED_BARE in on else _bare_not_failed
    if LOCAL_STORAGE in on:
        yield _local_storage
    if DAEMON_SETS in on:
        yield _daemon_set
    if WITH_PVC in on:
        yield _storage_class(args.protected_storage_classes, handle) if args.protected_storage_classes else _any_claim
    if WITHOUT_PDB in on:
        yield (
            lambda pod: (
                "" if handle.view.has_budget(pod) else "pod does not have a PodDisruptionBudget and is protected against eviction"
            )
        )
    if RESOURCE_CLAIMS in on:
        yield _resource_claims


def _critical(pod: Pod) -> str:
    priority = priority_of(pod)
    critical = priority is not None and priority >= SYSTEM_CRITICAL_PRIORITY
    return "pod has system critical priority and is protected against eviction" if critical else ""


def _too_important(pod: Pod, limit: int) -> str:
    priority = priority_of(pod)
    above = priority is not None and priority >= limit
    return "pod has higher priority than specified priority class threshold" if above else ""


def _bare(pod: Pod) -> str:
    return "" if pod.owners else "pod does not have any ownerRefs"


def _bare_not_failed(pod: Pod) -> str:
    if pod.owners or pod.phase == FAILED:
        return ""
    return "pod does not have any ownerRefs and is not in failed phase"


def _local_storage(pod: Pod) -> str:
    volumes = pod.spec.raw.get("volumes") or ()
    local = any(v.get("hostPath") is not None or v.get("emptyDir") is not None for v in volumes)
    return "pod has local storage and is protected against eviction" if local else ""


def _daemon_set(pod: Pod) -> str:
    owned = any(owner.kind == "DaemonSet" for owner in pod.owners)
    return "daemonset pods are protected against eviction" if owned else ""


def _any_claim(pod: Pod) -> str:
    return "pod with PVC is protected against eviction" if pod.spec.claims else ""


def _storage_class(protected: tuple[str, ...], handle: Handle) -> Check:
    def check(pod: Pod) -> str:
        for name in pod.spec.claims:
            claim = handle.view.claim(pod.namespace, name)
            if claim is None:
                return f'failed to get persistent volume claim "{pod.namespace}"/"{name}": persistentvolumeclaim "{name}" not found'
            if not claim.storage_class:
                return f'failed to resolve storage class for pod "{pod.namespace}"/"{name}"'
        used = sorted(claim.storage_class for n in pod.spec.claims if (claim := handle.view.claim(pod.namespace, n)) is not None)
        return next((f'pod using protected storage class "{name}"' for name in used if name in protected), "")

    return check


def _resource_claims(pod: Pod) -> str:
    if not pod.spec.resource_claims:
        return ""
    return "pod has ResourceClaims and descheduler is configured to protect ResourceClaims pods"


def _of_options(args: DefaultEvictorArgs, handle: Handle) -> Iterator[Check]:
    selector = args.label_selector
    if selector is not None and not selector.empty:
        yield (
            lambda pod: (
                "" if selector.matches(pod.labels) else "pod labels do not match the labelSelector filter in the policy parameter"
            )
        )
    if args.min_replicas > 1:
        yield lambda pod: _too_few(pod, args.min_replicas, handle)
    if args.min_pod_age is not None:
        yield _age_check(args.min_pod_age, handle)


def _too_few(pod: Pod, wanted: int, handle: Handle) -> str:
    if len(pod.owners) != 1:
        return ""
    there = handle.view.owned_by(pod.owners[0].uid)
    return f"owner has {there} replicas which is less than minReplicas of {wanted}" if there < wanted else ""


def _age_check(least: int, handle: Handle) -> Check:
    said = f"pod age is not older than MinPodAge: {_go_duration(least)} seconds"
    return lambda pod: said if pod.start_time is None or handle.now() - pod.start_time < least else ""


def _go_duration(time: int) -> str:
    """As Go prints a duration: 1h0m0s, 5m0s, 1.5s."""
    if time < SECOND:
        return f"{time / 1_000_000:g}ms" if time else "0s"
    hours, minutes, seconds = time // HOUR, time % HOUR // MINUTE, time % MINUTE / SECOND
    text = f"{seconds:g}s"
    if time >= MINUTE:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text
