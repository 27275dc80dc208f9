"""Simulated time: integer nanoseconds since T+0 of the run (negative during the warmup), like Go's durations."""

from typing import Final, TypeAlias

SimTime: TypeAlias = int
"""Nanoseconds since T+0. Never a float."""

NANOSECOND: Final = 1
MICROSECOND: Final = 1_000
MILLISECOND: Final = 1_000_000
SECOND: Final = 1_000_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE


def truncated_div(dividend: int, divisor: int) -> int:
    """Return the quotient rounded toward zero, as Go divides integers (Python's ``//`` rounds down).

    Raises:
        ZeroDivisionError: the divisor is 0, as in Go.
    """
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient
