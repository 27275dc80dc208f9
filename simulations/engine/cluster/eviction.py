"""The eviction subresource of Pods (policy/v1): budgets are asked, the Pod gets its condition, and is deleted.

A call takes several steps with time between them, so that two evictions can race for one budget as in life. What the server writes on
the way (the budget, the condition) is recorded under its own name.

Source: pkg/registry/core/pod/storage/eviction.go, v1.36
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from simulations.engine.api.budgets import DISRUPTION_ALLOWED, SYNC_FAILED, with_allowed_condition
from simulations.engine.api.pod import PENDING, Condition, Pod
from simulations.engine.api.workloads import PodDisruptionBudget
from simulations.engine.cluster import deletion, namespaces
from simulations.engine.cluster.answers import Answer, conflict, not_found
from simulations.engine.cluster.api_server import ApiServer, state_of
from simulations.engine.cluster.budgets import put_status
from simulations.engine.cluster.call import Call
from simulations.engine.cluster.writes import StatusChange, status_patch, with_condition
from simulations.engine.kernel.clock import MILLISECOND, SimTime
from simulations.engine.kernel.loop import Steps

TRIES: Final = 20
RETRY: Final = 500 * MILLISECOND
JITTER: Final = RETRY // 10
RETRY_AFTER: Final = 10
MOST_DISRUPTED: Final = 2000
SERVER: Final = "kube-apiserver"
DISRUPTION_TARGET: Final = "DisruptionTarget"
REFUSED: Final = "Cannot evict pod as it would violate the pod's disruption budget."
TWO_BUDGETS: Final = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


@dataclass(frozen=True, slots=True)
class Eviction:
    """What an eviction asks for: the Pod's grace in seconds (None: its own), annotations that say who asks and why, whether it is
    only tried, and preconditions (uid; resource version, 0: any).
    """

    grace_seconds: int | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False
    uid: str = ""
    resource_version: int = 0


def evict(api: ApiServer, call: Call, asked: Eviction) -> Steps[Answer]:
    """Answer an eviction: 201, or why not.

    404 the Pod is not there; 409 a precondition, or a budget that changed under every try; 429 the budget says no (`retry_after` while
    the disruption controller has not seen the budget); 403 a budget that cannot be right; 500 two budgets.
    """
    closed = _namespace_refuses(api, call)
    if closed is not None:
        return closed
    for attempt in range(TRIES):
        pod = api.get("Pod", call.namespace, call.name)
        if pod is None:
            break
        call.uid = pod.uid
        if not _ignores_budgets(pod):
            return (yield from _with_budgets(api, call, pod, asked))
        version = asked.resource_version or (pod.resource_version if pod.phase == PENDING and not pod.terminating else 0)
        answer: Answer = yield from _delete(api, call, pod, replace(asked, resource_version=version))
        if answer.code != 409 or asked.resource_version or attempt == TRIES - 1:
            return answer
        yield _pause(api)
    return not_found("pods", call.name)


def _namespace_refuses(api: ApiServer, call: Call) -> Answer | None:
    """An eviction is something new in its namespace: 404 where that is not, 403 where it is being deleted."""
    refused = namespaces.closed(api, replace(call, resource="pods"), "Pod", call.namespace)
    if refused is not None and refused.code == 403:
        text = f"namespace {call.namespace} is being terminated"
        return replace(
            refused, details={"causes": [{"reason": "NamespaceTerminating", "message": text, "field": "metadata.namespace"}]}
        )
    return refused


def _ignores_budgets(pod: Pod) -> bool:
    return pod.phase == PENDING or pod.terminal or pod.terminating


def _with_budgets(api: ApiServer, call: Call, pod: Pod, asked: Eviction) -> Steps[Answer]:
    budgets = [b for b in api.list("PodDisruptionBudget") if b.selects(pod.namespace, pod.labels)]
    if len(budgets) > 1:
        return Answer(500, "", TWO_BUDGETS)
    if not budgets:
        return (yield from _delete(api, call, pod, asked))
    budget: PodDisruptionBudget = budgets[0]
    if not _ready(pod) and _lets_unready_go(budget):
        version = asked.resource_version or pod.resource_version
        answer: Answer = yield from _delete(api, call, pod, replace(asked, resource_version=version))
        return answer if answer.code != 409 or asked.resource_version else still_processed(budget.name)
    refused: Answer | None = yield from _take(api, call, budget, asked.dry_run)
    if refused is not None:
        return refused
    return (yield from _delete(api, call, pod, asked))


def _ready(pod: Pod) -> bool:
    found = pod.condition("Ready")
    return found is not None and found.status == "True"


def _lets_unready_go(budget: PodDisruptionBudget) -> bool:
    """Whether a Pod that is not ready goes without using the budget."""
    if budget.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    return budget.current_healthy >= budget.desired_healthy > 0


# ---- the budget


def _take(api: ApiServer, call: Call, budget: PodDisruptionBudget, dry_run: bool) -> Steps[Answer | None]:
    """Use one disruption of the budget; the answer when it has none, or when it changed under every try."""
    for attempt in range(TRIES):
        refused = refusal(budget)
        if refused is not None or dry_run:
            return refused
        yield api.costs.call("update poddisruptionbudgets/status")
        written = put_status(api, _by_server(call, budget), _with_one_less(budget, call.name, api.loop.now))
        if written.ok:
            return None
        if written.not_found or attempt == TRIES - 1:
            break
        yield _pause(api)
        budget = api.get("PodDisruptionBudget", budget.namespace, budget.name) or budget
    return replace(written, seq=0)


def _by_server(call: Call, budget: PodDisruptionBudget) -> Call:
    """The server's own write on the way of an eviction."""
    evicting = {"evicting": call.name}
    return Call(SERVER, "update", "poddisruptionbudgets/status", budget.namespace, budget.name, call.cause, evicting, budget.uid)


