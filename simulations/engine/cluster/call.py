"""One call of the API, as it is under way."""

from dataclasses import dataclass, field
from typing import Any

from simulations.engine.cluster.answers import Answer
from simulations.engine.kernel.loop import Future


@dataclass(slots=True)
class Call:
    """What a call asks for, what caused it, and what its record says besides."""

    actor: str
    verb: str
    resource: str
    namespace: str
    name: str
    cause: int
    data: dict[str, Any] = field(default_factory=dict)
    uid: str = ""
    answer: Future[Answer] = field(default_factory=Future)

    @property
    def words(self) -> str:
        """As cost and fault rules name it: `delete pods`."""
        return f"{self.verb} {self.resource}"
