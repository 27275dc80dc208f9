"""DeschedulerPolicy v1alpha2: from the document to profiles that can be built; every finding is kept, each with its field.

Source: pkg/api/v1alpha2/types.go; pkg/descheduler/policyconfig.go, validateDeschedulerConfiguration and setDefaults;
pkg/framework/profile/profile.go, NewProfile, descheduler v0.36
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from simulations.engine.api.selectors import LabelSelector
from simulations.engine.descheduler.framework.args import MISSHAPEN, NO_SUCH_ARGUMENT, NOT_ALLOWED, ArgReader
from simulations.engine.descheduler.framework.pod_evictor import NO_LIMITS, Limits
from simulations.engine.descheduler.registry import (
    BALANCE,
    DEFAULT_EVICTOR,
    DESCHEDULE,
    FILTER,
    POINTS,
    PRE_EVICTION_FILTER,
    REGISTRY,
)
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors

API_VERSION: Final = "descheduler/v1alpha2"
KIND: Final = "DeschedulerPolicy"
NO_SUCH_PLUGIN: Final = "E0802"
NO_CONFIG: Final = "E0805"
_POLICY: Final = (
    "profiles", "nodeSelector", "maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace", "maxNoOfPodsToEvictTotal",
    "evictionFailureEventNotification", "metricsCollector", "metricsProviders", "gracePeriodSeconds",
)  # fmt: skip
_SORTING: Final = {"presort": "preSort", "sort": "sort"}
"""Points that can be written and that nothing runs."""
_SPELLINGS: Final = {"preevictionfilter": PRE_EVICTION_FILTER, "preSort": "presort"}
"""How points may be written besides."""
_SOURCES: Final = ("KubernetesMetrics", "Prometheus")
PluginsByPoint = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile: which plugins run at which point, in order, and the arguments of each plugin that is configured."""

    name: str
    points: PluginsByPoint
    args: Mapping[str, Any]

    @property
    def plugins(self) -> tuple[str, ...]:
        """All plugins that are enabled somewhere."""
        return tuple(dict.fromkeys(name for point in POINTS for name in self.points[point]))


@dataclass(frozen=True, slots=True)
class Policy:
    """What a descheduler is to do. `ignored` are fields that are read and change nothing."""

    profiles: tuple[Profile, ...] = ()
    node_selector: LabelSelector | None = None
    limits: Limits = NO_LIMITS
    grace_seconds: int | None = None
    failure_events: bool = False
    ignored: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def priority_classes(self) -> dict[str, str]:
        """The PriorityClasses that thresholds name, by the path of the field."""
        found = {}
        for i, profile in enumerate(self.profiles):
            name = profile.args[DEFAULT_EVICTOR].priority_class
            if name:
                number = [config.get("name") for config in self.document["profiles"][i]["pluginConfig"]].index(DEFAULT_EVICTOR)
                found[f"profiles[{i}].pluginConfig[{number}].args.priorityThreshold.name"] = name
        return found


def parse_policy(document: object, path: str = "") -> Policy:
    """Read a policy.

    Raises:
        ScenarioErrors: E0801 to E0806, all that is wrong, with the field (`path` in front of it).
    """
    findings: list[ScenarioError] = []
    reader = ArgReader(document, path, findings, unknown=MISSHAPEN)
    policy = _policy(reader)
    if findings:
        raise ScenarioErrors(findings)
    return policy


def _policy(reader: ArgReader) -> Policy:
    for name, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if reader.value.get(name, wanted) != wanted:
            reader.wrong(name, f"a policy has {name} {wanted}, not {reader.value[name]!r}", MISSHAPEN)
    reader.only(*_POLICY)
    ignored: list[str] = [name for name in ("metricsCollector", "metricsProviders") if reader.has(name)]
    _metrics(reader)
    profiles = tuple(
        _profile(ArgReader(item, reader.at(f"profiles[{i}]"), reader.findings, unknown=MISSHAPEN), ignored)
        for i, item in enumerate(reader.items("profiles"))
    )
    limits = Limits(*(reader.unsigned(f"maxNoOfPodsToEvict{of}") for of in ("PerNode", "PerNamespace", "Total")))
    return Policy(
        profiles,
        reader.selector_text("nodeSelector"),
        limits,
        reader.integer("gracePeriodSeconds", -(2**63), 2**63 - 1),
        reader.flag("evictionFailureEventNotification"),
        tuple(ignored),
        reader.value,
    )


def _profile(reader: ArgReader, ignored: list[str]) -> Profile:
    reader.only("name", "pluginConfig", "plugins")
    name = reader.text("name")
    args = _configs(reader, name)
    points = _points(reader.sub("plugins"), name, ignored)
    for point in POINTS:
        for plugin in points[point]:
            if plugin not in args and plugin in REGISTRY:
                text = f'unable to build {plugin} plugin: unable to find "{plugin}" plugin config'
                reader.wrong(f"plugins.{point}.enabled", text, NO_CONFIG)
    return Profile(name, points, args)


