"""The flags of `kubectl drain`.

Source: staging/src/k8s.io/kubectl/pkg/cmd/drain/drain.go, v1.36
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.api.durations import parse_duration
from simulations.engine.api.selector_text import parse_selector_text
from simulations.engine.api.selectors import LabelSelector
from simulations.engine.kernel.errors import ScenarioError

DRY_RUNS: Final = ("none", "client", "server")


@dataclass(frozen=True, slots=True)
class DrainFlags:
    """How to drain. Durations in ns, 0: no end; `grace_seconds` below 0: each Pod's own; `skip_wait_seconds` 0: wait for all."""

    force: bool = False
    ignore_daemonsets: bool = False
    delete_emptydir_data: bool = False
    disable_eviction: bool = False
    timeout: int = 0
    grace_seconds: int = -1
    skip_wait_seconds: int = 0
    pod_selector: LabelSelector | None = None
    node_selector: LabelSelector | None = None
    dry_run: str = "none"
    texts: tuple[str, ...] = ()
    """The flags as they were written."""


def parse_flags(items: Sequence[object], path: str) -> DrainFlags:
    """Read flags such as `--timeout=40s`, `--force`, or `--timeout` and `40s` one after the other.

    Raises:
        ScenarioError: E0309, kubectl has no such flag, or its value cannot be read.
    """
    found: dict[str, Any] = {}
    at = 0
    while at < len(items):
        here = f"{path}[{at}]"
        name, given, value = str(items[at]).partition("=")
        at += 1
        if name in _SWITCHES:
            found[_SWITCHES[name]] = _switch(value if given else "true", here)
            continue
        if name not in _VALUES:
            known = ", ".join(sorted([*_SWITCHES, *_VALUES]))
            raise ScenarioError("E0309", f"unknown flag: {name}; known are {known}", here)
        if not given:
            if at == len(items):
                raise ScenarioError("E0309", f"flag needs an argument: {name}", here)
            value, at = str(items[at]), at + 1
        field, read = _VALUES[name]
        if field:
            found[field] = read(value, here)
    return DrainFlags(**found, texts=tuple(str(item) for item in items))


def _switch(value: str, path: str) -> bool:
    if value not in ("true", "false"):
        raise ScenarioError("E0309", f"{value!r} is not true or false", path)
    return value == "true"


def _whole(value: str, path: str) -> int:
    if not value.lstrip("-").isdigit() or len(value) > 10:
        raise ScenarioError("E0309", f"{value!r} is not a whole number", path)
    return int(value)


def _duration(value: str, path: str) -> int:
    try:
        return parse_duration(value, path)
    except ScenarioError as error:
        raise ScenarioError("E0309", error.message, path) from None


def _dry_run(value: str, path: str) -> str:
    if value not in DRY_RUNS:
        raise ScenarioError("E0309", f"{value!r} is not one of {', '.join(DRY_RUNS)}", path)
    return value


def _nothing(_value: str, _path: str) -> None:
    """How the list is fetched makes no difference here."""


_SWITCHES: Final = {
    "--force": "force",
    "--ignore-daemonsets": "ignore_daemonsets",
    "--delete-emptydir-data": "delete_emptydir_data",
    "--disable-eviction": "disable_eviction",
}
_VALUES: Final[dict[str, tuple[str, Callable[[str, str], Any]]]] = {
    "--timeout": ("timeout", _duration),
    "--grace-period": ("grace_seconds", _whole),
    "--skip-wait-for-delete-timeout": ("skip_wait_seconds", _whole),
    "--pod-selector": ("pod_selector", parse_selector_text),
    "--selector": ("node_selector", parse_selector_text),
    "-l": ("node_selector", parse_selector_text),
    "--dry-run": ("dry_run", _dry_run),
    "--chunk-size": ("", _nothing),
}
