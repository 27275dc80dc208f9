"""Which Pods each object has, and how many of them count; kept as they change, so that a sync does not look at them all."""

from collections.abc import Callable
from dataclasses import dataclass

from simulations.engine.api.pod import Pod
from simulations.engine.cluster.api_server import Key


@dataclass(slots=True)
class Tally:
    """How many Pods there are that count (neither ended nor being deleted), and how many of those are ready."""

    active: int = 0
    ready: int = 0


class PodBook:
    """Pods by the object that has them; `tally_key` says under what a Pod is counted."""

    def __init__(self, tally_key: Callable[[Key, Pod], Key]) -> None:
        self.pods: dict[Key, dict[str, Pod]] = {}
        """The Pods of each object, by uid, as the informer has them."""
        self._tally_key = tally_key
        self._tallies: dict[Key, Tally] = {}

    def tally(self, key: Key) -> Tally:
        """The numbers of Pods that are counted under a key."""
        return self._tallies.get(key) or Tally()

    def keep(self, key: Key, pod: Pod) -> None:
        """The object has this Pod, new or changed."""
        self.drop(key, pod.uid)
        self.pods.setdefault(key, {})[pod.uid] = pod
        self._count(key, pod, 1)

    def drop(self, key: Key, uid: str) -> None:
        """The object does not have it any more."""
        old = self.pods.get(key, {}).pop(uid, None)
        if old is not None:
            self._count(key, old, -1)

    def _count(self, key: Key, pod: Pod, sign: int) -> None:
        if active(pod):
            tally = self._tallies.setdefault(self._tally_key(key, pod), Tally())
            tally.active += sign
            tally.ready += sign if ready(pod) else 0


def active(pod: Pod) -> bool:
    """Whether it counts: neither ended nor being deleted."""
    return not pod.terminal and not pod.terminating


def ready(pod: Pod) -> bool:
    """Whether its Ready condition is True."""
    condition = pod.condition("Ready")
    return condition is not None and condition.status == "True"
