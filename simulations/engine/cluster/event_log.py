"""Events as controllers write them (core/v1): equal ones are counted by PATCHes, and who writes too many about one object is cut off.

Source: staging/src/k8s.io/client-go/tools/record/{events_cache.go,event.go}, v1.36
"""

from typing import Any, Final

from simulations.engine.api.pod import Pod
from simulations.engine.api.workloads import ApiObject
from simulations.engine.cluster.client import Client
from simulations.engine.kernel.clock import SECOND, SimTime

BURST: Final = 25
REFILL: Final = 300 * SECOND


class EventLog:
    """Posts the events of one controller; at most 25 about an object at once, then one every 300 s."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._counts: dict[tuple[str, ...], int] = {}
        self._spent: dict[str, tuple[SimTime, int]] = {}
        """Per object: when its credit was last counted, and how much of it was spent, in ns of refill."""

    def event(self, kind: str, reason: str, note: str, regarding: Pod | ApiObject, *, cause: int = 0) -> None:
        """Report about an object; `kind` is Normal or Warning."""
        if not self._may(regarding.uid or f"{regarding.namespace}/{regarding.name}"):
            return
        key = (regarding.kind, regarding.namespace, regarding.name, regarding.uid, kind, reason, note)
        count = self._counts[key] = self._counts.get(key, 0) + 1
        about = {"kind": regarding.kind, "namespace": regarding.namespace, "name": regarding.name, "uid": regarding.uid}
        event: dict[str, Any] = {"type": kind, "reason": reason, "note": note, "action": "", "regarding": about}
        if count == 1:
            self._client.create_event(event, cause=cause)
        else:
            self._client.patch_event(event, count, cause=cause)

    def _may(self, about: str) -> bool:
        now = self._client.api.loop.now
        since, spent = self._spent.get(about, (now, 0))
        spent = max(0, spent - (now - since))
        allowed = spent + REFILL <= BURST * REFILL
        self._spent[about] = (now, spent + REFILL if allowed else spent)
        return allowed
