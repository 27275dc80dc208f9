"""What each call does to the store, at the instant of its answer.

Source: pkg/registry/core/pod/{strategy.go,storage/storage.go}; staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go, v1.36
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from simulations.engine.api import shapes
from simulations.engine.api.budgets import changed_budget, new_budget
from simulations.engine.api.decode import CLUSTER_SCOPED, decode_object
from simulations.engine.api.encode import node_manifest, pod_manifest
from simulations.engine.api.labels import intern_labels
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Condition, Pod
from simulations.engine.api.scheduling import REGION_LABEL, ZONE_LABEL
from simulations.engine.api.storage_rules import changed_storage
from simulations.engine.api.workload_rules import changed_object
from simulations.engine.api.workloads import Namespace, PodDisruptionBudget, PriorityClass
from simulations.engine.cluster import namespaces, pod_updates, refusals
from simulations.engine.cluster.admission import with_not_ready_taint, with_runtime_class
from simulations.engine.cluster.answers import Answer, conflict, not_found
from simulations.engine.cluster.api_server import ApiServer, state_of
from simulations.engine.cluster.storage_admission import with_default_class
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.errors import ScenarioError

if TYPE_CHECKING:
    from simulations.engine.cluster.call import Call


STALE: Final = "the object has been modified; please apply your changes to the latest version and try again"


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A change of a Pod's status; None leaves a field as it is, an empty nomination clears it."""

    conditions: tuple[Condition, ...] = ()
    nominated: str | None = None
    phase: str | None = None
    start: SimTime | None = None
    reason: str = ""


def record(api: ApiServer, call: "Call", answer: Answer) -> Answer:
    """Write the record of an answered call and note it on the answer."""
    if answer.retry_after:
        call.data["retryAfter"] = answer.retry_after
    if answer.details:
        call.data["details"] = dict(answer.details)
    answer.seq = api.trace.add(
        api.loop.now, call.actor, call.verb, resource=call.resource, namespace=call.namespace, name=call.name, uid=call.uid,
        code=answer.code, reason=answer.reason, message=answer.message, cause=call.cause, data=call.data,
    )  # fmt: skip
    return answer


def create(api: ApiServer, call: "Call", document: Mapping[str, Any]) -> Answer:
    """Admit, validate and store a new object; its status is dropped for Pods."""
    kind = str(document.get("kind"))
    wrong = _misshapen(api, document)
    if wrong is not None:
        return refusals.refusal(call, document, [wrong])
    document = _named(api, call, document)
    namespace = "" if kind in CLUSTER_SCOPED else str(document["metadata"].get("namespace") or "default")
    refused = namespaces.closed(api, call, kind, namespace) or _taken(api, call, kind, namespace)
    if refused is not None:
        return refused
    if kind == "Pod":
        unreadable = _unreadable(api, call, document)
        if unreadable is not None:
            return unreadable
        document, forbidden = _defaulted(api, document, namespace)
        if forbidden:
            return refusals.forbidden(call, kind, forbidden)
    document = _mutated(api, kind, document)
    item = _admitted(api, call, document)
    if isinstance(item, Answer):
        return item
    forbidden = namespaces.over_quota(api, kind, document, namespace)
    if forbidden:
        return refusals.forbidden(call, kind, forbidden)
    item = api.insert(_begun(item, api.loop.now))
    call.uid, call.namespace = item.uid, item.namespace
    after = state_of(item)
    if call.actor in ("user", "setup"):
        call.data["object"] = dict(document)
    if isinstance(item, Node):
        call.data["row"] = api.next_row()
    if isinstance(item, Pod):
        call.data["requests"] = item.spec.requests
    call.data["after"] = after
    answer = record(api, call, Answer(201, object=item))
    api.added(item, answer.seq)
    return answer


