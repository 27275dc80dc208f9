"""What reading a file gives: documents that know where their fields were written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from simulations.engine.kernel.errors import ScenarioError

Key = str | int
KeyPath = tuple[Key, ...]

_SEGMENT = re.compile(r"\[([^\]]*)\]|([^.\[]+)")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one input may ask of the reader.

    `file_bytes` is one file, `total_bytes` all files of one call; `values` counts mappings, sequences and
    scalars of a file, `alias_values` those that YAML aliases stand for.
    """

    file_bytes: int = 64_000_000
    total_bytes: int = 256_000_000
    files: int = 10_000
    depth: int = 100
    values: int = 20_000_000
    alias_values: int = 1_000_000


class Locator(Protocol):
    """Finds the line of a field in the text that a document was read from."""

    def line_of(self, keys: KeyPath) -> int:
        """The line (from 1) of the deepest part of `keys` that the text has."""


@dataclass(frozen=True, slots=True)
class Document:
    """One mapping of a file: a YAML document, a JSON value or an item of a `List`.

    `value` has string keys only; a value is a mapping, list, string, int, float, bool or None. Aliased parts of a
    YAML document are one shared object, so treat it as immutable. `origin` is where it lies in its file's
    document, such as `items[3]`; empty when it is the whole of it.
    """

    value: dict[str, Any]
    file: str
    locator: Locator = field(repr=False, compare=False)
    base: KeyPath = ()

    @property
    def line(self) -> int:
        """The line where the document begins, counted from 1."""
        return self.locator.line_of(self.base)

    @property
    def origin(self) -> str:
        """The path of the document inside its file's document."""
        return join_path(self.base)

    def position(self, path: str | Sequence[Key] = "") -> int:
        """The line of the field at `path`, such as `spec.containers[0].resources.requests[cpu]`.

        A field that is not there gives the line of the deepest part that is.
        """
        keys = split_path(path) if isinstance(path, str) else tuple(path)
        return self.locator.line_of(self.base + keys)


def split_path(path: str) -> KeyPath:
    """Split a field path as the API server writes them; `[0]` is an index, `[cpu]` a key."""
    keys: list[Key] = []
    for bracket, name in _SEGMENT.findall(path):
        text = name or bracket
        keys.append(int(text) if not name and text.isdecimal() else text)
    return tuple(keys)


def join_path(keys: Sequence[Key]) -> str:
    """Write keys as a field path: the opposite of `split_path`."""
    text = ""
    for key in keys:
        if isinstance(key, int) or not key or re.search(r"[.\[\]/]", key):
            text += f"[{key}]"
        else:
            text += f".{key}" if text else key
    return text


def same_key(wanted: Key, found: str) -> bool:
    """Whether a mapping's key is the one that a path names; `labels[1]` may name the key "1"."""
    return found == (wanted if isinstance(wanted, str) else str(wanted))


def not_a_mapping(value: Any, file: str, locator: Locator) -> ScenarioError:
    """The error for a document that is a sequence or a single value."""
    what = "a sequence" if isinstance(value, list) else f"only the value {str(value)[:40]!r}"
    message = f"a document must be a mapping with apiVersion and kind; this is {what}"
    return ScenarioError("E0113", message, line=locator.line_of(()), file=file)
