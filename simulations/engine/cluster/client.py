"""A client of the API server: its calls wait for the client's own limit, take time, and are answered and recorded at one instant."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simulations.engine.api.pod import Condition, Pod
from simulations.engine.api.workloads import ApiObject, PodDisruptionBudget
from simulations.engine.cluster import budgets, deletion, eviction, writes
from simulations.engine.cluster.answers import Answer
from simulations.engine.cluster.api_server import RESOURCES, ApiServer
from simulations.engine.cluster.call import Call
from simulations.engine.cluster.limiter import TokenBucket
from simulations.engine.kernel.clock import SECOND, SimTime
from simulations.engine.kernel.loop import Future, Steps

UNSET: Any = object()
"""A value that a call leaves as it is."""

Data = dict[str, Any]
RETRIES = 10
"""How often a client tries again what was answered with Retry-After; rest/with_retry.go of client-go."""


Commit = Callable[[Call], Answer | Steps[Answer]]


class Client:
    """Makes calls as one actor. Each returns a Future of its Answer; an error is an answer too."""

    def __init__(self, api: ApiServer, actor: str, *, qps: float | None = None, burst: int | None = None) -> None:
        self.api = api
        self.actor = actor
        self._bucket = TokenBucket(qps, burst or int(qps)) if qps and qps > 0 else None

    # ---- calls

    def create(self, document: Mapping[str, Any], *, cause: int = 0) -> Future[Answer]:
        """POST an object."""
        metadata = document.get("metadata") or {}
        kind = str(document.get("kind"))
        namespace = str(metadata.get("namespace") or "")
        call = Call(self.actor, "create", RESOURCES.get(kind, kind.lower()), namespace, str(metadata.get("name") or ""), cause)
        return self._send(call, lambda c: writes.create(self.api, c, document))

    def delete(
        self,
        kind: str,
        namespace: str,
        name: str,
        *,
        grace_seconds: int | None = None,
        uid: str = "",
        propagation: str = "",
        cause: int = 0,
    ) -> Future[Answer]:
        """DELETE an object; `grace_seconds` None leaves the grace to the object, `uid` is a precondition, `propagation` says what
        becomes of what it owns (Background without it).
        """
        call = Call(self.actor, "delete", RESOURCES[kind], namespace, name, cause, {"gracePeriodSeconds": grace_seconds})
        if propagation:
            call.data["propagationPolicy"] = propagation
        options = deletion.Options(grace_seconds, uid, propagation)
        return self._send(call, lambda c: deletion.delete(self.api, c, kind, options))

    def evict(self, namespace: str, name: str, asked: eviction.Eviction, *, cause: int = 0) -> Future[Answer]:
        """POST pods/eviction; an answer with Retry-After is waited for and the call made again, up to ten times."""
        return self.api.loop.spawn(self._evict(namespace, name, asked, cause), f"eviction of {name}")

    def _evict(self, namespace: str, name: str, asked: eviction.Eviction, cause: int) -> Steps[Answer]:
        for left in range(RETRIES, -1, -1):
            options: Data = {"gracePeriodSeconds": asked.grace_seconds}
            options |= {"dryRun": True} if asked.dry_run else {}
            options |= {"annotations": dict(asked.annotations)} if asked.annotations else {}
            call = Call(self.actor, "create", "pods/eviction", namespace, name, cause, options)
            answer: Answer = yield self._send(call, lambda c: eviction.evict(self.api, c, asked))
            if not left or not answer.retry_after:
                break
            yield answer.retry_after * SECOND
        return answer

    def update_status(self, kind: str, namespace: str, name: str, status: Mapping[str, Any], *, cause: int = 0) -> Future[Answer]:
        """PUT the status of an object that controllers count for; fields that are not given stay."""
        call = Call(self.actor, "update", f"{RESOURCES[kind]}/status", namespace, name, cause, {"status": dict(status)})
        return self._send(call, lambda c: writes.update_status(self.api, c, kind, status))

    def update_budget_status(self, changed: PodDisruptionBudget, *, cause: int = 0) -> Future[Answer]:
        """PUT the status of a budget; 409 if the stored one is newer than the one that `changed` was made from."""
        call = Call(self.actor, "update", "poddisruptionbudgets/status", changed.namespace, changed.name, cause)
        return self._send(call, lambda c: budgets.put_status(self.api, c, changed))

    def finalize_namespace(self, name: str, *, cause: int = 0) -> Future[Answer]:
        """PUT namespaces/finalize: an empty Namespace that is being deleted goes."""
        call = Call(self.actor, "update", "namespaces/finalize", "", name, cause)
        return self._send(call, lambda c: deletion.finalize(self.api, c))

    def bind(self, pod: Pod, node_name: str, *, cause: int = 0) -> Future[Answer]:
        """POST pods/binding."""
        call = Call(self.actor, "create", "pods/binding", pod.namespace, pod.name, cause, {"node": node_name})
        return self._send(call, lambda c: writes.bind(self.api, c, pod.uid, node_name))

    def patch_pod_status(
        self, pod: Pod, *, conditions: Sequence[Condition] = (), nominated: str = UNSET, cause: int = 0
    ) -> Future[Answer]:
        """PATCH pods/status with conditions and, if given, nominatedNodeName; the record shows what differs from `pod`."""
        change = writes.StatusChange(tuple(conditions), None if nominated is UNSET else nominated)
        call = Call(
            self.actor, "patch", "pods/status", pod.namespace, pod.name, cause, {"status": writes.status_patch(pod, change)}
        )
        return self._send(call, lambda c: writes.patch_status(self.api, c, pod.uid, change))

    def update_pod_condition(self, pod: Pod, condition: Condition, *, cause: int = 0) -> Future[Answer]:
        """PUT pods/status with one condition; 409 if the stored Pod is newer than `pod`."""
        change = writes.StatusChange((condition,))
        data = {"status": writes.status_patch(pod, change)}
        call = Call(self.actor, "update", "pods/status", pod.namespace, pod.name, cause, data)
        return self._send(call, lambda c: writes.patch_status(self.api, c, pod.uid, change, pod.resource_version))

    def report_pod(
        self,
        pod: Pod,
        phase: str,
        *,
        conditions: Sequence[Condition] = (),
        start: SimTime | None = None,
        reason: str = "",
        message: str = "",
        cause: int = 0,
    ) -> Future[Answer]:
        """PATCH pods/status as a kubelet does: phase, start and conditions, and why where it says so."""
        change = writes.StatusChange(tuple(conditions), phase=phase, start=start, reason=reason)
        status = writes.status_patch(pod, change)
        if reason:
            status |= {"reason": reason, "message": message}
        call = Call(self.actor, "patch", "pods/status", pod.namespace, pod.name, cause, {"status": status})
        return self._send(call, lambda c: writes.patch_status(self.api, c, pod.uid, change))

    def patch(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any], *, cause: int = 0) -> Future[Answer]:
        """PATCH an object with a JSON merge patch."""
        call = Call(self.actor, "patch", RESOURCES[kind], namespace, name, cause, {"patch": dict(patch)})
        return self._send(call, lambda c: writes.merge_patch(self.api, c, kind, patch))

    def update(self, kind: str, item: ApiObject, patch: Mapping[str, Any], *, cause: int = 0) -> Future[Answer]:
        """PUT an object; what differs from `item` is given as a JSON merge patch. 409 if the stored one is newer than `item`."""
        versioned = {**patch, "metadata": {**(patch.get("metadata") or {}), "resourceVersion": str(item.resource_version)}}
        call = Call(self.actor, "update", RESOURCES[kind], item.namespace, item.name, cause, {"patch": dict(patch)})
        return self._send(call, lambda c: writes.merge_patch(self.api, c, kind, versioned))

    def create_event(self, event: Data, *, cause: int = 0) -> Future[Answer]:
        """POST an Event; `event` has type, reason, note, action, regarding and related."""
        regarding = event["regarding"]
        call = Call(
            self.actor, "create", "events", regarding["namespace"], regarding["name"], cause, dict(event), regarding.get("uid", "")
        )
        return self._send(call, lambda _c: Answer(201))

    def patch_event(self, event: Data, count: int, *, cause: int = 0) -> Future[Answer]:
        """PATCH the series of an Event that was created before."""
        regarding = event["regarding"]
        data = {**event, "series": {"count": count}}
        call = Call(self.actor, "patch", "events", regarding["namespace"], regarding["name"], cause, data, regarding.get("uid", ""))
        return self._send(call, lambda _c: Answer(200))

    # ---- the way of a call

    def _send(self, call: Call, commit: Commit) -> Future[Answer]:
        loop = self.api.loop
        wait = self._bucket.wait(loop.now) if self._bucket is not None else 0
        call.data = {"requested": loop.now + wait, **call.data}
        loop.after(wait + self.api.costs.call(call.words), self._commit, call, commit)
        return call.answer

    def _commit(self, call: Call, commit: Commit) -> None:
        struck = self.api.faults.hit(call.words, call.name, self.actor, self.api.loop.now)
        if struck is not None:
            number, fault = struck
            call.data["fault"] = number
            self._answer(call, Answer(fault.code, fault.reason, fault.message or f"{call.words} was refused by a fault rule"))
            return
        answer = self.api.webhooks.review(call) or commit(call)
        if isinstance(answer, Answer):
            self._answer(call, answer)
        else:
            self.api.loop.spawn(answer, call.words).add_callback(lambda found: self._answer(call, found))

    def _answer(self, call: Call, answer: Answer) -> None:
        if not answer.seq:
            writes.record(self.api, call, answer)
        call.answer.resolve(answer)
