"""Numbers that may be written as a percentage.

Source: staging/src/k8s.io/apimachinery/pkg/util/intstr/intstr.go, GetScaledValueFromIntOrPercent, v1.36
"""


def scaled(value: object, total: int, *, up: bool) -> int:
    """A number as it is, a percentage of `total` rounded up or down; anything else is 0."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(0, value)
    text = value.removesuffix("%") if isinstance(value, str) and value.endswith("%") else ""
    if not text.isdigit():
        return 0
    share = int(text) * total
    return -(-share // 100) if up else share // 100
