"""KubeSchedulerConfiguration: from the manifest to one `Framework` per profile.

Source: pkg/scheduler/apis/config/{types.go,validation/validation.go}, v1.36
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.framework.plugin import Handle
from simulations.engine.scheduler.profiles import PluginsByPoint, known_plugin, plugins_by_point
from simulations.engine.scheduler.registry import REGISTRY

Document = Mapping[str, Any]
API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
KIND: Final = "KubeSchedulerConfiguration"
_IGNORED: Final = ("parallelism", "leaderElection", "enableProfiling", "enableContentionProfiling", "delayCacheUntilActive")
"""Fields that change how fast or how safely a real process runs, not what it decides."""
_FIELDS: Final = (
    "apiVersion", "kind", "percentageOfNodesToScore", "podInitialBackoffSeconds", "podMaxBackoffSeconds", "profiles",
    "clientConnection", "extenders", *_IGNORED,
)  # fmt: skip
_CONNECTION: Final = ("qps", "burst", "kubeconfig", "contentType", "acceptContentTypes")
_PROFILE_FIELDS: Final = ("schedulerName", "plugins", "pluginConfig", "percentageOfNodesToScore")


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """One profile: its scheduler name, the plugins of each extension point, their arguments, the share of Nodes to score."""

    scheduler_name: str = "default-scheduler"
    points: PluginsByPoint = field(default_factory=lambda: plugins_by_point(None, "plugins"))
    args: dict[str, dict[str, Any]] = field(default_factory=dict)
    percentage_of_nodes_to_score: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all plugins that run at some point, in the default order."""
        used = {name for plugins in self.points.values() for name, _weight in plugins}
        return tuple(name for name in REGISTRY if name in used)


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """A scheduler process: its profiles, backoff in seconds, client limits (None: off); `ignored` are fields that were read in vain."""

    profiles: tuple[ProfileConfig, ...]
    initial_backoff_seconds: int = 1
    max_backoff_seconds: int = 10
    qps: float | None = None
    burst: int | None = None
    ignored: tuple[str, ...] = ()

    def frameworks(self, handle: Handle) -> dict[str, Framework]:
        """Build the framework of each profile, by scheduler name; all share what the handle gives.

        Raises:
            ScenarioError: E0403, E0404 with the argument's path.
        """
        return {p.scheduler_name: _build(p, f"profiles[{i}]", handle) for i, p in enumerate(self.profiles)}


def _build(profile: ProfileConfig, path: str, handle: Handle) -> Framework:
    plugins = {}
    for name in profile.names:
        try:
            plugins[name] = REGISTRY[name].make(profile.args.get(name, {}), handle)
        except ScenarioError as error:
            raise error.located(prefix=f"{path}.pluginConfig[{name}].args") from None
    points = {point: [(plugins[name], weight) for name, weight in listed] for point, listed in profile.points.items()}
    return Framework(profile.scheduler_name, points, handle, profile.percentage_of_nodes_to_score)


DEFAULT_CONFIG: Final = SchedulerConfig((ProfileConfig(),))


def parse_config(document: Document | None) -> SchedulerConfig:
    """Read a KubeSchedulerConfiguration (apiVersion and kind may be missing); None gives the defaults.

    Raises:
        ScenarioError: E0401 to E0404, with the field.
    """
    if not document:
        return DEFAULT_CONFIG
    _check_fields(document)
    percentage = _percentage(document, 0)
    profiles = document.get("profiles") or [{}]
    if not isinstance(profiles, list):
        raise ScenarioError("E0401", "expected a list", "profiles")
    usual = "default-scheduler" if len(profiles) == 1 else ""
    parsed = tuple(_profile(p, f"profiles[{i}]", percentage, usual) for i, p in enumerate(profiles))
    _check_profiles(parsed)
    initial = _bounded(document, "podInitialBackoffSeconds", 1, 1, 2**31, "must be greater than 0")
    _bounded(document, "parallelism", 16, 1, 2**31, "should be an integer value greater than zero")
    connection = _connection(document)
    ignored = tuple(name for name in _IGNORED if name in document)
    maximum = _maximum_backoff(document, initial)
    config = SchedulerConfig(parsed, initial, maximum, connection.get("qps"), connection.get("burst"), ignored)
    config.frameworks(Handle(SchedulerCache()))  # arguments are wrong before the run, not in it
    return config


