"""Resource quantities in exact integer arithmetic.

A parsed quantity is an integer number of *nano* units, so that `0.5m` of cpu is exact and sums are rounded once, at the end.

Source: staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go, v1.36
"""

import re
from typing import Final

from simulations.engine.kernel.errors import ScenarioError

NANOS: Final = 10**9
"""Nano units in one unit."""

MAX_VALUE: Final = 2**63 - 1
_CAP: Final = MAX_VALUE * NANOS
_MAX_EXPONENT: Final = 64

_SYNTAX = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(?:([eE])([+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE])?)\Z", re.ASCII)
_BINARY = {suffix: 1024**power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}

_cache: dict[str, int] = {}


def parse_quantity(value: object, path: str = "") -> int:
    """Return the quantity in nano units; what is finer than nano is rounded away from zero, what is larger is capped at 2^63-1.

    Raises:
        ScenarioError: E0206, the text is no quantity; E0208, its exponent is out of any use.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ScenarioError("E0206", f"{value!r} is not a quantity such as 500m, 2 or 16Gi", path)
    text = repr(value) if isinstance(value, float) else str(value)
    known = _cache.get(text)
    if known is None:
        known = _parse(text.strip(), path)
        if len(_cache) < 65_536:
            _cache[text] = known
    return known


def _parse(text: str, path: str) -> int:
    match = _SYNTAX.match(text) if len(text) <= 256 else None
    if match is None:
        raise ScenarioError("E0206", f'"{text[:64]}" is not a quantity such as 500m, 2 or 16Gi', path)
    sign, digits, scientific, exponent, suffix = match.groups()
    whole, _, fraction = digits.partition(".")
    number = int((whole or "0") + fraction)
    power = -len(fraction) + 9
    if scientific:
        if abs(int(exponent)) > _MAX_EXPONENT:
            raise ScenarioError("E0208", f'"{text[:64]}" is out of range: it does not fit into 64 bits', path)
        power += int(exponent)
    elif suffix in _BINARY:
        number *= _BINARY[suffix]
    else:
        power += _DECIMAL[suffix or ""]
    nanos: int = number * 10**power if power >= 0 else -(-number // 10**-power)
    nanos = min(nanos, _CAP)
    return -nanos if sign == "-" else nanos


def ceil_units(nanos: int) -> int:
    """Whole units, rounded up and capped at 2^63-1 (Quantity.Value)."""
    return min(-(-nanos // NANOS), MAX_VALUE)


def ceil_millis(nanos: int) -> int:
    """Thousandths of a unit, rounded up and capped at 2^63-1 (Quantity.MilliValue)."""
    return min(-(-nanos // 10**6), MAX_VALUE)


def resource_value(resource: str, nanos: int) -> int:
    """The integer that the scheduler counts in: milliCPU for cpu, whole units (bytes, pods, devices) for all else."""
    return ceil_millis(nanos) if resource == "cpu" else ceil_units(nanos)


def format_quantity(resource: str, value: int) -> str:
    """Write a scheduler's integer as Kubernetes does: `1500m` and `2` for cpu; `16Gi`, `128974848` for all else."""
    if resource == "cpu":
        return f"{value // 1000}" if value % 1000 == 0 else f"{value}m"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        for suffix, factor in reversed(_BINARY.items()):
            if value and value % factor == 0:
                return f"{value // factor}{suffix}"
    return str(value)
