"""Columns and cells of tables: how a value of the trace is written in a row."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from simulations.engine.kernel.clock import SECOND, SimTime

CellValue = str | int | bool | None
"""What a row holds. Text is text; decimal numbers come as text too, in a numeric column."""

Row = tuple[CellValue, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what is in it, and whether its cells are numbers (or times), which are never altered."""

    name: str
    meaning: str
    numeric: bool = False


def number(name: str, meaning: str) -> Column:
    """A column of numbers, times or booleans."""
    return Column(name, meaning, numeric=True)


TIME_COLUMNS: Final = (
    number("time_utc", "when, ISO 8601 in UTC"),
    number("sim_seconds", "when, in seconds since T+0"),
    number("seq", "the record of the trace that says so"),
)


def seconds(time: SimTime | None) -> str | None:
    """Nanoseconds as decimal seconds, exact and as short as can be."""
    if time is None:
        return None
    whole, rest = divmod(abs(time), SECOND)
    text = f"{whole}.{rest:09d}".rstrip("0").rstrip(".") if rest else str(whole)
    return f"-{text}" if time < 0 else text


class Calendar:
    """Turns virtual time into UTC, given what T+0 is called."""

    def __init__(self, start: str = "") -> None:
        moment = datetime.fromisoformat(start) if start else datetime(2026, 1, 1, tzinfo=UTC)
        self._start = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)

    def utc(self, time: SimTime | None) -> str | None:
        """ISO 8601 with `Z`, with as many decimals as the time has."""
        if time is None:
            return None
        whole, rest = divmod(time, SECOND)
        moment = self._start + timedelta(seconds=whole)
        nanos = moment.microsecond * 1000 + rest
        fraction = f".{nanos:09d}".rstrip("0").rstrip(".")
        return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"
