"""Short texts for people, used by several folds."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulations.engine.kernel.clock import HOUR, MILLISECOND, MINUTE, SECOND, SimTime


def duration(nanoseconds: SimTime) -> str:
    """A length of time in one unit, or two: `40 ms`, `7.5 s`, `3 min 20 s`, `2 h 5 min`."""
    size = abs(nanoseconds)
    sign = "-" if nanoseconds < 0 else ""
    if size < SECOND:
        return f"{sign}{_decimal(size, MILLISECOND)} ms"
    if size < MINUTE:
        return f"{sign}{_decimal(size, SECOND)} s"
    if size < HOUR:
        return f"{sign}{size // MINUTE} min" + (f" {size % MINUTE // SECOND} s" if size % MINUTE >= SECOND else "")
    return f"{sign}{size // HOUR} h" + (f" {size % HOUR // MINUTE} min" if size % HOUR >= MINUTE else "")


def moment(time: SimTime) -> str:
    """A point of virtual time: `T+7.5 s`."""
    return f"T{'-' if time < 0 else '+'}{duration(abs(time))}"


def _decimal(value: int, unit: int) -> str:
    text = f"{value / unit:.3f}" if value < 10 * unit else f"{value / unit:.1f}"
    return text.rstrip("0").rstrip(".")


def plural(count: int, noun: str) -> str:
    """`1 node`, `3 nodes`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listing(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def shortened(parts: Sequence[str], most: int = 3) -> str:
    """Like `listing`, but names at most `most` and counts the rest."""
    if len(parts) <= most:
        return listing(parts)
    return f"{', '.join(parts[:most])} and {len(parts) - most:,} more"


def object_name(namespace: str, name: str) -> str:
    """`namespace/name`, or the name of a cluster-wide object."""
    return f"{namespace}/{name}" if namespace else name


def of(data: Mapping[str, Any] | None, key: str, default: Any = None) -> Any:
    """A value of a record's data, which may be missing."""
    return default if data is None else data.get(key, default)


def taint_text(taint: Sequence[str]) -> str:
    """A taint as kubectl writes it: `key=value:Effect`, from its key, value and effect."""
    key, value, effect = taint
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"
