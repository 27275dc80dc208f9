"""Faults: API calls that are answered with an error."""

from dataclasses import dataclass
from random import Random

from simulations.engine.kernel.clock import SimTime

REASONS = {
    400: "BadRequest",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Answers calls that match ("delete pods", by name and actor if given) with `code`, in a window of time, with a probability."""

    match: str
    code: int
    message: str = ""
    names: tuple[str, ...] = ()
    actor: str = ""
    start: SimTime | None = None
    end: SimTime | None = None
    probability: float = 1.0

    @property
    def reason(self) -> str:
        """The Status reason that goes with the code."""
        return REASONS.get(self.code, "InternalError" if self.code >= 500 else "BadRequest")

    def applies(self, call: str, name: str, actor: str, now: SimTime) -> bool:
        """Whether a call is meant, apart from chance."""
        if call != self.match or (self.names and name not in self.names) or (self.actor and actor != self.actor):
            return False
        return (self.start is None or now >= self.start) and (self.end is None or now < self.end)


class FaultModel:
    """The faults of a run."""

    def __init__(self, faults: tuple[Fault, ...], rng: Random) -> None:
        self._faults = faults
        self._rng = rng

    def hit(self, call: str, name: str, actor: str, now: SimTime) -> tuple[int, Fault] | None:
        """The first fault that strikes this call, with its number; None: the call goes on."""
        for i, fault in enumerate(self._faults):
            if not fault.applies(call, name, actor, now):
                continue
            if fault.probability >= 1.0 or self._rng.random() < fault.probability:
                return i, fault
        return None
