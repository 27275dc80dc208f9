"""Which Pods of a Node a drain evicts, leaves, or stumbles over. Filters are asked in order; the first that excludes a Pod has said it all.

Source: staging/src/k8s.io/kubectl/pkg/drain/filters.go, v1.36
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from simulations.engine.api.pod import Pod
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.evictions.drain_flags import DrainFlags
from simulations.engine.kernel.clock import SECOND

EVICT, SKIP, ERROR = "evict", "skip", "error"
MIRROR: Final = "kubernetes.io/config.mirror"
DAEMONS: Final = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
IGNORING_DAEMONS: Final = "ignoring DaemonSet-managed Pods"
LOCAL_STORAGE: Final = "Pods with local storage (use --delete-emptydir-data to override)"
DELETING_STORAGE: Final = "deleting Pods with local storage"
UNMANAGED: Final = "Pods that declare no controller (use --force to override)"
DELETING_UNMANAGED: Final = "deleting Pods that declare no controller"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a drain does with a Pod: evict, skip or error; `message` is the warning or the error, as kubectl says it."""

    action: str
    message: str = ""


GO_ON: Final = Verdict(EVICT)
Filter = Callable[[ApiServer, Pod, DrainFlags], Verdict]


def verdict(api: ApiServer, pod: Pod, flags: DrainFlags) -> Verdict:
    """What a drain with these flags does with the Pod now. A warning is lost when a later filter says nothing, as in kubectl."""
    found = GO_ON
    for look in FILTERS:
        found = look(api, pod, flags)
        if found.action != EVICT:
            break
    return found


def overdue(pod: Pod, flags: DrainFlags, now: int) -> bool:
    """Whether the Pod is being deleted for longer than the drain waits for anybody; whole seconds since its deletionTimestamp."""
    if flags.skip_wait_seconds <= 0 or pod.deletion_time is None:
        return False
    return (now - pod.deletion_time) // SECOND > flags.skip_wait_seconds


def _deleted(api: ApiServer, pod: Pod, flags: DrainFlags) -> Verdict:
    return Verdict(SKIP) if overdue(pod, flags, api.loop.now) else GO_ON


def _daemon(api: ApiServer, pod: Pod, flags: DrainFlags) -> Verdict:
    owner = pod.controller
    if owner is None or owner.kind != "DaemonSet" or pod.terminal:
        return GO_ON
    if api.get("DaemonSet", pod.namespace, owner.name) is None:
        return Verdict(EVICT if flags.force else ERROR, f'daemonsets.apps "{owner.name}" not found')
    return Verdict(SKIP, IGNORING_DAEMONS) if flags.ignore_daemonsets else Verdict(ERROR, DAEMONS)


def _mirror(_api: ApiServer, pod: Pod, _flags: DrainFlags) -> Verdict:
    return Verdict(SKIP) if MIRROR in pod.annotations else GO_ON


def _local_storage(_api: ApiServer, pod: Pod, flags: DrainFlags) -> Verdict:
    volumes = pod.spec.raw.get("volumes") or []
    if pod.terminal or not any(volume.get("emptyDir") is not None for volume in volumes):
        return GO_ON
    return Verdict(EVICT, DELETING_STORAGE) if flags.delete_emptydir_data else Verdict(ERROR, LOCAL_STORAGE)


def _unmanaged(_api: ApiServer, pod: Pod, flags: DrainFlags) -> Verdict:
    if pod.terminal or pod.controller is not None:
        return GO_ON
    return Verdict(EVICT, DELETING_UNMANAGED) if flags.force else Verdict(ERROR, UNMANAGED)


FILTERS: Final[tuple[Filter, ...]] = (_deleted, _daemon, _mirror, _local_storage, _unmanaged)


def errors_of(found: Sequence[tuple[Pod, Verdict]]) -> str:
    """The error for the Pods that nothing can be done with, as kubectl words it; empty when there are none."""
    names: dict[str, list[str]] = {}
    for pod, said in found:
        if said.action == ERROR:
            names.setdefault(said.message, []).append(f"{pod.namespace}/{pod.name}")
    return aggregate([f"cannot delete {message}: {', '.join(pods)}" for message, pods in names.items()])


def warnings_of(found: Sequence[tuple[Pod, Verdict]]) -> str:
    """The warning about Pods that are left alone, or deleted with a loss."""
    names: dict[str, list[str]] = {}
    for pod, said in found:
        if said.message and said.action != ERROR:
            names.setdefault(said.message, []).append(f"{pod.namespace}/{pod.name}")
    return "; ".join(f"{message}: {', '.join(pods)}" for message, pods in names.items())


def aggregate(errors: Sequence[str]) -> str:
    """Several errors as one text."""
    different = list(dict.fromkeys(errors))
    return f"[{', '.join(different)}]" if len(different) > 1 else "".join(different)
