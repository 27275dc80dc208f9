"""How objects are deleted: with grace, with finalizers, with or without what they own.

Source: staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go, registry/generic/registry/store.go; pkg/registry/core/namespace/storage;
plugin/pkg/admission/namespace/lifecycle/admission.go, v1.36
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from simulations.engine.api.encode import format_time
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.workloads import ApiObject, Namespace
from simulations.engine.cluster import refusals
from simulations.engine.cluster.answers import Answer, conflict, not_found
from simulations.engine.cluster.api_server import ApiServer, state_of
from simulations.engine.cluster.writes import record, store_answer
from simulations.engine.kernel.clock import SECOND

if TYPE_CHECKING:
    from simulations.engine.cluster.call import Call

BACKGROUND: Final = "Background"
FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
POLICIES: Final = {BACKGROUND: "", "Foreground": FOREGROUND, "Orphan": ORPHAN}
"""What becomes of what an object owns, with the finalizer that says so to the garbage collector."""
_IMMORTAL: Final = ("default", "kube-system", "kube-public")


@dataclass(frozen=True, slots=True)
class Options:
    """What a deletion asks for: a grace in seconds (None: the object's own), a uid that must match, a propagation policy."""

    grace: int | None = None
    uid: str = ""
    propagation: str = ""


def delete(api: ApiServer, call: "Call", kind: str, options: Options, *, code: int = 200) -> Answer:
    """Begin or finish a deletion; one that does what it was to do is answered with `code`."""
    item = api.get(kind, call.namespace, call.name)
    if item is None:
        return not_found(refusals.group_resource(kind, call.resource), call.name)
    call.uid = item.uid
    if options.uid and options.uid != item.uid:
        return conflict(f"Precondition failed: UID in precondition: {options.uid}, UID in object meta: {item.uid}")
    if isinstance(item, Pod):
        return _delete_pod(api, call, item, options, code)
    call.data["after"] = state_of(item)
    if isinstance(item, Node):
        return _removed(api, call, item)
    if isinstance(item, Namespace):
        return _close(api, call, item)
    finalizer = POLICIES.get(options.propagation, "")
    held = item.finalizers if not finalizer or finalizer in item.finalizers else (*item.finalizers, finalizer)
    if not held:
        return _removed(api, call, item)
    return Answer(200, object=item) if item.terminating and held == item.finalizers else _marked(api, call, item, held)


def _delete_pod(api: ApiServer, call: "Call", pod: Pod, options: Options, code: int) -> Answer:
    grace = pod.spec.grace_seconds if options.grace is None else options.grace
    grace = grace if grace >= 0 else 1
    if not pod.node_name or pod.terminal:
        grace = 0
    if grace:
        return _graceful(api, call, pod, grace, code)
    if not pod.finalizers:
        return _removed(api, call, pod, code)
    if pod.deletion_grace == 0:
        return Answer(code, object=pod)
    generation = pod.generation + (0 if pod.terminating else 1)
    held = pod.replace(deletion_time=api.loop.now, deletion_grace=0, generation=generation)
    return store_answer(api, call, api.store(held), pod, code)


def _graceful(api: ApiServer, call: "Call", pod: Pod, grace: int, code: int) -> Answer:
    """Set the deletionTimestamp; a second deletion can only bring it forward."""
    if pod.deletion_grace is not None and grace >= pod.deletion_grace:
        return Answer(code, object=pod)
    requested = api.loop.now if pod.deletion_time is None else pod.deletion_time - (pod.deletion_grace or 0) * SECOND
    generation = pod.generation + (1 if pod.deletion_time is None else 0)
    changed = api.store(pod.replace(deletion_time=requested + grace * SECOND, deletion_grace=grace, generation=generation))
    return store_answer(api, call, changed, pod, code)


def _removed(api: ApiServer, call: "Call", item: Any, code: int = 200) -> Answer:
    answer = record(api, call, Answer(code, object=item))
    api.remove(item, answer.seq)
    return answer


def _marked(api: ApiServer, call: "Call", item: ApiObject, finalizers: tuple[str, ...]) -> Answer:
    """Give it its deletionTimestamp; the finalizers hold it."""
    now = api.loop.now if item.deletion_time is None else item.deletion_time
    metadata = {**(item.raw.get("metadata") or {}), "deletionTimestamp": format_time(now, api.settings.epoch)}
    if finalizers:
        metadata["finalizers"] = list(finalizers)
    changed = replace(item, deletion_time=now, finalizers=finalizers, raw={**item.raw, "metadata": metadata})
    return store_answer(api, call, api.store(changed), item)


def _close(api: ApiServer, call: "Call", item: Namespace) -> Answer:
    """A Namespace takes nothing new any more, and stays until it is empty."""
    if item.name in _IMMORTAL:
        return refusals.forbidden(call, item.kind, "this namespace may not be deleted")
    return Answer(200, object=item) if item.terminating else _marked(api, call, item, item.finalizers)


def finalize(api: ApiServer, call: "Call") -> Answer:
    """The last step of a Namespace's deletion."""
    item = api.get("Namespace", "", call.name)
    if item is None:
        return not_found("namespaces", call.name)
    call.uid = item.uid
    return _removed(api, call, item)
