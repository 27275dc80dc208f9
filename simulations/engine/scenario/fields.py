"""Reads the fields of a mapping one by one and collects what is wrong with them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from simulations.engine.api.durations import parse_duration
from simulations.engine.kernel.errors import ScenarioError

T = TypeVar("T")


class Fields:
    """A mapping of a scenario at a path; findings go to a list that all parts share."""

    def __init__(self, value: object, path: str, findings: list[ScenarioError]) -> None:
        self.path = path
        self.findings = findings
        self.value: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        if value is not None and not isinstance(value, Mapping):
            self.wrong("", "E0302", "expected a mapping")

    def wrong(self, name: str, code: str, message: str) -> None:
        """Note a finding at a field."""
        self.findings.append(ScenarioError(code, message, self.at(name)))

    def at(self, name: str) -> str:
        """The path of a field."""
        return f"{self.path}.{name}" if name and self.path else name or self.path

    def only(self, known: tuple[str, ...]) -> None:
        """Note every field that is not known."""
        for name in self.value:
            if name not in known:
                self.wrong(str(name), "E0301", f"unknown field; known here are {', '.join(known)}")

    def attempt(self, read: Callable[[], T], default: T) -> T:
        """Run a reader that may raise; note what it raises and go on with the default."""
        try:
            return read()
        except ScenarioError as error:
            self.findings.append(error)
            return default

    def sub(self, name: str) -> "Fields":
        """The mapping in a field."""
        return Fields(self.value.get(name), self.at(name), self.findings)

    def items(self, name: str) -> list[Any]:
        """The list in a field."""
        value = self.value.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self.wrong(name, "E0302", "expected a list")
            return []
        return value

    def text(self, name: str, default: str = "") -> str:
        """A text field; numbers are refused, so that 1.30 does not become 1.3."""
        value = self.value.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            self.wrong(name, "E0302", f"{value!r} is not text (put it in quotes)")
            return default
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        value = self.value.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.wrong(name, "E0302", f"{value!r} is not true or false")
            return default
        return value

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number within bounds."""
        value = self.value.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.wrong(name, "E0302", f"{value!r} is not a whole number from {low} to {high}")
            return default
        return value

    def number(self, name: str, low: float, high: float) -> float | None:
        """A number within bounds, None when unset."""
        value = self.value.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self.wrong(name, "E0302", f"{value!r} is not a number from {low:g} to {high:g}")
            return None
        return value

    def duration(self, name: str, default: int) -> int:
        """A duration in ns."""
        value = self.value.get(name)
        if value is None:
            return default
        return self.attempt(lambda: parse_duration(value, self.at(name)), default)
