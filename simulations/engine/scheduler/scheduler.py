"""One kube-scheduler process: wires cache, queue, frameworks, loop and executor."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from simulations.engine.api.pod import Pod
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.event_recorder import EventRecorder
from simulations.engine.kernel.clock import MICROSECOND, SECOND
from simulations.engine.kernel.loop import Steps
from simulations.engine.scheduler.attempt_data import USUAL
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.config import DEFAULT_CONFIG, SchedulerConfig
from simulations.engine.scheduler.eventhandlers import EventHandlers
from simulations.engine.scheduler.framework.plugin import Handle
from simulations.engine.scheduler.preemption.executor import KEP, OBSERVED, PreemptionExecutor
from simulations.engine.scheduler.queue.queued_pod import Backoff, QueuedPod
from simulations.engine.scheduler.queue.scheduling_queue import SchedulingQueue
from simulations.engine.scheduler.schedule_one import Cycle, Parts, SchedulingLoop

DEFAULT_QPS = 50.0
DEFAULT_BURST = 100


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """A scheduler's configuration, its actor in the trace, and client limits (0 or less: off; None: the defaults 50 and 100)."""

    config: SchedulerConfig = DEFAULT_CONFIG
    actor: str = "kube-scheduler"
    qps: float | None = None
    burst: int | None = None
    gates: dict[str, bool] = field(default_factory=dict)
    async_preemption_failure: str = OBSERVED
    on_cycle: Callable[[Cycle], object] | None = None
    """Hears of every cycle before it decides."""
    explanations: str = USUAL


class Scheduler:
    """Starts at once: it lists what is there, watches, and schedules."""

    def __init__(self, api: ApiServer, settings: SchedulerSettings) -> None:
        self.api = api
        self.settings = settings
        self.cache = SchedulerCache()
        handle = Handle(self.cache, dict(settings.gates), preempting=lambda pod: self.executor.preempting(pod))
        self.frameworks = settings.config.frameworks(handle)
        backoff = Backoff(
            settings.config.initial_backoff_seconds * SECOND,
            settings.config.max_backoff_seconds * SECOND,
            settings.gates.get("SchedulerPopFromBackoffQ", True),
            api.settings.epoch.microsecond * MICROSECOND,
        )
        self.queue = SchedulingQueue(api.loop, self.frameworks, backoff, self._moved)
        qps = DEFAULT_QPS if settings.qps is None else settings.qps
        burst = DEFAULT_BURST if settings.burst is None else settings.burst
        self._client = client = Client(api, settings.actor, qps=qps, burst=burst)
        handle.client = client
        recorder = EventRecorder(Client(api, settings.actor, qps=qps, burst=burst))
        failed = self._take_back if settings.async_preemption_failure == KEP else self._try_at_once
        self.executor = PreemptionExecutor(api.loop, client, recorder, self.cache, failed)
        parts = Parts(
            api.loop, api.trace, settings.actor, self.cache, self.queue, self.frameworks, client, recorder, self.executor,
            api.settings.costs.cycle, api.streams.stream(f"preemption/{settings.actor}"), dict(settings.gates),
            settings.on_cycle, settings.explanations,
        )  # fmt: skip
        EventHandlers(api, self.cache, self.queue, settings.actor, frozenset(self.frameworks))
        self._scheduling = SchedulingLoop(parts)
        api.loop.spawn(self._scheduling.run(), settings.actor)

    @property
    def bound(self) -> int:
        """How many Pods it has bound so far."""
        return self._scheduling.bound

    def _try_at_once(self, pod: Pod, cause: int) -> Steps[None]:
        """Source: pkg/scheduler/framework/preemption/executor.go, v1.36: Activate."""
        self.queue.activate(pod.uid, cause)
        yield from ()

    def _take_back(self, pod: Pod, cause: int) -> Steps[None]:
        """Source: KEP-4832, Design Details: a preemption that fails reverts the nomination, once it is written and seen."""
        if self._scheduling.writing is not None:
            yield self._scheduling.writing
        yield self.api.settings.costs.watch_delay
        node = self.cache.nominator.delete(pod.uid)
        if node:
            self.api.trace.add(
                self.api.loop.now, self.settings.actor, "nominate", resource="pods", namespace=pod.namespace, name=pod.name,
                uid=pod.uid, reason="Cleared", cause=cause, data={"node": "", "previous": node},
            )  # fmt: skip
        known = self.cache.waiting.get(pod.key)
        if known is not None and known.uid == pod.uid:
            self._client.patch_pod_status(known, nominated="", cause=cause)
            self.queue.back_off(pod.uid, cause)

    def _moved(self, queued: QueuedPod, queue: str, event: str, cause: int) -> int:
        pod = queued.pod
        data: dict[str, Any] = {"queue": queue, "event": event}
        if queue == "backoff":
            data["until"] = self.queue.backoff.expiry(queued) + SECOND
        if queued.gating_plugin:
            data["plugin"] = queued.gating_plugin
        return self.api.trace.add(
            self.api.loop.now, self.settings.actor, "enqueue", resource="pods", namespace=pod.namespace, name=pod.name,
            uid=pod.uid, cause=cause, data=data,
        )  # fmt: skip
