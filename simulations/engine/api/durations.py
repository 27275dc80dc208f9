"""Durations as scenarios and policies write them.

Source: Go's time.ParseDuration; numbers are seconds.
"""

import re
from typing import Final

from simulations.engine.kernel.clock import HOUR, MICROSECOND, MILLISECOND, MINUTE, NANOSECOND, SECOND
from simulations.engine.kernel.errors import ScenarioError

_UNITS: Final = {"ns": NANOSECOND, "us": MICROSECOND, "µs": MICROSECOND, "ms": MILLISECOND, "s": SECOND, "m": MINUTE, "h": HOUR}
_PART: Final = re.compile(r"(\d+)(?:\.(\d{1,9}))?(ns|us|µs|ms|s|m|h)")
_NUMBER: Final = re.compile(r"(\d+)(?:\.(\d{1,9})\d*)?\Z")
LONGEST: Final = 400 * 24 * HOUR


def parse_duration(value: object, path: str, *, longest: int = LONGEST) -> int:
    """Return `200ms`, `5s`, `1h30m` or a number of seconds in ns, exactly.

    Raises:
        ScenarioError: E0303, it is no duration, or longer than allowed.
    """
    text = repr(value) if isinstance(value, float) else str(value)
    found = None
    if isinstance(value, str | int | float) and not isinstance(value, bool) and len(text) <= 64:
        found = _whole(text.strip())
    if found is None:
        raise ScenarioError("E0303", f"{text[:64]!r} is not a duration such as 200ms, 5s, 1h30m or a number of seconds", path)
    if found > longest:
        raise ScenarioError("E0303", f"{text!r} is longer than {longest // HOUR} hours", path)
    return found


def _scaled(whole: str, fraction: str | None, unit: int) -> int:
    return int(whole) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)


def _whole(text: str) -> int | None:
    number = _NUMBER.match(text)
    if number is not None:
        return _scaled(number[1], number[2], SECOND)
    total, at = 0, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        total += _scaled(part[1], part[2], _UNITS[part[3]])
        at = part.end()
    return total if text else None


def format_duration(nanoseconds: int) -> str:
    """A duration as Go prints it: `40s`, `1m30s`, `1h0m0s`, `1.5s`, `200ms`."""
    if nanoseconds < SECOND:
        for name, unit in (("ms", MILLISECOND), ("µs", MICROSECOND)):
            if nanoseconds >= unit:
                return f"{_decimal(nanoseconds, unit)}{name}"
        return f"{nanoseconds}ns" if nanoseconds else "0s"
    hours, rest = divmod(nanoseconds, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    head = f"{hours}h" if hours else ""
    return f"{head}{minutes}m{_decimal(rest, SECOND)}s" if hours or minutes else f"{_decimal(rest, SECOND)}s"


def _decimal(nanoseconds: int, unit: int) -> str:
    whole, part = divmod(nanoseconds, unit)
    return f"{whole}.{part:0{len(str(unit)) - 1}d}".rstrip("0").rstrip(".") if part else str(whole)
