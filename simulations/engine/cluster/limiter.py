"""A client's own limit on calls: a token bucket.

Source: staging/src/k8s.io/client-go/util/flowcontrol/throttle.go, v1.36
"""

from simulations.engine.kernel.clock import SECOND, SimTime


class TokenBucket:
    """`qps` calls a second, `burst` of them at once. Callers are served in the order in which they ask."""

    def __init__(self, qps: float, burst: int) -> None:
        self._interval = max(1, round(SECOND / qps))
        self._window = self._interval * max(burst, 1)
        self._next: SimTime | None = None

    def wait(self, now: SimTime) -> int:
        """Take one token and return how long to wait for it, in ns."""
        base = now if self._next is None else max(self._next, now)
        self._next = base + self._interval
        return max(0, self._next - self._window - now)