def _percentage(document: Document, default: int) -> int:
    return _bounded(document, "percentageOfNodesToScore", default, 0, 100, "not in valid range [0-100]")


def _connection(document: Document) -> Document:
    connection = document.get("clientConnection") or {}
    if not isinstance(connection, Mapping):
        raise ScenarioError("E0401", "expected a mapping with qps and burst", "clientConnection")
    for name, value in connection.items():
        if name not in _CONNECTION:
            raise ScenarioError("E0401", f"unknown field {name!r}", f"clientConnection.{name}")
        if name in ("qps", "burst") and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ScenarioError("E0404", f"Invalid value: {value!r}: must be a number", f"clientConnection.{name}")
    return connection


def _check_fields(document: Document) -> None:
    for name in document:
        if name not in _FIELDS:
            raise ScenarioError("E0401", f"unknown field {name!r}", str(name))
    for name, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if document.get(name, wanted) != wanted:
            raise ScenarioError("E0401", f"a scheduler configuration has {name} {wanted}, not {document[name]!r}", name)
    if document.get("extenders"):
        raise ScenarioError("E0401", "extenders are not modelled", "extenders")


def _maximum_backoff(document: Document, initial: int) -> int:
    """0 switches backoff off; upstream allows it although it is below the initial one."""
    maximum = _bounded(document, "podMaxBackoffSeconds", 10, 0, 2**31)
    if 0 < maximum < initial:
        text = f"Invalid value: {maximum}: must be greater than or equal to PodInitialBackoffSeconds"
        raise ScenarioError("E0404", text, "podMaxBackoffSeconds")
    return maximum


def _bounded(document: Document, name: str, default: int, *limits: Any) -> int:
    """An integer from low to high; `limits` are those two and upstream's words for what is wrong."""
    low, high, *words = limits
    value = document.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        said = words[0] if words else f"must be an integer from {low} to {high}"
        raise ScenarioError("E0404", f"Invalid value: {value!r}: {said}", name)
    return value


def _check_profiles(profiles: tuple[ProfileConfig, ...]) -> None:
    for i, profile in enumerate(profiles):
        if any(profile.scheduler_name == other.scheduler_name for other in profiles[:i]):
            raise ScenarioError("E0401", f'Duplicate value: "{profile.scheduler_name}"', f"profiles[{i}].schedulerName")
        for point in ("queueSort", "bind"):
            if not profile.points[point]:
                path = f"profiles[{i}].plugins.{point}"
                raise ScenarioError("E0401", f"Required value: at least one plugin must be enabled at {point}", path)


def _profile(document: object, path: str, percentage: int, usual: str) -> ProfileConfig:
    """One profile; `usual` is its scheduler name where it gives none, which only a profile that is alone may do."""
    if not isinstance(document, Mapping):
        raise ScenarioError("E0401", "a profile is a mapping with schedulerName, plugins, pluginConfig", path)
    for name in document:
        if name not in _PROFILE_FIELDS:
            raise ScenarioError("E0401", f"unknown field {name!r}", f"{path}.{name}")
    try:
        own = _percentage(document, percentage)
    except ScenarioError as error:
        raise error.located(prefix=path) from None
    name = document.get("schedulerName") or usual
    if not name or not isinstance(name, str):
        raise ScenarioError("E0401", "Required value", f"{path}.schedulerName")
    points = plugins_by_point(document.get("plugins"), f"{path}.plugins")
    return ProfileConfig(name, points, _args(document, path), own)


def _args(document: Document, path: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    items = document.get("pluginConfig") or []
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise ScenarioError("E0401", "expected a list of {name, args}", f"{path}.pluginConfig")
    for i, item in enumerate(items):
        name = known_plugin(item.get("name"), f"{path}.pluginConfig[{i}].name")
        if name in found:
            raise ScenarioError("E0401", f'Duplicate value: "{name}"', f"{path}.pluginConfig[{i}].name")
        args = item.get("args") or {}
        if not isinstance(args, Mapping):
            raise ScenarioError("E0401", "expected a mapping", f"{path}.pluginConfig[{i}].args")
        found[name] = dict(args)
    return found
