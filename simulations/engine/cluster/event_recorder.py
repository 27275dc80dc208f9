"""Events of a component, with their aggregation into series.

Source: staging/src/k8s.io/client-go/tools/events/event_broadcaster.go, v1.36
"""

from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.api.pod import Pod
from simulations.engine.cluster.client import Client
from simulations.engine.kernel.clock import MINUTE, SimTime

SERIES_END: Final = 6 * MINUTE
NOTE_LIMIT: Final = 1024


@dataclass(slots=True)
class _Series:
    event: dict[str, Any]
    count: int
    last: SimTime


class EventRecorder:
    """Posts events. Equal ones (all but the note; the object's resourceVersion counts) become one series that is counted.

    The first is created, the second makes it a series by a PATCH, more are counted in memory; after six quiet minutes a new one begins.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._series: dict[tuple[Any, ...], _Series] = {}

    def event(
        self, kind: str, reason: str, action: str, note: str, regarding: Pod, *, related: Pod | None = None, cause: int = 0
    ) -> None:
        """Report about a Pod; `kind` is Normal or Warning."""
        now = self._client.api.loop.now
        key = (kind, action, reason, regarding.uid, regarding.resource_version, related.uid if related is not None else "")
        series = self._series.get(key)
        if series is not None and now - series.last <= SERIES_END:
            series.count += 1
            series.last = now
            if series.count == 2:
                self._client.patch_event(series.event, 2, cause=cause)
            return
        text = note if len(note) <= NOTE_LIMIT else note[: NOTE_LIMIT - 4] + " ..."
        event = {"type": kind, "reason": reason, "note": text, "action": action, "regarding": _reference(regarding)}
        if related is not None:
            event["related"] = _reference(related)
        self._series[key] = _Series(event, 1, now)
        self._client.create_event(event, cause=cause)


def _reference(pod: Pod) -> dict[str, str]:
    return {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
