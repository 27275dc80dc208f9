"""Finds the lines of fields in YAML text."""

from dataclasses import dataclass
from typing import Any

import yaml

from simulations.engine.documents.model import Key, KeyPath, same_key


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a part of the text begins: character index, line and column, all from 0."""

    index: int
    line: int
    column: int


class YamlLocator:
    """Finds lines by reading again only the part of the text that holds the field."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._start = Mark(0, 0, 0)
        self._items: dict[tuple[str, int], Mark] = {}

    def begin(self, mark: Any) -> None:
        """Note where the document's value begins."""
        self._start = Mark(mark.index, mark.line, mark.column)

    def add_item(self, key: str, index: int, mark: Any) -> None:
        """Note where item `index` of the top-level list `key` begins."""
        self._items[key, index] = Mark(mark.index, mark.line, mark.column)

    def line_of(self, keys: KeyPath) -> int:
        """The line (from 1) of the deepest part of `keys` that the text has."""
        mark, rest = self._start, keys
        if len(keys) >= 2 and isinstance(keys[0], str) and isinstance(keys[1], int):
            item = self._items.get((keys[0], keys[1]))
            if item is not None:
                mark, rest = item, keys[2:]
        if not rest:
            return mark.line + 1
        # A block that begins in column n reads the same when its first line is moved there by spaces.
        part = " " * mark.column + self._text[mark.index : self._end_of(keys, mark)]
        return mark.line + 1 + _line_in(part, rest)

    def _end_of(self, keys: KeyPath, mark: Mark) -> int | None:
        """Where to stop reading: at the next item of the same list, if there is one."""
        if mark is self._start or not isinstance(keys[0], str) or not isinstance(keys[1], int):
            return None
        following = self._items.get((keys[0], keys[1] + 1))
        return None if following is None else following.index - following.column


def _line_in(part: str, keys: KeyPath) -> int:
    """The line (from 0) of `keys` in a text that holds one value."""
    parser = yaml.CSafeLoader(part)
    best = 0
    try:
        parser.get_event()
        parser.get_event()
        event = parser.get_event()
        for key in keys:
            found = _enter(parser, event, key)
            if found is None:
                break
            line, event = found
            best = line
    except yaml.YAMLError:
        pass  # the slice ends inside a flow collection or names an anchor outside: keep what was found
    finally:
        parser.dispose()
    return best


def _enter(parser: Any, event: Any, key: Key) -> tuple[int, Any] | None:
    """Step into the container that `event` opens, to its child `key`: the child's line and first event."""
    if isinstance(event, yaml.SequenceStartEvent):
        index = 0
        while not isinstance(child := parser.get_event(), yaml.SequenceEndEvent):
            if index == key:
                return child.start_mark.line, child
            _skip(parser, child)
            index += 1
    elif isinstance(event, yaml.MappingStartEvent):
        while not isinstance(name := parser.get_event(), yaml.MappingEndEvent):
            child = parser.get_event()
            if same_key(key, getattr(name, "value", "")):
                return name.start_mark.line, child
            _skip(parser, child)
    return None


def _skip(parser: Any, event: Any) -> None:
    """Read to the end of the value that `event` begins."""
    depth = 0
    while True:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth == 0:
            return
        event = parser.get_event()
