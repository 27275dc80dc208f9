"""KubeSchedulerConfiguration: from the manifest to one `Framework` per profile.

Source: pkg/scheduler/apis/config/{types.go,v1/default_plugins.go,validation/validation.go}, v1.36
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.framework.plugin import Handle
from simulations.engine.scheduler.registry import REGISTRY

Document = Mapping[str, Any]
POINTS: Final = (
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind",
    "postBind", "multiPoint",
)  # fmt: skip
_FIELDS: Final = (
    "apiVersion", "kind", "parallelism", "percentageOfNodesToScore", "podInitialBackoffSeconds", "podMaxBackoffSeconds", "profiles",
    "clientConnection", "leaderElection", "enableProfiling", "enableContentionProfiling", "delayCacheUntilActive", "extenders",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """One profile: its scheduler name, the plugins it runs in order with their Score weights, and their arguments."""

    scheduler_name: str = "default-scheduler"
    plugins: tuple[tuple[str, int], ...] = ()
    args: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The plugins' names."""
        return tuple(name for name, _weight in self.plugins)


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """A scheduler process: its profiles, backoff in seconds, the share of Nodes to score, client limits (None: off)."""

    profiles: tuple[ProfileConfig, ...]
    percentage_of_nodes_to_score: int = 0
    initial_backoff_seconds: int = 1
    max_backoff_seconds: int = 10
    qps: float | None = None
    burst: int | None = None

    def frameworks(self, handle_for: "HandleFactory") -> dict[str, Framework]:
        """Build the framework of each profile, by scheduler name.

        Raises:
            ScenarioError: E0403, E0404 with the profile's path.
        """
        return {p.scheduler_name: _build(p, i, handle_for(p)) for i, p in enumerate(self.profiles)}


class HandleFactory:
    """Gives each profile its handle; all share the cache and the gates."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    def __call__(self, _profile: ProfileConfig) -> Handle:
        return Handle(self.handle.cache, self.handle.feature_gates, preempting=self.handle.preempting)


DEFAULT_PROFILE: Final = ProfileConfig(plugins=tuple((name, entry.weight) for name, entry in REGISTRY.items()))
DEFAULT_CONFIG: Final = SchedulerConfig((DEFAULT_PROFILE,))


def _build(profile: ProfileConfig, index: int, handle: Handle) -> Framework:
    plugins = []
    for name, weight in profile.plugins:
        try:
            plugins.append((REGISTRY[name].make(profile.args.get(name, {}), handle), weight))
        except ScenarioError as error:
            raise error.located(prefix=f"profiles[{index}].pluginConfig[{name}].args") from None
    return Framework(profile.scheduler_name, plugins, handle)


def parse_config(document: Document | None) -> SchedulerConfig:
    """Read a KubeSchedulerConfiguration (apiVersion and kind may be missing); None gives the defaults.

    Raises:
        ScenarioError: E0401 to E0404, with the field.
    """
    if not document:
        return DEFAULT_CONFIG
    for name in document:
        if name not in _FIELDS:
            raise ScenarioError("E0401", f"unknown field {name!r}", str(name))
    if document.get("extenders"):
        raise ScenarioError("E0401", "extenders are not modelled", "extenders")
    profiles = document.get("profiles") or [{}]
    if not isinstance(profiles, list):
        raise ScenarioError("E0401", "expected a list", "profiles")
    parsed = tuple(_profile(p, f"profiles[{i}]") for i, p in enumerate(profiles))
    names = [p.scheduler_name for p in parsed]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ScenarioError("E0401", f'Duplicate value: "{name}"', f"profiles[{i}].schedulerName")
    connection = document.get("clientConnection") or {}
    return SchedulerConfig(
        parsed,
        _bounded(document, "percentageOfNodesToScore", 0, 100),
        _bounded(document, "podInitialBackoffSeconds", 1, 2**31),
        _bounded(document, "podMaxBackoffSeconds", 10, 2**31),
        connection.get("qps"),
        connection.get("burst"),
    )


def _bounded(document: Document, name: str, default: int, high: int) -> int:
    value = document.get(name, default)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= high:
        raise ScenarioError("E0404", f"Invalid value: {value!r}: must be an integer from 0 to {high}", name)
    return value


def _profile(document: object, path: str) -> ProfileConfig:
    if not isinstance(document, Mapping):
        raise ScenarioError("E0401", "a profile is a mapping", path)
    for name in document:
        if name not in ("schedulerName", "plugins", "pluginConfig", "percentageOfNodesToScore"):
            raise ScenarioError("E0401", f"unknown field {name!r}", f"{path}.{name}")
    plugins = document.get("plugins") or {}
    if not isinstance(plugins, Mapping):
        raise ScenarioError("E0401", "expected a mapping from extension point to plugins", f"{path}.plugins")
    order = {name: entry.weight for name, entry in REGISTRY.items()}
    for point, lists in plugins.items():
        if point not in POINTS:
            raise ScenarioError("E0401", f"unknown extension point; known are {', '.join(POINTS)}", f"{path}.plugins.{point}")
        order = _applied(order, lists or {}, f"{path}.plugins.{point}", whole=point != "score")
    return ProfileConfig(str(document.get("schedulerName") or "default-scheduler"), tuple(order.items()), _args(document, path))


def _applied(order: dict[str, int], lists: Document, path: str, *, whole: bool) -> dict[str, int]:
    """Take out what is disabled, then put in what is enabled; at Score a disabled plugin keeps its other points (weight -1)."""
    changed = dict(order)
    for i, item in enumerate(lists.get("disabled") or []):
        name = item.get("name")
        for victim in list(changed) if name == "*" else [_known(name, f"{path}.disabled[{i}].name")]:
            if whole:
                changed.pop(victim, None)
            elif victim in changed and REGISTRY[victim].weight:
                changed[victim] = -1
    for i, item in enumerate(lists.get("enabled") or []):
        name = _known(item.get("name"), f"{path}.enabled[{i}].name")
        weight = item.get("weight") or REGISTRY[name].weight
        if isinstance(weight, bool) or not isinstance(weight, int) or weight < 0:
            raise ScenarioError("E0404", f"Invalid value: {weight!r}: must be a positive integer", f"{path}.enabled[{i}].weight")
        changed[name] = weight
    return changed


def _known(name: object, path: str) -> str:
    if not isinstance(name, str) or name not in REGISTRY:
        raise ScenarioError("E0402", f"unknown plugin {name!r}; known are {', '.join(REGISTRY)}", path)
    return name


def _args(document: Document, path: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for i, item in enumerate(document.get("pluginConfig") or []):
        name = _known(item.get("name"), f"{path}.pluginConfig[{i}].name")
        if name in found:
            raise ScenarioError("E0401", f'Duplicate value: "{name}"', f"{path}.pluginConfig[{i}].name")
        found[name] = dict(item.get("args") or {})
    return found
