"""Reads a policy field by field, with upstream's words for what is wrong; every finding is kept, with the path of its field.

Source: pkg/api/v1alpha2/conversion.go (arguments are read strictly), descheduler v0.36
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from simulations.engine.api.durations import parse_duration
from simulations.engine.api.selector_text import parse_selector_text
from simulations.engine.api.selectors import LabelSelector, parse_selector
from simulations.engine.kernel.errors import ScenarioError

T = TypeVar("T")
MISSHAPEN: Final = "E0801"
NO_SUCH_ARGUMENT: Final = "E0803"
NOT_ALLOWED: Final = "E0804"
ONE_OF_BOTH: Final = "only one of Include/Exclude namespaces can be set"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Names to take, or to leave out: namespaces, kinds of owners. Without any of either everything is taken."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def takes(self, name: str) -> bool:
        """Whether a name is meant."""
        return (not self.include or name in self.include) and name not in self.exclude


ALL: Final = Chosen()


class ArgReader:
    """A mapping of a policy; findings go to a list that all parts share, `said` stands before each message."""

    def __init__(
        self, value: object, path: str, findings: list[ScenarioError], said: str = "", unknown: str = NO_SUCH_ARGUMENT
    ) -> None:
        self.path = path
        self.findings = findings
        self.said = said
        self.unknown = unknown
        self.value: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        if value is not None and not isinstance(value, Mapping):
            self.wrong("", "expected a mapping", MISSHAPEN)

    def at(self, name: str) -> str:
        """The path of a field."""
        return f"{self.path}.{name}" if name and self.path else name or self.path

    def wrong(self, name: str, message: str, code: str = NOT_ALLOWED) -> None:
        """Note a finding at a field."""
        self.findings.append(ScenarioError(code, self.said + message, self.at(name)))

    def only(self, *names: str) -> None:
        """Note each field that there is not."""
        for name in self.value:
            if name not in (*names, "apiVersion", "kind"):
                known = f"known here are {', '.join(names)}" if names else "none is known here"
                self.wrong(str(name), f'unknown field "{name}"; {known}', self.unknown)

    def sub(self, name: str) -> "ArgReader":
        """The mapping in a field."""
        return ArgReader(self.value.get(name), self.at(name), self.findings, self.said, self.unknown)

    def has(self, name: str) -> bool:
        """Whether a field is set."""
        return self.value.get(name) is not None

    def _typed(self, name: str, fits: Callable[[Any], bool], wanted: str, default: Any) -> Any:
        value = self.value.get(name)
        if value is None:
            return default
        if not fits(value):
            self.wrong(name, f"{value!r} is not {wanted}", MISSHAPEN)
            return default
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        return bool(self._typed(name, lambda v: isinstance(v, bool), "true or false", default))

    def text(self, name: str) -> str:
        """A text, empty where it is missing."""
        return str(self._typed(name, lambda v: isinstance(v, str), "text (put it in quotes)", ""))

    def integer(self, name: str, low: int, high: int) -> int | None:
        """A whole number within bounds, None where it is missing."""
        value: int | None = self._typed(
            name, lambda v: _whole(v) and low <= v <= high, f"a whole number from {low} to {high}", None
        )
        return value

    def unsigned(self, name: str) -> int | None:
        """A whole number from 0, None where it is missing."""
        return self.integer(name, 0, 2**63 - 1)

    def items(self, name: str) -> list[Any]:
        """A list of anything."""
        found: list[Any] = self._typed(name, lambda v: isinstance(v, list), "a list", [])
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(self._typed(name, lambda v: isinstance(v, list) and all(isinstance(i, str) for i in v), "a list of texts", ()))

    def numbers(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        return tuple(self._typed(name, lambda v: isinstance(v, list) and all(map(_whole, v)), "a list of whole numbers", ()))

    def chosen(self, name: str, both: str = ONE_OF_BOTH) -> Chosen:
        """`{include, exclude}`, of which one can be set."""
        part = self.sub(name)
        part.only("include", "exclude")
        found = Chosen(part.texts("include"), part.texts("exclude"))
        if found.include and found.exclude:
            self.wrong(name, both)
        return found

    def selector(self, name: str) -> LabelSelector | None:
        """A label selector, None where it is missing."""
        said = "failed to get label selectors from strategy's params: "
        return self._read(lambda: parse_selector(self.value.get(name), self.at(name)), None, NOT_ALLOWED, said)

    def selector_text(self, name: str) -> LabelSelector | None:
        """A label selector that is written as one text, None where it is missing or empty."""
        text = self.text(name)
        return self._read(lambda: parse_selector_text(text, self.at(name)), None, NOT_ALLOWED) if text else None

    def duration(self, name: str) -> int | None:
        """A duration such as `5m` in ns, None where it is missing."""
        text = self.text(name)
        return self._read(lambda: parse_duration(text, self.at(name)), None, NOT_ALLOWED) if text else None

    def _read(self, read: Callable[[], T], default: T, code: str, said: str = "") -> T:
        try:
            return read()
        except ScenarioError as error:
            self.findings.append(ScenarioError(code, self.said + said + error.message, error.path))
            return default


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
