"""The kubelets of all Nodes, as one actor: a bound Pod runs after `startup`, a deleted one is gone after its grace or `stop`.

Modelled: admission (resources, node affinity, NoExecute taints), start, Running and Ready in one write, an end of its own where an
annotation says so, graceful stop, a kubelet that falls silent. Not modelled: probes, restarts, images.

Source: docs/kubelet-model.md; pkg/kubelet/{kubelet_pods.go,pod_workers.go}, v1.36
"""

from dataclasses import dataclass
from typing import Final

from simulations.engine.api.pod import FAILED, PENDING, RUNNING, SUCCEEDED, Condition, Pod
from simulations.engine.cluster.answers import ADDED, DELETED, WatchEvent
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.controllers.job import exit_code
from simulations.engine.controllers.kubelet_admission import NodeLoad, refusal
from simulations.engine.kernel.clock import MILLISECOND, SECOND, SimTime

STOP_ANNOTATION: Final = "oracle/stop-seconds"
"""How long this Pod takes to stop, in seconds, instead of the scenario's `kubelet.stop`."""
RUN_ANNOTATION: Final = "schedscope/run-seconds"
"""How long the containers of this Pod run before they end by themselves; without it they run for ever."""


@dataclass(frozen=True, slots=True)
class KubeletSettings:
    """Durations in ns. Containers of a deleted Pod stop within `stop`; the Pod is gone `cleanup` later (volumes, cgroups; without it
    no phase is written in between). With `poll` the kubelet looks at Pods only at its multiples, as the recordings' stand-in does.
    """

    startup: int = SECOND
    stop: int = 2 * SECOND
    poll: int = 0
    cleanup: int = 500 * MILLISECOND


RECORDED_POLL: Final = 50 * MILLISECOND


class Kubelet:
    """Starts and stops Pods on Nodes that exist."""

    def __init__(self, api: ApiServer, settings: KubeletSettings) -> None:
        self.api = api
        self.settings = settings
        self.client = Client(api, "kubelet")
        self._started: set[str] = set()
        self._stopping: dict[str, SimTime] = {}
        self._load = NodeLoad()
        self._events = Client(api, "kubelet")
        api.heartbeats.watch(lambda _name, _cause: None, self._on_return)
        api.watch("Pod", self._on_pod)

    def _on_pod(self, event: WatchEvent) -> None:
        pod: Pod = event.object
        if event.type == DELETED or pod.terminal:
            self._load.remove(pod)
        if event.type == DELETED:
            self._started.discard(pod.uid)
            self._stopping.pop(pod.uid, None)
            return
        if not pod.node_name or self.api.get("Node", "", pod.node_name) is None or self.api.heartbeats.silent(pod.node_name):
            return
        self._look(pod, event.cause, new=event.type == ADDED)

    def _look(self, pod: Pod, cause: int, *, new: bool) -> None:
        if pod.terminating:
            self._stop(pod, cause)
        elif pod.phase == PENDING and pod.uid not in self._started:
            self._started.add(pod.uid)
            self._admit(pod, cause)
        elif not pod.terminal:
            self._load.add(pod)
            if new and pod.phase == RUNNING:
                self._plan_end(pod, cause)

    def _admit(self, pod: Pod, cause: int) -> None:
        """Start the Pod, or refuse it for good."""
        refused = refusal(pod, self.api.get("Node", "", pod.node_name), self._load)
        if refused is None:
            self._load.add(pod)
            self.api.loop.at(self._seen() + self.settings.startup, self._run, pod, cause)
            return
        reason, text = refused
        message = f"Pod was rejected: {text}"
        self.client.report_pod(pod, FAILED, reason=reason, message=message, cause=cause)
        regarding = {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
        event = {"type": "Warning", "reason": reason, "note": text, "action": "", "regarding": regarding}
        self._events.create_event(event, cause=cause)

    def _on_return(self, name: str, cause: int) -> None:
        """The kubelet is back: what happened meanwhile is done now."""
        for pod in self.api.list("Pod"):
            if pod.node_name == name:
                self._look(pod, cause, new=True)

    def _seen(self) -> SimTime:
        """The instant at which the kubelet looks: now, or its next poll."""
        now, poll = self.api.loop.now, self.settings.poll
        return now if not poll else -(-now // poll) * poll

    def _run(self, pod: Pod, cause: int) -> None:
        current = self.api.get("Pod", pod.namespace, pod.name)
        if current is None or current.uid != pod.uid or current.terminating or current.terminal:
            return
        if self.api.heartbeats.silent(pod.node_name):
            self._started.discard(pod.uid)
            return
        start = self.api.loop.now // SECOND * SECOND
        ready = (Condition("Ready", "True"), Condition("ContainersReady", "True"), Condition("PodScheduled", "True"))
        self.client.report_pod(current, RUNNING, conditions=ready, start=start, cause=cause)
        self._plan_end(current, cause)

    def _plan_end(self, pod: Pod, cause: int) -> None:
        own = pod.annotations.get(RUN_ANNOTATION)
        if own is not None:
            self.api.loop.after(_seconds(own), self._end, pod, cause)

    def _end(self, pod: Pod, cause: int) -> None:
        """The containers ended by themselves."""
        current = self.api.get("Pod", pod.namespace, pod.name)
        if current is None or current.uid != pod.uid or current.terminal or self.api.heartbeats.silent(pod.node_name):
            return
        phase, reason = (SUCCEEDED, "PodCompleted") if exit_code(pod) == 0 else (FAILED, "PodFailed")
        ended = (Condition("Ready", "False", reason), Condition("ContainersReady", "False", reason))
        self.client.report_pod(current, phase, conditions=ended, cause=cause)

    def _stop(self, pod: Pod, cause: int) -> None:
        """Plan the end, or bring it forward when the grace was shortened."""
        grace = (pod.deletion_grace or 0) * SECOND
        own = pod.annotations.get(STOP_ANNOTATION)
        takes = _seconds(own) if own is not None else self.settings.stop
        end = self._seen() + min(grace, takes)
        planned = self._stopping.get(pod.uid)
        if planned is not None and planned <= end:
            return
        self._stopping[pod.uid] = end
        self.api.loop.at(end, self._stopped, pod, cause, end, grace < takes)

    def _stopped(self, pod: Pod, cause: int, end: SimTime, killed: bool) -> None:
        """All containers have stopped: say how, clean up, and let the Pod go."""
        if self._stopping.get(pod.uid) != end or self.api.heartbeats.silent(pod.node_name):
            return
        if not self.settings.cleanup:
            self._remove(pod, cause, end)
            return
        current = self.api.get("Pod", pod.namespace, pod.name)
        if current is not None and current.uid == pod.uid and not current.terminal:
            started = current.phase != PENDING
            phase, reason = (SUCCEEDED, "PodCompleted") if started and not killed and exit_code(pod) == 0 else (FAILED, "PodFailed")
            ended = (Condition("Ready", "False", reason), Condition("ContainersReady", "False", reason))
            self.client.report_pod(current, phase, conditions=ended, cause=cause)
        self.api.loop.after(self.settings.cleanup, self._remove, pod, cause, end)

    def _remove(self, pod: Pod, cause: int, end: SimTime) -> None:
        if self._stopping.get(pod.uid) == end and not self.api.heartbeats.silent(pod.node_name):
            self.client.delete("Pod", pod.namespace, pod.name, grace_seconds=0, uid=pod.uid, cause=cause)


def _seconds(text: str) -> int:
    try:
        return max(0, round(float(text) * SECOND))
    except (ValueError, OverflowError):  # no number, or an infinite one
        return 0
