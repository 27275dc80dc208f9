"""How many pods wait in which queue of one scheduler, and which plugins hold them off."""

from simulations.engine.kernel.clock import SimTime

QUEUES = ("active", "backoff", "unschedulable", "gated")


class QueueGauges:
    """Told of every move; `sizes` and `peaks` are by queue, `held` has for each pod its profile and the plugins that rejected it.

    The trace tells of a cycle when it ends, so what activeQ held meanwhile is only known then.
    """

    def __init__(self) -> None:
        self.sizes = dict.fromkeys(QUEUES, 0)
        self.peaks = dict.fromkeys(QUEUES, 0)
        self.held: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._queue_of: dict[str, str] = {}
        self._unsure: list[tuple[SimTime, int]] = []

    def moved(self, uid: str, queue: str, at: SimTime) -> None:
        """A pod came to a queue."""
        self.left(uid)
        if queue in self.sizes:
            self._queue_of[uid] = queue
            self.sizes[queue] += 1
            if queue == "active":
                self._unsure.append((at, self.sizes[queue]))
            else:
                self.peaks[queue] = max(self.peaks[queue], self.sizes[queue])

    def popped(self, uid: str, at: SimTime) -> None:
        """A pod was taken for a cycle at `at`; the sizes noted since then had it in them."""
        self._settle(at)
        self.left(uid)
        self.held.pop(uid, None)

    def gone(self, uid: str) -> None:
        """A pod left for good."""
        self.left(uid)
        self.held.pop(uid, None)

    def left(self, uid: str) -> None:
        """A pod is in no queue."""
        queue = self._queue_of.pop(uid, "")
        if queue:
            self.sizes[queue] -= 1

    def finish(self) -> None:
        """No more cycle ends."""
        self._settle(None)

    def _settle(self, popped: SimTime | None) -> None:
        for at, size in self._unsure:
            self.peaks["active"] = max(self.peaks["active"], size if popped is None or at <= popped else size - 1)
        self._unsure.clear()