def _configs(reader: ArgReader, profile: str) -> dict[str, Any]:
    """The arguments by plugin; of two configurations of one plugin the first counts. DefaultEvictor needs none."""
    found: dict[str, Any] = {}
    said = f"in profile {profile}: "
    for i, item in enumerate(reader.items("pluginConfig")):
        entry = ArgReader(item, reader.at(f"pluginConfig[{i}]"), reader.findings, unknown=MISSHAPEN)
        entry.only("name", "args")
        plugin = entry.text("name")
        if plugin not in REGISTRY:
            entry.wrong("name", f"{said}plugin {plugin} in pluginConfig not registered", NO_SUCH_PLUGIN)
            continue
        args = ArgReader(entry.value.get("args"), entry.at("args"), reader.findings, said, NO_SUCH_ARGUMENT)
        found.setdefault(plugin, REGISTRY[plugin].read(args))
    if DEFAULT_EVICTOR not in found:
        found[DEFAULT_EVICTOR] = REGISTRY[DEFAULT_EVICTOR].read(ArgReader(None, "", []))
    return found


def _points(reader: ArgReader, profile: str, ignored: list[str]) -> dict[str, tuple[str, ...]]:
    """The enabled plugins of each point; DefaultEvictor comes first at both filters where it is not enabled."""
    reader.only(*POINTS, *_SORTING, *_SPELLINGS)
    points: dict[str, tuple[str, ...]] = dict.fromkeys(POINTS, ())
    for written in reader.value:
        point = _SPELLINGS.get(written, written)
        part = reader.sub(str(written))
        part.only("enabled", "disabled")
        enabled = part.texts("enabled")
        if part.texts("disabled"):
            ignored.append(part.at("disabled"))
        if point in POINTS:
            points[point] = enabled
            _check(part, profile, point, enabled)
        elif enabled:
            ignored.append(part.at("enabled"))
    for point in (FILTER, PRE_EVICTION_FILTER):
        if DEFAULT_EVICTOR not in points[point]:
            points[point] = (DEFAULT_EVICTOR, *points[point])
    return points


def _check(part: ArgReader, profile: str, point: str, enabled: tuple[str, ...]) -> None:
    wrong = sorted({name for name in enabled if name not in REGISTRY or point not in REGISTRY[name].points})
    if wrong:
        text = f'profile "{profile}" configures {point} extension point of non-existing plugins: {", ".join(wrong)}'
        known = ", ".join(name for name, entry in REGISTRY.items() if point in entry.points)
        part.wrong("enabled", f"{text} (it has {known})", NO_SUCH_PLUGIN)


def _metrics(reader: ArgReader) -> None:
    """Sources of real use: checked as upstream checks them, though nothing here can use them."""
    collector = reader.sub("metricsCollector")
    collector.only("enabled")
    enabled = collector.flag("enabled")
    seen: list[str] = []
    for i, item in enumerate(reader.items("metricsProviders")):
        entry = ArgReader(item, reader.at(f"metricsProviders[{i}]"), reader.findings, unknown=MISSHAPEN)
        entry.only("source", "prometheus")
        source = entry.text("source")
        if source not in _SOURCES:
            entry.wrong("source", f"{source!r} is not one of {', '.join(_SOURCES)}")
        elif source in seen:
            entry.wrong("source", f'metric provider "{source}" is already configured, each source can be configured only once')
        elif source == "KubernetesMetrics" and enabled:
            entry.wrong("source", "it is not allowed to combine metrics provider when metrics collector is enabled")
        seen.append(source)
        if source == "Prometheus":
            _prometheus(entry)


def _prometheus(entry: ArgReader) -> None:
    if not entry.has("prometheus"):
        entry.wrong("prometheus", "prometheus configuration is required when prometheus source is enabled")
        return
    part = entry.sub("prometheus")
    part.only("url", "authToken")
    if not part.text("url"):
        part.wrong("url", "prometheus URL is required when prometheus is enabled")
    if part.has("authToken"):
        token = part.sub("authToken")
        token.only("secretReference")
        secret = token.sub("secretReference")
        secret.only("namespace", "name")
        if not token.has("secretReference"):
            token.wrong("secretReference", "prometheus authToken secret is expected to be set when authToken field is")
        elif not secret.text("namespace") or not secret.text("name"):
            token.wrong("secretReference", "prometheus authToken secret reference does not set both namespace and name")


__all__ = ["BALANCE", "DESCHEDULE", "NOT_ALLOWED", "Policy", "Profile", "parse_policy"]