def _mutated(api: ApiServer, kind: str, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """What admission adds to a Node or a claim."""
    if kind == "Node" and api.taints_new_nodes:
        return with_not_ready_taint(document)
    return with_default_class(api, document) if kind == "PersistentVolumeClaim" else document


def _taken(api: ApiServer, call: "Call", kind: str, namespace: str) -> Answer | None:
    """409 when there is an object of this name."""
    existing = api.get(kind, namespace, call.name)
    if existing is None:
        return None
    going = "object is being deleted: " if getattr(existing, "terminating", False) else ""
    return Answer(409, "AlreadyExists", f'{going}{refusals.group_resource(kind, call.resource)} "{call.name}" already exists')


def _misshapen(api: ApiServer, document: Mapping[str, Any]) -> ScenarioError | None:
    """What cannot even be read: the first field that has another type than it should."""
    wrong = shapes.misshapen(document)
    return api.admission.misshapen(document.get("spec")) if wrong is None and document.get("kind") == "Pod" else wrong


def _defaulted(api: ApiServer, document: Mapping[str, Any], namespace: str) -> tuple[Mapping[str, Any], str]:
    """A new Pod without the status that it came with, with what its namespace and its RuntimeClass add; and why it is forbidden."""
    spec = document.get("spec") or {}
    if spec.get("runtimeClassName") or spec.get("overhead"):
        found = api.get("RuntimeClass", "", str(spec.get("runtimeClassName") or ""))
        spec, forbidden = with_runtime_class(spec, found)
        if forbidden:
            return document, forbidden
        document = {**document, "spec": spec}
    return namespaces.with_limits(api, {**document, "status": {"phase": "Pending"}}, namespace)


def _named(api: ApiServer, call: "Call", document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The manifest with a name: the server makes one from generateName."""
    metadata = document.get("metadata") or {}
    if metadata.get("name") or not metadata.get("generateName"):
        return {**document, "metadata": metadata}
    call.name = api.new_name(str(metadata["generateName"]), api.streams.stream("names/api"))
    return {**document, "metadata": {**metadata, "name": call.name}}


def _begun(item: Any, now: SimTime) -> Any:
    """What the server writes into every new object: when it was made, and that it has no uid of its own."""
    if isinstance(item, PodDisruptionBudget):
        item = new_budget(item)
    if not isinstance(item, Pod | Node):
        return replace(item, uid="", created=now, deletion_time=None)
    item.uid, item.created = "", now
    if isinstance(item, Pod) and item.spec.scheduling_gates:
        text = "Scheduling is blocked due to non-empty scheduling gates"
        item.conditions = (Condition("PodScheduled", "False", "SchedulingGated", text),)
    return item


def _unreadable(api: ApiServer, call: "Call", document: Mapping[str, Any]) -> Answer | None:
    """A Pod that cannot be read is refused before admission looks at it; that is looked at only where admission needs to read it."""
    spec = document.get("spec") or {}
    if not (spec.get("runtimeClassName") or spec.get("overhead") or api.list("LimitRange") or api.list("ResourceQuota")):
        return None
    try:
        decode_object(document, epoch=api.settings.epoch)
    except ScenarioError as error:
        return refusals.refusal(call, document, [error]) if error.code in refusals.AT_ONCE else None
    return None


def _admitted(api: ApiServer, call: "Call", document: Mapping[str, Any]) -> Any:
    """The object of a manifest, or the answer that refuses it: admission comes before validation."""
    item = refusals.read(call, document, api.decode)
    return (_second_default(api, call, item) or item) if isinstance(item, PriorityClass) else item


def _second_default(api: ApiServer, call: "Call", item: PriorityClass) -> Answer | None:
    others = [c.name for c in api.classes.values() if c.global_default and c.name != item.name]
    if not item.global_default or not others:
        return None
    text = f"PriorityClass {others[0]} is already marked as default. Only one default can exist"
    return refusals.forbidden(call, item.kind, text)


def store_answer(api: ApiServer, call: "Call", changed: Any, old: Any, code: int = 200) -> Answer:
    """Answer a call that changed a stored object, and tell the watchers."""
    call.uid = changed.uid
    call.data["after"] = state_of(changed)
    answer = record(api, call, Answer(code, object=changed))
    api.modified(changed, old, answer.seq)
    return answer


def bind(api: ApiServer, call: "Call", uid: str, node_name: str) -> Answer:
    """Set nodeName and what goes with it: PodScheduled, the Node's topology labels, no nomination."""
    pod = api.get("Pod", call.namespace, call.name)
    if pod is None or pod.uid != uid:
        return not_found("pods", call.name)
    call.uid = uid
    if pod.terminating:
        return conflict(f'Operation cannot be fulfilled on pods/binding "{pod.name}": pod {pod.name} is being deleted')
    if pod.node_name:
        text = f'pod {pod.name} is already assigned to node "{pod.node_name}"'
        return conflict(f'Operation cannot be fulfilled on pods/binding "{pod.name}": {text}')
    if pod.spec.scheduling_gates:
        text = f"pod {pod.name} has non-empty .spec.schedulingGates"
        return conflict(f'Operation cannot be fulfilled on pods/binding "{pod.name}": {text}')
    changes: dict[str, Any] = {
        "node_name": node_name,
        "conditions": with_condition(pod.conditions, Condition("PodScheduled", "True"), api.loop.now),
        "labels": _topology_labels(api, pod, node_name),
    }
    if api.settings.feature_gates.get("ClearingNominatedNodeNameAfterBinding", True):
        changes["nominated_node_name"] = ""
    changed = api.store(pod.replace(**changes))
    return store_answer(api, call, changed, pod, 201)


def _topology_labels(api: ApiServer, pod: Pod, node_name: str) -> Any:
    node = api.get("Node", "", node_name)
    topology = {k: node.labels[k] for k in (ZONE_LABEL, REGION_LABEL) if node is not None and k in node.labels}
    return intern_labels({**pod.labels, **topology}) if topology else pod.labels


def with_condition(conditions: tuple[Condition, ...], new: Condition, now: SimTime) -> tuple[Condition, ...]:
    """The conditions with one set; its lastTransitionTime stays where its status does."""
    old = next((c for c in conditions if c.type == new.type), None)
    new = replace(new, since=old.since if old is not None and old.status == new.status else now)
    if old is not None:
        return tuple(new if c.type == new.type else c for c in conditions)
    return (*conditions, new)


def status_patch(pod: Pod, change: StatusChange) -> dict[str, Any]:
    """The patch that a client sends: only what differs from the Pod that it knows."""
    patch: dict[str, Any] = {}
    conditions = [d for d in (_condition_difference(pod, c) for c in change.conditions) if d is not None]
    if change.phase is not None and change.phase != pod.phase:
        patch["phase"] = change.phase
    if change.start is not None and pod.start_time is None:
        patch["startTime"] = change.start
    if conditions:
        patch["conditions"] = conditions
    if change.nominated is not None and change.nominated != pod.nominated_node_name:
        patch["nominatedNodeName"] = change.nominated or None
    return patch


def _condition_difference(pod: Pod, new: Condition) -> dict[str, Any] | None:
    old = pod.condition(new.type)
    if old is not None and (old.status, old.reason, old.message) == (new.status, new.reason, new.message):
        return None
    found: dict[str, Any] = {}
    if new.message and (old is None or old.message != new.message):
        found["message"] = new.message
    if new.observed_generation and (old is None or old.observed_generation != new.observed_generation):
        found["observedGeneration"] = new.observed_generation
    if new.reason and (old is None or old.reason != new.reason):
        found["reason"] = new.reason
    if old is None or old.status != new.status:
        found["status"] = new.status
    return {**found, "type": new.type}


def patch_status(api: ApiServer, call: "Call", uid: str, change: StatusChange, version: int = 0) -> Answer:
    """Merge conditions, nomination, phase and start into the stored Pod; without a difference nothing is stored. 409 when its resource
    version is another one than `version` (0: any).
    """
    pod = api.get("Pod", call.namespace, call.name)
    if pod is None or pod.uid != uid:
        return not_found("pods", call.name)
    call.uid = uid
    if version and pod.resource_version != version:
        return conflict(f'Operation cannot be fulfilled on pods "{call.name}": {STALE}')
    conditions = pod.conditions
    for condition in change.conditions:
        conditions = with_condition(conditions, condition, api.loop.now)
    changed = pod.replace(conditions=conditions)
    if change.nominated is not None:
        changed.nominated_node_name = change.nominated
    if change.phase is not None:
        changed.phase = change.phase
    if change.start is not None and changed.start_time is None:
        changed.start_time = change.start
    if change.reason and change.reason != changed.details.reason:
        details = changed.details
        changed.details = replace(details, reason=change.reason, raw={**details.raw, "reason": change.reason})
    same = ("conditions", "nominated_node_name", "phase", "start_time", "details")
    if all(getattr(changed, name) == getattr(pod, name) for name in same):
        return Answer(200, object=pod)
    return store_answer(api, call, api.store(changed), pod)


def update_status(api: ApiServer, call: "Call", kind: str, status: Mapping[str, Any]) -> Answer:
    """Set fields of the status of an object that is no Pod or Node."""
    item = api.get(kind, call.namespace, call.name)
    if item is None:
        return not_found(refusals.group_resource(kind, call.resource.partition("/")[0]), call.name)
    changed = replace(item, raw={**item.raw, "status": {**(item.raw.get("status") or {}), **status}})
    return store_answer(api, call, api.store(changed), item)


def merge_patch(api: ApiServer, call: "Call", kind: str, patch: Mapping[str, Any]) -> Answer:
    """Apply a JSON merge patch to an object's manifest and store what comes out."""
    item = api.get(kind, call.namespace, call.name)
    if item is None:
        return not_found(call.resource, call.name)
    epoch = api.settings.epoch
    if isinstance(item, Pod):
        before = pod_manifest(item, epoch)
    else:
        before = node_manifest(item, epoch) if isinstance(item, Node) else _unversioned(item.raw)
    after = merged(before, patch)
    if after == before:
        call.uid = item.uid
        return Answer(200, object=item)
    fixed = [*changed_object(kind, before, after), *changed_storage(kind, before, after)]
    changed = refusals.read(call, after, lambda document: decode_object(document, epoch=epoch), fixed)
    if isinstance(changed, Answer):
        return changed
    refused = _update_refused(item, before, after)
    if refused is not None:
        return refused
    if isinstance(changed, PriorityClass):
        refused = _second_default(api, call, changed)
        if refused is not None:
            return refused
    if isinstance(changed, Pod):
        _keep_unwritten(changed, item)
    elif isinstance(changed, Node):
        changed.uid, changed.created = item.uid, item.created
    else:
        changed = changed_budget(changed, item) if isinstance(changed, PodDisruptionBudget) else changed
        changed = replace(changed, uid=item.uid, created=item.created)
    call.data["object"] = after
    answer = store_answer(api, call, api.store(changed), item)
    if _is_let_go(changed):
        api.remove(changed, answer.seq)
    return answer


def _unversioned(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the resource version that it had in the cluster that it was read from."""
    metadata = {key: value for key, value in (raw.get("metadata") or {}).items() if key != "resourceVersion"}
    return {**raw, "metadata": metadata}


def _is_let_go(item: Any) -> bool:
    """Whether nothing holds an object any more that is being deleted: its last finalizer was removed."""
    if isinstance(item, Node | Namespace) or not item.terminating or item.finalizers:
        return False
    return not isinstance(item, Pod) or item.deletion_grace == 0


def _update_refused(item: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> Answer | None:
    """An old resource version, a change of what cannot change, a finalizer on what is being deleted."""
    metadata = after.get("metadata") or {}
    version = metadata.pop("resourceVersion", None) if isinstance(metadata, dict) else None
    if version is not None and str(version) != str(item.resource_version):
        return conflict(f'Operation cannot be fulfilled on {item.kind.lower()}s "{item.name}": {STALE}')
    if isinstance(item, Node):
        return None
    text = pod_updates.refused(before.get("spec") or {}, after.get("spec") or {}) if isinstance(item, Pod) else ""
    new = [name for name in metadata.get("finalizers") or [] if name not in item.finalizers]
    if new and item.terminating:
        text = f"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers {new}"
    return refusals.invalid(item.kind, item.name, [text]) if text else None


def _keep_unwritten(changed: Pod, old: Pod) -> None:
    """What a manifest in whole seconds cannot carry stays as it was."""
    changed.uid, changed.created, changed.start_time = old.uid, old.created, old.start_time
    changed.deletion_time, changed.deletion_grace = old.deletion_time, old.deletion_grace
    changed.conditions, changed.details = old.conditions, old.details
    changed.generation = old.generation + (1 if changed.spec is not old.spec else 0)


def merged(target: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, Mapping):
        return json.loads(json.dumps(patch))
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result
