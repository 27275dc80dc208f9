"""The two kinds of exception of the engine: a bug, and wrong input."""

from collections.abc import Sequence


class InvariantError(Exception):
    """Something that cannot be true was found true: a bug of the engine. It ends the run."""


class ScenarioError(Exception):
    """Wrong input: one finding, with a stable code and the place where it was found.

    Args:
        code: a code of ``docs/error-codes.md``, such as ``E0301``.
        message: one sentence that says what is wrong and, where it helps, what is allowed.
        path: the field, as ``spec.operations[2].at``; empty when the whole document is meant.
        line: the line in the file, counted from 1; None when it is unknown.
        file: the name that the user gave the input; empty when there is none.
    """

    def __init__(self, code: str, message: str, path: str = "", line: int | None = None, file: str = "") -> None:
        super().__init__(code, message, path, line, file)
        self.code = code
        self.message = message
        self.path = path
        self.line = line
        self.file = file

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file and self.line is not None else self.file
        if not place and self.line is not None:
            place = f"line {self.line}"
        return ": ".join(part for part in (place, self.code, self.path, self.message) if part)

    def located(self, *, line: int | None = None, file: str = "", prefix: str = "") -> "ScenarioError":
        """Return the same finding with what was not known before: line, file, and a path in front of its own."""
        path = self.path
        if prefix:
            path = prefix + path if path.startswith("[") or not path else f"{prefix}.{path}"
        return ScenarioError(self.code, self.message, path, self.line if self.line is not None else line, self.file or file)


class ScenarioErrors(Exception):
    """All findings in one input, in the order of the document.

    Raises:
        InvariantError: there is no finding in it.
    """

    def __init__(self, errors: Sequence[ScenarioError]) -> None:
        if not errors:
            raise InvariantError("a list of findings without a finding")
        super().__init__(list(errors))
        self.errors: list[ScenarioError] = list(errors)

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)
