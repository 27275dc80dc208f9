"""CSV after RFC 4180: a header, CRLF, quotes where needed; UTF-8; streamed.

A text cell that a spreadsheet would take for a formula gets an apostrophe in front; cells of numeric columns are never
touched. The raw form leaves text as it is, for programs.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from simulations.analysis.columns import CellValue, Column, Row

_FORMULA_STARTS = frozenset("=+-@\t\r＝＋－＠")
_QUOTED = re.compile(r'[",\r\n]')
_CHUNK = 256
_UNSAFE_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def write_csv(columns: Sequence[Column], rows: Iterable[Row], *, raw: bool = False) -> Iterator[str]:
    """The lines of a table, some hundred at a time, the header first."""
    yield ",".join(_quoted(column.name) for column in columns) + "\r\n"
    numeric = tuple(column.numeric for column in columns)
    lines: list[str] = []
    for row in rows:
        cells = (_cell(value, raw or is_number) for value, is_number in zip(row, numeric, strict=True))
        lines.append(",".join(cells) + "\r\n")
        if len(lines) == _CHUNK:
            yield "".join(lines)
            lines = []
    if lines:
        yield "".join(lines)


def file_name(run: str, table: str, moment: datetime) -> str:
    """`<run>-<table>-<utc>.csv`, safe in every file system."""
    name = _UNSAFE_IN_NAMES.sub("-", run).strip("-.")[:80] or "run"
    return f"{name}-{table}-{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}.csv"


def _cell(value: CellValue, verbatim: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    if not verbatim and value[:1] in _FORMULA_STARTS and value:
        value = f"'{value}"
    return _quoted(value)


def _quoted(text: str) -> str:
    if _QUOTED.search(text) is None:
        return text
    return '"' + text.replace('"', '""') + '"'
