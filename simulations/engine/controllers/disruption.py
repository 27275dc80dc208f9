"""The disruption controller: how many Pods of each budget may be evicted now; and conditions of evictions that came to nothing.

A budget is counted anew when it or one of its Pods changes, not when the scale of a workload does.

Source: pkg/controller/disruption/disruption.go, v1.36
"""

from dataclasses import replace
from typing import Final

from simulations.engine.api.budgets import SYNC_FAILED, condition_is_current, with_allowed_condition, with_condition
from simulations.engine.api.pod import Condition, Pod
from simulations.engine.api.selectors import LabelSelector
from simulations.engine.api.workloads import PodDisruptionBudget
from simulations.engine.cluster.answers import DELETED, Answer, WatchEvent
from simulations.engine.cluster.api_server import ApiServer, Key
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.event_log import EventLog
from simulations.engine.cluster.eviction import DISRUPTION_TARGET
from simulations.engine.controllers.controller import ACTOR, BURST, QPS
from simulations.engine.controllers.disruption_counts import disrupted, expected, healthy
from simulations.engine.controllers.work_queue import WorkQueue
from simulations.engine.kernel.clock import MINUTE
from simulations.engine.kernel.loop import Steps

NAME: Final = "disruption-controller"
STALE: Final = 2 * MINUTE
_UNMANAGED: Final = (
    "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the status of the PDB cannot be "
    'calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of '
    "the PDB to an integer value."
)


