"""Go's division."""

import pytest

from simulations.engine.kernel.clock import truncated_div


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient"),
    [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (0, -5, 0), (-1, 3, 0), (6, 3, 2), (-6, 3, -2), (2**70 + 1, -2, -(2**69))],
)
def test_division_truncates_toward_zero(dividend: int, divisor: int, quotient: int) -> None:
    assert truncated_div(dividend, divisor) == quotient


def test_division_by_zero_is_refused_as_in_go() -> None:
    with pytest.raises(ZeroDivisionError):
        truncated_div(1, 0)
