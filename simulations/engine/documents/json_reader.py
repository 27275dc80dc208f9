"""Reads JSON text into documents: one value, or several one after the other."""

import json
import re
from itertools import chain
from typing import Any

from simulations.engine.documents.model import (
    Document,
    Key,
    KeyPath,
    Limits,
    join_path,
    not_a_mapping,
    same_key,
)
from simulations.engine.documents.yaml_scalars import number
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors

_BETWEEN = re.compile(r"(?:[ \t\r\n]|^---[ \t]*$)*", re.MULTILINE)
_SPACE = re.compile(r"[ \t\r\n]*")
_MAX_ERRORS = 20


class _Repeated(dict[str, Any]):
    """An object that had a key twice."""

    repeated: list[str]


class NotFiniteError(ValueError):
    """`NaN` or `Infinity`, which JSON does not have."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    found = _Repeated(members)
    seen: set[str] = set()
    found.repeated = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
    return found


def _not_finite(text: str) -> Any:
    raise NotFiniteError(text)


def _integer(text: str) -> Any:
    return int(text) if len(text) < 40 else text


_DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_float=number, parse_int=_integer, parse_constant=_not_finite)
# For finding positions values are only skipped, so nothing needs to be checked again.
_SKIPPER: Any = vars(json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=len))["scan_once"]


def read_json(text: str, file: str, limits: Limits) -> list[Document]:
    """All JSON values of `text`, each of which must be an object.

    Raises: ScenarioErrors as `read_yaml` does.
    """
    documents: list[Document] = []
    at = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    count = 0
    while at < len(text):
        value, end = _decode(text, at, file, limits)
        locator = JsonLocator(text, at)
        count += _measure(value, limits, file, locator)
        if count > limits.values:
            message = f"holds more than {limits.values:,} values"
            raise ScenarioErrors([ScenarioError("E0110", message, line=locator.line_of(()), file=file)])
        if not isinstance(value, dict):
            raise ScenarioErrors([not_a_mapping(value, file, locator)])
        documents.append(Document(value, file, locator))
        at = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]
    return documents


def _decode(text: str, at: int, file: str, limits: Limits) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        message = f"JSON does not parse: {error.msg} (column {error.colno})"
        raise ScenarioErrors([ScenarioError("E0105", message, line=error.lineno, file=file)]) from None
    except NotFiniteError as error:
        found = re.search(rf"(?<![\w\"]){re.escape(str(error))}\b", text[at:])
        line = _line_at(text, at + (found.start() if found else 0))
        message = f"{error} is not a number that JSON has"
        raise ScenarioErrors([ScenarioError("E0117", message, line=line, file=file)]) from None
    except RecursionError:
        message = f"nested deeper than {limits.depth} levels"
        line = _line_at(text, at)
        raise ScenarioErrors([ScenarioError("E0108", message, line=line, file=file)]) from None


def _measure(value: Any, limits: Limits, file: str, locator: "JsonLocator") -> int:
    """Count the values and check depth and repeated keys, level by level.

    Raises: ScenarioErrors.
    """
    count = 1
    depth = 0
    repeated = False
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    while level:
        depth += 1
        if depth > limits.depth:
            message = f"nested deeper than {limits.depth} levels"
            raise ScenarioErrors([ScenarioError("E0108", message, line=locator.line_of(()), file=file)])
        count += sum(map(len, level))
        repeated = repeated or any(type(part) is _Repeated for part in level)
        children = chain.from_iterable(part if type(part) is list else part.values() for part in level)
        level = [child for child in children if isinstance(child, dict | list)]
    if repeated:
        raise ScenarioErrors(_repeated_keys(value, file, locator))
    return count


def _repeated_keys(value: Any, file: str, locator: "JsonLocator") -> list[ScenarioError]:
    errors: list[ScenarioError] = []
    waiting: list[tuple[KeyPath, Any]] = [((), value)]
    while waiting and len(errors) < _MAX_ERRORS:
        path, part = waiting.pop()
        if isinstance(part, _Repeated):
            for key in part.repeated:
                here = (*path, key)
                message = f"the key {key!r} appears twice in one mapping"
                line = locator.line_of(here)
                errors.append(ScenarioError("E0107", message, path=join_path(here), line=line, file=file))
        children = part.items() if isinstance(part, dict) else enumerate(part)
        waiting += reversed([((*path, key), child) for key, child in children if isinstance(child, dict | list)])
    return errors


class JsonLocator:
    """Finds lines by walking down the text; what lies beside the path is skipped at C speed."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._start = start
        self._items: dict[str, list[int]] = {}

    def line_of(self, keys: KeyPath) -> int:
        """The line (from 1) of the deepest part of `keys` that the text has."""
        at, rest = self._start, keys
        if len(keys) >= 2 and isinstance(keys[0], str) and isinstance(keys[1], int):
            starts = self._item_starts(keys[0])
            if keys[1] < len(starts):
                at, rest = starts[keys[1]], keys[2:]
        best = at
        for key in rest:
            found = self._enter(at, key)
            if found is None:
                break
            best, at = found
        return _line_at(self._text, best)

    def _item_starts(self, key: str) -> list[int]:
        """Where the items of the top-level list `key` begin; found once."""
        if key not in self._items:
            found = self._enter(self._start, key)
            at = found[1] if found is not None else None
            starts: list[int] = []
            if at is not None and self._text[at] == "[":
                starts = [start for _, _, start in _children(self._text, at)]
            self._items[key] = starts
        return self._items[key]

    def _enter(self, at: int, key: Key) -> tuple[int, int] | None:
        """Where the name and the value of the child `key` begin. Of a repeated key the last one counts."""
        found: tuple[int, int] | None = None
        if self._text[at] in "{[":
            for name, name_at, value_at in _children(self._text, at):
                if name == key or (isinstance(name, str) and same_key(key, name)):
                    found = (name_at, value_at)
                    if isinstance(name, int):
                        break
        return found


def _children(text: str, at: int) -> Any:
    """The children of the container that begins at `at`: (key or index, start of the name, start of the value)."""
    is_object = text[at] == "{"
    index = 0
    at = _space(text, at + 1)
    while text[at] not in "}]":
        name: Key = index
        name_at = at
        if is_object:
            name, at = json.decoder.scanstring(text, at + 1)  # type: ignore[attr-defined]
            at = _space(text, _space(text, at) + 1)
        yield name, name_at, at
        _, at = _SKIPPER(text, at)
        at = _space(text, at)
        if text[at] == ",":
            at = _space(text, at + 1)
        index += 1


def _space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
