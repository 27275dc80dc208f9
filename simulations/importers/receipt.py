"""What an import says about itself: read, ignored, doubtful, wrong."""

from dataclasses import asdict, dataclass, field
from typing import Any

from simulations.engine.kernel.errors import ScenarioError

NAMES_SHOWN = 10
MOST_ERRORS = 200


@dataclass(slots=True)
class Ignored:
    """Objects of one kind in one file that were left out for the same reason; `name` and `line` are the first one's."""

    kind: str
    name: str
    why: str
    file: str
    line: int
    count: int = 1
    names: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Warned:
    """Something that was read but will not behave as it did in the cluster."""

    code: str
    message: str
    count: int
    names: list[str]
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something for which the import was refused."""

    code: str
    file: str
    line: int | None
    field: str
    message: str
    object: str = ""


@dataclass(slots=True)
class Receipt:
    """The whole answer to an import. `objects` were read if there are no `errors`, else nothing was kept.

    `more_errors` counts those beyond the first `MOST_ERRORS`.
    """

    files: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    pending: int = 0
    ignored: list[Ignored] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    errors: list[Wrong] = field(default_factory=list)
    more_errors: int = 0

    @property
    def refused(self) -> bool:
        """Whether nothing was imported."""
        return bool(self.errors)

    def count(self, kind: str) -> None:
        """Count an object that was read."""
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def ignore(self, kind: str, name: str, why: str, file: str, line: int) -> None:
        """Note an object that is left out."""
        for known in self.ignored:
            if (known.kind, known.why, known.file) == (kind, why, file):
                known.count += 1
                if len(known.names) < NAMES_SHOWN:
                    known.names.append(name)
                return
        self.ignored.append(Ignored(kind, name, why, file, line, 1, [name]))

    def warn(self, code: str, message: str, name: str, file: str, line: int) -> None:
        """Note an object that is read with a reservation; equal ones are counted together."""
        for known in self.warnings:
            if (known.code, known.message) == (code, message):
                known.count += 1
                if len(known.names) < NAMES_SHOWN:
                    known.names.append(name)
                return
        self.warnings.append(Warned(code, message, 1, [name] if name else [], file, line))

    def refuse(self, error: ScenarioError, about: str = "") -> None:
        """Note an error: the import will keep nothing."""
        if len(self.errors) >= MOST_ERRORS:
            self.more_errors += 1
            return
        self.errors.append(Wrong(error.code, error.file, error.line, error.path, error.message, about))

    def as_dict(self) -> dict[str, Any]:
        """The receipt as JSON values, kinds in alphabetical order."""
        return asdict(self) | {"counts": dict(sorted(self.counts.items())), "refused": self.refused}
