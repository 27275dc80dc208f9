"""Makes victims go: in the background (asynchronous) or while the scheduling loop waits (synchronous).

Source: pkg/scheduler/framework/preemption/executor.go, v1.36; KEP-4832
Differs: the KEP lets the background part take the nomination back on failure; the code does not. `failed` of the scheduler does either.
"""

from collections.abc import Callable
from typing import Any, Final

from simulations.engine.api.pod import Condition, Pod
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.event_recorder import EventRecorder
from simulations.engine.kernel.loop import EventLoop, Future, Steps, all_of
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.preemption.evaluator import PREEMPTION_BY_SCHEDULER
from simulations.engine.scheduler.preemption.victims import Candidate

_TRIES: Final = 4
_RETRIED: Final = (409, 500, 503)
OBSERVED: Final = "observed"
KEP: Final = "kep"
ASYNC_PREEMPTION_FAILURES: Final = (OBSERVED, KEP)
"""What becomes of a preemptor whose victim could not be deleted in the background: it stays nominated and tries again at once, as v1.36
does, or its nomination is taken back and it backs off, as KEP-4832 says."""


class PreemptionExecutor:
    """Evicts the victims of a preemption, and knows which preemptors are at it."""

    def __init__(
        self,
        loop: EventLoop,
        client: Client,
        recorder: EventRecorder,
        cache: SchedulerCache,
        failed: Callable[[Pod, int], Steps[None]],
    ) -> None:
        self._loop = loop
        self._client = client
        self._recorder = recorder
        self._cache = cache
        self._failed = failed
        self._preempting: set[str] = set()
        self._last_victim: dict[str, Pod] = {}

    def preempting(self, pod: Pod) -> bool:
        """Whether the Pod's preemption is under way: the deletion of its last victim has not begun yet."""
        if pod.uid not in self._preempting:
            return False
        last = self._last_victim.get(pod.uid)
        if last is None:
            return True
        seen = self._cache.pod(last.uid)
        return seen is not None and not seen.terminating

    def start(self, pod: Pod, winner: Candidate, cause: int) -> None:
        """Asynchronous: evict in the background. Victims that are leaving already are left alone."""
        victims = [v for v in winner.victims if not v.terminating]
        if not victims:
            return
        self._preempting.add(pod.uid)
        self._loop.spawn(self._in_background(pod, winner.node, victims, cause), f"preempt for {pod.name}")

    def _in_background(self, pod: Pod, node: str, victims: list[Pod], cause: int) -> Steps[None]:
        yield from self._clear_lower_nominations(pod, node, cause)
        ok = True
        if len(victims) > 1:
            results = yield all_of(self._loop, [self._evict(pod, v, node, cause) for v in victims[:-1]])
            ok = all(results)
        if ok:
            self._last_victim[pod.uid] = victims[-1]
            ok = yield self._evict(pod, victims[-1], node, cause)
        self._preempting.discard(pod.uid)
        self._last_victim.pop(pod.uid, None)
        if not ok:
            yield from self._failed(pod, cause)

    def wait(self, pod: Pod, winner: Candidate, cause: int) -> Steps[str]:
        """Synchronous: evict all victims in parallel; return an error text, empty when all went well."""
        victims = [v for v in winner.victims if not v.terminating]
        results = yield all_of(self._loop, [self._evict(pod, v, winner.node, cause) for v in victims])
        if not all(results):
            return "preemption: the deletion of a victim was refused"
        yield from self._clear_lower_nominations(pod, winner.node, cause)
        return ""

    def _clear_lower_nominations(self, pod: Pod, node: str, cause: int) -> Steps[None]:
        lower = [p for p in self._cache.nominator.pods_on(node) if p.priority < pod.priority]
        if lower:
            yield all_of(self._loop, [self._client.patch_pod_status(p, nominated="", cause=cause) for p in lower])

    def _evict(self, pod: Pod, victim: Pod, node: str, cause: int) -> Future[bool]:
        return self._loop.spawn(self._eviction(pod, victim, node, cause), f"evict {victim.name}")

    def _eviction(self, pod: Pod, victim: Pod, node: str, cause: int) -> Steps[Any]:
        """PATCH DisruptionTarget (unless it is there), then DELETE; a victim that is gone is a success without an event."""
        text = f"{pod.spec.scheduler_name}: preempting to accommodate a higher priority pod"
        condition = Condition("DisruptionTarget", "True", PREEMPTION_BY_SCHEDULER, text, victim.generation)
        seen = self._cache.pod(victim.uid) or victim
        present = seen.condition("DisruptionTarget")
        if present is None or (present.status, present.reason, present.message) != ("True", PREEMPTION_BY_SCHEDULER, text):
            answer = yield from self._patched(seen, condition, cause)
            if answer.not_found:
                return True
            if not answer.ok:
                return False
        answer = yield self._client.delete("Pod", victim.namespace, victim.name, cause=cause)
        if answer.not_found:
            return True
        if not answer.ok:
            return False
        note = f"Preempted by pod {pod.uid} on node {node}"
        self._recorder.event("Normal", "Preempted", "Preempting", note, victim, related=pod, cause=answer.seq)
        return True

    def _patched(self, victim: Pod, condition: Condition, cause: int) -> Steps[Any]:
        for _attempt in range(_TRIES):
            answer = yield self._client.patch_pod_status(victim, conditions=(condition,), cause=cause)
            if answer.code not in _RETRIED:
                break
        return answer
