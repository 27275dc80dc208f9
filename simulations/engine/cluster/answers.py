"""What the API server answers, and what it tells its watchers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Answer:
    """The answer to a call: HTTP code, for an error the Status reason and message, else the object; `seq` is the call's record.

    `retry_after` is the header of that name in seconds (0: not sent), `details` what else a Status says (causes).
    """

    code: int
    reason: str = ""
    message: str = ""
    object: Any = None
    seq: int = 0
    retry_after: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the call did what it was to do."""
        return self.code < 300

    @property
    def not_found(self) -> bool:
        """Whether the object is not there."""
        return self.code == 404


ADDED = "ADDED"
MODIFIED = "MODIFIED"
DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """A change of one object: `old` is what it was before (None when added), `cause` the record that made the change."""

    type: str
    kind: str
    object: Any
    old: Any
    cause: int


def not_found(resource: str, name: str) -> Answer:
    """404."""
    return Answer(404, "NotFound", f'{resource} "{name}" not found')


def conflict(message: str) -> Answer:
    """409."""
    return Answer(409, "Conflict", message)
