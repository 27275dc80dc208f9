"""The kubelets of all Nodes, as one actor: a bound Pod runs after `startup`, a deleted one is gone after its grace or `stop`.

Modelled: start, Running and Ready in one write, graceful stop. Not modelled: probes, restarts, images, admission by the kubelet.

Source: docs/kubelet-model.md; pkg/kubelet/{kubelet_pods.go,pod_workers.go}, v1.36
"""

from dataclasses import dataclass
from typing import Final

from simulations.engine.api.pod import PENDING, RUNNING, Condition, Pod
from simulations.engine.cluster.answers import DELETED, WatchEvent
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.kernel.clock import MILLISECOND, SECOND, SimTime

STOP_ANNOTATION: Final = "oracle/stop-seconds"
"""How long this Pod takes to stop, in seconds, instead of the scenario's `kubelet.stop`."""


@dataclass(frozen=True, slots=True)
class KubeletSettings:
    """Durations in ns. With `poll` the kubelet looks at Pods only at its multiples, as the recordings' stand-in does; 0: at once."""

    startup: int = SECOND
    stop: int = 2 * SECOND
    poll: int = 0


RECORDED_POLL: Final = 50 * MILLISECOND


class Kubelet:
    """Starts and stops Pods on Nodes that exist."""

    def __init__(self, api: ApiServer, settings: KubeletSettings) -> None:
        self.api = api
        self.settings = settings
        self.client = Client(api, "kubelet")
        self._started: set[str] = set()
        self._stopping: dict[str, SimTime] = {}
        api.watch("Pod", self._on_pod)

    def _on_pod(self, event: WatchEvent) -> None:
        pod: Pod = event.object
        if event.type == DELETED:
            self._started.discard(pod.uid)
            self._stopping.pop(pod.uid, None)
            return
        if not pod.node_name or self.api.get("Node", "", pod.node_name) is None:
            return
        if pod.terminating:
            self._stop(pod, event.cause)
        elif pod.phase == PENDING and pod.uid not in self._started:
            self._started.add(pod.uid)
            self.api.loop.at(self._seen() + self.settings.startup, self._run, pod, event.cause)

    def _seen(self) -> SimTime:
        """The instant at which the kubelet looks: now, or its next poll."""
        now, poll = self.api.loop.now, self.settings.poll
        return now if not poll else -(-now // poll) * poll

    def _run(self, pod: Pod, cause: int) -> None:
        current = self.api.get("Pod", pod.namespace, pod.name)
        if current is None or current.uid != pod.uid or current.terminating:
            return
        start = self.api.loop.now // SECOND * SECOND
        ready = (Condition("Ready", "True"), Condition("ContainersReady", "True"), Condition("PodScheduled", "True"))
        self.client.report_pod(current, RUNNING, conditions=ready, start=start, cause=cause)

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
        self.api.loop.at(end, self._remove, pod, cause, end)

    def _remove(self, pod: Pod, cause: int, end: SimTime) -> None:
        if self._stopping.get(pod.uid) == end:
            self.client.delete("Pod", pod.namespace, pod.name, grace_seconds=0, uid=pod.uid, cause=cause)


def _seconds(text: str) -> int:
    try:
        return max(0, round(float(text) * SECOND))
    except ValueError:
        return 0
