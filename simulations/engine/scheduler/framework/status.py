"""Status codes and statuses.

Source: staging/src/k8s.io/kube-scheduler/framework/interface.go, v1.36
"""

from dataclasses import dataclass
from enum import IntEnum


class Code(IntEnum):
    """What a plugin answers; a missing Status is SUCCESS."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def word(self) -> str:
        """The code as upstream writes it, such as UnschedulableAndUnresolvable."""
        return _WORDS[self]


_WORDS = {
    Code.SUCCESS: "Success",
    Code.ERROR: "Error",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
    Code.PENDING: "Pending",
}


@dataclass(frozen=True, slots=True)
class Status:
    """A plugin's answer that is not Success: the code, its reasons, and the plugin that gave it."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def message(self) -> str:
        """The reasons in one line."""
        return ", ".join(self.reasons)

    @property
    def rejected(self) -> bool:
        """Whether the Pod does not fit, now (Unschedulable, Pending) or whatever leaves (...AndUnresolvable)."""
        return self.code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING)


def unschedulable(plugin: str, *reasons: str) -> Status:
    """The Pod does not fit; preemption may help."""
    return Status(Code.UNSCHEDULABLE, reasons, plugin)


def unresolvable(plugin: str, *reasons: str) -> Status:
    """The Pod does not fit, and no preemption on this Node would change that."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons, plugin)


SKIP = Status(Code.SKIP)
