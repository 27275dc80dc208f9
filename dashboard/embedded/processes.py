"""Child processes that never outlive their parent."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Child:
    """A program that runs beside us; on Linux it is killed when we die, however that happens."""

    def __init__(self, name: str, command: Sequence[str], *, log: Path | None = None, env: dict[str, str] | None = None) -> None:
        self.name = name
        output = log.open("ab") if log is not None else None
        try:
            self.process = subprocess.Popen(  # the parent's death is its end
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT if output is not None else None,
                env={**os.environ, **(env or {})},
                start_new_session=True,
                preexec_fn=_die_with_parent,  # one thread at this point
            )
        finally:
            if output is not None:
                output.close()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def stop(self, seconds: float = 8.0) -> None:
        """Ask it to end, with all that it started; after `seconds`, end it."""
        if not self.running:
            return
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
