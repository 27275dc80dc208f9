"""Durations and the other texts that a form takes."""

import re
from collections.abc import Iterable
from typing import Final

from simulations.engine.kernel.errors import ScenarioError

WEEK: Final = 7 * 24 * 3600 * 10**9
MAX_SEED: Final = 2**63 - 1
NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
LABEL_KEY: Final = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DURATION: Final = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)(ns|us|µs|ms|s|m|h)?")
_UNITS: Final = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_CPU: Final = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(m?)")
_MEMORY: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(Ki|Mi|Gi|Ti|k|M|G|T)?")


def parse_duration(text: str | float | int) -> int:
    """Return a duration of `200ms`, `5s`, `1h`, `1m30s` or a number of seconds, in nanoseconds.

    Raises:
        ValueError: it is not a duration, or below zero.
    """
    rest = str(text).strip()
    total = 0
    if not rest:
        raise ValueError("a duration is empty")
    while rest:
        match = _DURATION.match(rest)
        if match is None or (match.group(2) is None and (total or match.end() != len(rest))):
            raise ValueError(f"{text!r} is not a duration such as 200ms, 5s or 1h")
        whole, _, fraction = match.group(1).partition(".")
        unit = _UNITS[match.group(2) or "s"]
        total += int(whole) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        rest = rest[match.end() :]
    return total


def when(at: object) -> int:
    """A time of an operation in ns; 0 where it does not parse: the scenario's own check names it."""
    try:
        return parse_duration(at if isinstance(at, str | int | float) else "")
    except ValueError:
        return 0


def check_duration(path: str, text: str, least: int, most: int) -> Iterable[ScenarioError]:
    """E0711, E0712 for what is no duration or out of range, in ns; an empty text is fine."""
    if not text:
        return
    try:
        value = parse_duration(text)
    except ValueError as error:
        yield ScenarioError("E0711", str(error), path)
        return
    if not least <= value <= most:
        yield ScenarioError("E0712", f"{text} is out of range: more than {least - 1} ns, at most {most // 10**9} s", path)


def check_amounts(path: str, cpu: str, memory: str) -> Iterable[ScenarioError]:
    """E0716 for what is no amount of CPU or memory."""
    if cpu and not _CPU.fullmatch(cpu):
        yield ScenarioError("E0716", f"{cpu!r} is not an amount of CPU such as 500m or 3", f"{path}.cpu")
    if memory and not _MEMORY.fullmatch(memory):
        yield ScenarioError("E0716", f"{memory!r} is not an amount of memory such as 512Mi or 2Gi", f"{path}.memory")


def check_prefix(path: str, prefix: str) -> Iterable[ScenarioError]:
    """E0714 for what cannot begin a name."""
    prefix = prefix.rstrip("-")
    if not prefix or len(prefix) > 240 or not NAME.fullmatch(prefix):
        text = "a name prefix has small letters, digits, '-' and '.', begins with a letter or digit, and at most 240 characters"
        yield ScenarioError("E0714", text, f"{path}.namePrefix")