class DisruptionController:
    """Keeps the status of budgets. One worker: a cluster with many budgets is counted one budget after the other."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.client = Client(api, ACTOR, qps=QPS, burst=BURST)
        self.events = EventLog(Client(api, ACTOR))
        self._budgets: dict[str, dict[str, PodDisruptionBudget]] = {}
        self._pods: dict[str, dict[str, Pod]] = {}
        self._selected: dict[Key, dict[str, Pod]] = {}
        """The Pods that each budget selects, by name."""
        self._queue = WorkQueue(api.loop, self._sync, "disruption")
        self._stale = WorkQueue(api.loop, self._reset, "stale disruptions")
        api.watch("PodDisruptionBudget", self._on_budget)
        api.watch("Pod", self._on_pod)

    # ---- what it sees

    def _on_budget(self, event: WatchEvent) -> None:
        budget: PodDisruptionBudget = event.object
        here = self._budgets.setdefault(budget.namespace, {})
        if event.type == DELETED:
            here.pop(budget.name, None)
            self._selected.pop(budget.key, None)
            self._queue.later(budget.key, None, event.cause)
            return
        old = here.get(budget.name)
        here[budget.name] = budget
        if old is None or old.selector != budget.selector:
            pods = self._pods.get(budget.namespace, {}).values()
            self._selected[budget.key] = {p.name: p for p in pods if budget.selects(p.namespace, p.labels)}
        self._queue.add(budget.key, event.cause)

    def _on_pod(self, event: WatchEvent) -> None:
        pod: Pod = event.object
        here = self._pods.setdefault(pod.namespace, {})
        budgets = self._budgets.get(pod.namespace, {}).values()
        if event.type == DELETED:
            here.pop(pod.name, None)
        else:
            here[pod.name] = pod
        covering = [b for b in budgets if b.selects(pod.namespace, pod.labels)]
        for budget in budgets:
            known = self._selected[budget.key]
            if event.type == DELETED or not budget.selects(pod.namespace, pod.labels):
                known.pop(pod.name, None)
            else:
                known[pod.name] = pod
        if len(covering) > 1:
            text = f'Pod "{pod.namespace}"/"{pod.name}" matches multiple PodDisruptionBudgets.  Chose "{covering[0].name}" arbitrarily.'
            self.events.event("Warning", "MultiplePodDisruptionBudgets", text, pod, cause=event.cause)
        if covering:
            self._queue.add(covering[0].key, event.cause)
        self._watch_condition(pod, event)

    # ---- one budget

    def _sync(self, key: Key, cause: int) -> Steps[bool]:
        budget = self._budgets.get(key[0], {}).get(key[1])
        if budget is None:
            return True
        pods = list(self._selected[key].values())
        if not pods:
            self.events.event("Normal", "NoPods", "No matching pods found", budget, cause=cause)
        wanted = expected(self.api, budget, pods)
        if wanted.error:
            text = f"Failed to calculate the number of expected pods: {wanted.error}"
            self.events.event("Warning", "CalculateExpectedPodCountFailed", text, budget, cause=cause)
            return (yield from self._fail(budget, wanted.error, cause))
        if wanted.unmanaged:
            self.events.event("Warning", "UnmanagedPods", _UNMANAGED.format(_in_go(budget.selector)), budget, cause=cause)
        now = self.api.loop.now
        leaving, recheck, late = disrupted(budget, pods, now)
        for pod in late:
            text = f"Pod was expected by PDB {budget.namespace}/{budget.name} to be deleted but it wasn't"
            self.events.event("Warning", "NotDeleted", text, pod, cause=cause)
        counted = replace(
            budget,
            current_healthy=healthy(pods, leaving, now),
            desired_healthy=wanted.healthy,
            expected_pods=wanted.pods,
            disrupted_pods=leaving,
        )
        good: bool = yield from self._write(budget, counted, cause)
        if good:
            self._queue.later(key, None if recheck is None else max(0, recheck - now), cause)
        return good

    def _write(self, budget: PodDisruptionBudget, counted: PodDisruptionBudget, cause: int) -> Steps[bool]:
        """Write what was counted where it differs from what the budget says; whether that went well."""
        allowed = max(0, counted.current_healthy - counted.desired_healthy) if counted.expected_pods > 0 else 0
        counted = replace(counted, disruptions_allowed=allowed, observed_generation=budget.generation)
        if counted == budget and condition_is_current(budget):
            return True
        answer: Answer = yield self.client.update_budget_status(with_allowed_condition(counted), cause=cause)
        if answer.ok or answer.code == 409:
            return answer.ok
        return (yield from self._fail(budget, answer.message, cause))

    def _fail(self, budget: PodDisruptionBudget, error: str, cause: int) -> Steps[bool]:
        """What cannot be counted allows nothing."""
        failed = with_condition(replace(budget, disruptions_allowed=0), "False", SYNC_FAILED, error)
        answer: Answer = yield self.client.update_budget_status(failed, cause=cause)
        return answer.ok

    # ---- conditions of evictions that came to nothing

    def _watch_condition(self, pod: Pod, event: WatchEvent) -> None:
        """Look again at a Pod that is said to be about to go two minutes after that was said, unless it goes by then."""
        found = None if event.type == DELETED else _is_to_go(pod)
        since = found.since if found is not None and found.since is not None else self.api.loop.now
        self._stale.later(pod.key, None if found is None else max(0, since + STALE - self.api.loop.now), event.cause)

    def _reset(self, key: Key, cause: int) -> Steps[bool]:
        """Take back what was said of a Pod that did not go."""
        pod = self._pods.get(key[0], {}).get(key[1])
        if pod is None or _is_to_go(pod) is None:
            return True
        answer: Answer = yield self.client.update_pod_condition(pod, Condition(DISRUPTION_TARGET, "False"), cause=cause)
        return answer.ok


def _is_to_go(pod: Pod) -> Condition | None:
    """The condition that says that the Pod is about to be deleted, while it is not."""
    found = pod.condition(DISRUPTION_TARGET)
    if found is None or found.status != "True" or found.reason == "TerminationByKubelet":
        return None
    return None if pod.terminating or pod.terminal else found


def _in_go(selector: LabelSelector | None) -> str:
    """A selector as Go prints it."""
    manifest = selector.to_manifest() if selector is not None else {}
    labels = "".join(f"{key}: {value}," for key, value in sorted(manifest.get("matchLabels", {}).items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{e['key']},Operator:{e['operator']},Values:[{' '.join(e.get('values', ()))}],}},"
        for e in manifest.get("matchExpressions", ())
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
