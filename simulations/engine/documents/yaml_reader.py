"""Reads YAML text into documents, event by event, with limits that hold before memory is spent."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from simulations.engine.documents import yaml_scalars
from simulations.engine.documents.model import (
    Document,
    Key,
    Limits,
    join_path,
    not_a_mapping,
)
from simulations.engine.documents.yaml_locator import YamlLocator
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors

_MAPPING_TAGS = frozenset({None, "!", "tag:yaml.org,2002:map"})
_SEQUENCE_TAGS = frozenset({None, "!", "tag:yaml.org,2002:seq"})
_MERGE = "<<"
_MAX_ERRORS = 20


@dataclass(slots=True)
class _Frame:
    """A mapping or sequence that is still being read."""

    value: Any
    is_mapping: bool
    anchor: str | None
    count_before: int
    key: str | None = None
    merges: list[Any] = field(default_factory=list)
    deepest: int = 0


@dataclass(frozen=True, slots=True)
class _Anchored:
    value: Any
    count: int
    depth: int


def read_yaml(text: str, file: str, limits: Limits) -> list[Document]:
    """All documents of `text` that hold a mapping; empty ones are left out.

    Raises: ScenarioErrors for text that is not YAML, goes over a limit, repeats a key, or holds something else than
    mappings.
    """
    try:
        return list(_documents(text, file, limits))
    except yaml.MarkedYAMLError as error:
        raise ScenarioErrors([_syntax_error(error, text, file, limits)]) from None
    except yaml.YAMLError as error:
        message = f"not readable as YAML: {getattr(error, 'reason', error)}"
        raise ScenarioErrors([ScenarioError("E0103", message, file=file, line=1)]) from None


def _documents(text: str, file: str, limits: Limits) -> Iterator[Document]:
    parser = yaml.CSafeLoader(text)
    builder = _Builder(file, limits)
    try:
        while parser.check_event():
            event = parser.get_event()
            if isinstance(event, yaml.DocumentStartEvent):
                value, locator = builder.build(parser, text)
                if builder.errors:
                    raise ScenarioErrors(builder.errors)
                if value is None:
                    continue
                if not isinstance(value, dict):
                    raise ScenarioErrors([not_a_mapping(value, file, locator)])
                yield Document(value, file, locator)
    finally:
        parser.dispose()


class _Builder:
    """Makes values from the events of a parser, one document after the other."""

    def __init__(self, file: str, limits: Limits) -> None:
        self.file = file
        self.limits = limits
        self.errors: list[ScenarioError] = []
        self.count = 0
        self.alias_count = 0
        self._anchors: dict[str, _Anchored | None] = {}
        self._frames: list[_Frame] = []

    def build(self, parser: Any, text: str) -> tuple[Any, YamlLocator]:
        """Read one document up to its end event."""
        self._anchors = {}
        self._frames = []
        root: list[Any] = []
        locator = YamlLocator(text, self.file)
        frames = self._frames
        while True:
            event = parser.get_event()
            kind = type(event)
            if kind is yaml.DocumentEndEvent:
                return (root[0] if root else None), locator
            if not root and not frames:
                locator.begin(event.start_mark)
            if kind is yaml.ScalarEvent:
                self._scalar(event, root)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                if len(frames) == 2 and not frames[1].is_mapping and frames[0].is_mapping:
                    locator.add_item(frames[0].key or "", len(frames[1].value), event.start_mark)
                self._open(event, kind is yaml.MappingStartEvent)
            elif kind is yaml.AliasEvent:
                self._alias(event, root)
            else:
                self._close(event, root)

    def _scalar(self, event: Any, root: list[Any]) -> None:
        frame = self._frames[-1] if self._frames else None
        self._counted(1, event)
        tag = event.tag
        if tag is not None and tag != "!" and tag not in yaml_scalars.SCALAR_TAGS:
            self._fail("E0111", f"the tag {tag!r} is not allowed", event)
        if frame is not None and frame.is_mapping and frame.key is None:
            self._key(frame, event)
            return
        if tag is not None:
            value = yaml_scalars.tagged(event.value, tag)
        else:
            value = yaml_scalars.plain(event.value) if event.implicit[0] else event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value, 1, 0)
        self._put(value, root)

    def _key(self, frame: _Frame, event: Any) -> None:
        key = event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(key, 1, 0)
        if key in frame.value and not (key == _MERGE and event.implicit[0]):
            self._note("E0107", f"the key {key!r} appears twice in one mapping", event, key)
        frame.key = key

    def _open(self, event: Any, is_mapping: bool) -> None:
        if event.tag not in (_MAPPING_TAGS if is_mapping else _SEQUENCE_TAGS):
            self._fail("E0111", f"the tag {event.tag!r} is not allowed", event)
        if self._frames and self._frames[-1].is_mapping and self._frames[-1].key is None:
            self._fail("E0112", "a key must be text, not a mapping or sequence", event)
        self._counted(1, event)
        if len(self._frames) >= self.limits.depth:
            self._fail("E0108", f"nested deeper than {self.limits.depth} levels", event)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        value: Any = {} if is_mapping else []
        self._frames.append(_Frame(value, is_mapping, event.anchor, self.count + self.alias_count - 1))

    def _close(self, event: Any, root: list[Any]) -> None:
        frame = self._frames.pop()
        for merged in frame.merges:
            self._merge(frame.value, merged, event)
        if frame.anchor is not None:
            count = self.count + self.alias_count - frame.count_before
            self._anchors[frame.anchor] = _Anchored(frame.value, count, frame.deepest + 1)
        if self._frames:
            self._frames[-1].deepest = max(self._frames[-1].deepest, frame.deepest + 1)
        self._put(frame.value, root)

    def _alias(self, event: Any, root: list[Any]) -> None:
        if event.anchor not in self._anchors:
            self._fail("E0104", f"the alias *{event.anchor} names no anchor before it", event)
        anchored = self._anchors[event.anchor]
        if anchored is None:
            self._fail("E0109", f"the alias *{event.anchor} contains itself", event)
            return
        self.alias_count += anchored.count
        if self.alias_count > self.limits.alias_values:
            message = f"aliases stand for more than {self.limits.alias_values:,} values"
            self._fail("E0109", message, event)
        depth = len(self._frames) + anchored.depth
        if depth > self.limits.depth:
            self._fail("E0108", f"aliases nest deeper than {self.limits.depth} levels", event)
        if self._frames:
            self._frames[-1].deepest = max(self._frames[-1].deepest, anchored.depth)
            if self._frames[-1].is_mapping and self._frames[-1].key is None:
                self._fail("E0112", "a key must be text, not an alias", event)
        self._put(anchored.value, root)

    def _put(self, value: Any, root: list[Any]) -> None:
        if not self._frames:
            root.append(value)
            return
        frame = self._frames[-1]
        if not frame.is_mapping:
            frame.value.append(value)
        elif frame.key == _MERGE and isinstance(value, dict | list):
            frame.merges.extend(value if isinstance(value, list) else [value])
            frame.key = None
        else:
            frame.value[frame.key] = value
            frame.key = None

    def _merge(self, target: dict[str, Any], merged: Any, event: Any) -> None:
        if not isinstance(merged, dict):
            self._fail("E0104", "<< takes a mapping or a list of mappings", event)
        for key, value in merged.items():
            target.setdefault(key, value)

    def _counted(self, values: int, event: Any) -> None:
        self.count += values
        if self.count > self.limits.values:
            self._fail("E0110", f"holds more than {self.limits.values:,} values", event)

    def _path(self, *last: Key) -> str:
        keys: list[Key] = []
        for frame in self._frames:
            if frame.is_mapping:
                keys += [frame.key] if frame.key is not None else []
            else:
                keys.append(len(frame.value))
        return join_path([*keys, *last])

    def _note(self, code: str, message: str, event: Any, *last: Key) -> None:
        if len(self.errors) < _MAX_ERRORS:
            line = event.start_mark.line + 1
            self.errors.append(ScenarioError(code, message, path=self._path(*last), line=line, file=self.file))

    def _fail(self, code: str, message: str, event: Any) -> None:
        self._note(code, message, event)
        raise ScenarioErrors(self.errors)


def _syntax_error(error: yaml.MarkedYAMLError, text: str, file: str, limits: Limits) -> ScenarioError:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else 1
    if "nesting depth" in str(error.problem):
        return ScenarioError("E0108", f"nested deeper than {limits.depth} levels", line=line, file=file)
    lines = text.split("\n", line)
    written = lines[line - 1] if line <= len(lines) else ""
    if "\t" in written[: len(written) - len(written.lstrip())]:
        return ScenarioError("E0106", "a tab cannot indent YAML; use spaces", line=line, file=file)
    context = f" {error.context}" if error.context else ""
    column = f" (column {mark.column + 1})" if mark is not None else ""
    return ScenarioError("E0104", f"YAML does not parse{context}: {error.problem}{column}", line=line, file=file)