def _with_one_less(budget: PodDisruptionBudget, pod_name: str, now: SimTime) -> PodDisruptionBudget:
    allowed = (budget.disruptions_allowed or 0) - 1
    changed = replace(budget, disruptions_allowed=allowed, disrupted_pods={**budget.disrupted_pods, pod_name: now})
    return changed if allowed else with_allowed_condition(changed)


def refusal(budget: PodDisruptionBudget) -> Answer | None:
    """Why a budget does not let a Pod go; None when it does."""
    allowed = budget.disruptions_allowed or 0
    if budget.observed_generation < budget.generation:
        return still_processed(budget.name)
    if allowed < 0:
        return _forbidden(budget.name, "pdb disruptions allowed is negative")
    if len(budget.disrupted_pods) > MOST_DISRUPTED:
        return _forbidden(budget.name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
    return None if allowed else Answer(429, "TooManyRequests", REFUSED, details=_details(_why(budget)))


def still_processed(name: str) -> Answer:
    """429 with Retry-After: what the budget says is not known yet."""
    text = f"The disruption budget {name} is still being processed by the server."
    return Answer(429, "TooManyRequests", REFUSED, retry_after=RETRY_AFTER, details=_details(text))


def _why(budget: PodDisruptionBudget) -> str:
    found = budget.condition(DISRUPTION_ALLOWED)
    said = found if found is not None and found.status == "False" else None
    blocked = f"The disruption budget {budget.name} does not allow evicting pods currently"
    if said is not None and said.reason == SYNC_FAILED:
        return f"{blocked} because it failed sync: {said.message}"
    if budget.current_healthy <= budget.desired_healthy:
        needs, has = budget.desired_healthy, budget.current_healthy
        return f"The disruption budget {budget.name} needs {needs} healthy pods and has {has} currently"
    return f"{blocked} ({said.reason}): {said.message}" if said is not None and said.message else blocked


def _details(text: str) -> dict[str, Any]:
    return {"causes": [{"reason": "DisruptionBudget", "message": text}]}


def _forbidden(name: str, text: str) -> Answer:
    return Answer(403, "Forbidden", f'poddisruptionbudgets.policy "{name}" is forbidden: {text}')


# ---- the Pod


def _delete(api: ApiServer, call: Call, pod: Pod, asked: Eviction) -> Steps[Answer]:
    """Give the Pod its condition, then delete it; each is a write of its own."""
    options = deletion.Options(asked.grace_seconds, asked.uid)
    if asked.dry_run:
        return _differs(pod, asked) or Answer(201, object=pod)
    yield api.costs.call("patch pods/status")
    current: Pod | None = api.get("Pod", pod.namespace, pod.name)
    if current is None:
        return not_found("pods", pod.name)
    refused = _differs(current, asked)
    if refused is not None:
        return refused
    marked = _mark(api, call, current)
    yield api.costs.call("delete pods")
    stored: Pod | None = api.get("Pod", pod.namespace, pod.name)
    if stored is None:
        return not_found("pods", pod.name)
    if asked.resource_version and stored.resource_version != marked.resource_version:
        return _modified(stored, str(marked.resource_version))
    return deletion.delete(api, call, "Pod", options, code=201)


def _mark(api: ApiServer, call: Call, pod: Pod) -> Pod:
    """Write the condition DisruptionTarget."""
    condition = Condition(DISRUPTION_TARGET, "True", "EvictionByEvictionAPI", "Eviction API: evicting", pod.generation)
    if pod.condition(DISRUPTION_TARGET) == condition:
        return pod
    marked: Pod = api.store(pod.replace(conditions=with_condition(pod.conditions, condition, api.loop.now)))
    seq = api.trace.add(
        api.loop.now, SERVER, "patch", resource="pods/status", namespace=pod.namespace, name=pod.name, uid=pod.uid, code=200,
        cause=call.cause, data={"status": status_patch(pod, StatusChange((condition,))), "after": state_of(marked)},
    )  # fmt: skip
    api.modified(marked, pod, seq)
    return marked


def _differs(pod: Pod, asked: Eviction) -> Answer | None:
    """409 when a precondition does not hold."""
    if asked.uid and asked.uid != pod.uid:
        text = f"the UID in the precondition ({asked.uid}) does not match the UID in record ({pod.uid})"
        return conflict(
            f'Operation cannot be fulfilled on Pod "{pod.name}": {text}. The object might have been deleted and then recreated'
        )
    if asked.resource_version and asked.resource_version != pod.resource_version:
        return _modified(pod, str(asked.resource_version))
    return None


def _modified(pod: Pod, version: str) -> Answer:
    text = (
        f"the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({pod.resource_version})"
    )
    return conflict(f'Operation cannot be fulfilled on Pod "{pod.name}": {text}. The object might have been modified')


def _pause(api: ApiServer) -> int:
    """The server's own wait between two tries, in ns."""
    return RETRY + api.streams.stream("eviction-retries").randrange(JITTER)
