"""Which plugins a profile runs at each extension point: the default set, what is disabled and enabled, in upstream's order.

Source: pkg/scheduler/apis/config/v1/default_plugins.go, mergePlugins; pkg/scheduler/framework/runtime/framework.go,
expandMultiPointPlugins, v1.36
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.scheduler.registry import REGISTRY

Document = Mapping[str, Any]
Weighted = tuple[str, int]
"""A plugin's name and its Score weight; 0 is unset."""

POINTS: Final = (
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind",
    "postBind",
)  # fmt: skip
MULTI_POINT: Final = "multiPoint"
_NEEDS: Final = {
    "filter": ("preFilter", ("NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity")),
    "score": ("preScore", ("TaintToleration", "PodTopologySpread", "InterPodAffinity")),
}
"""Plugins that upstream lets fail every cycle where they run at the first point and not at the second, whose result they read."""
_ALL: Final = "*"


@dataclass(frozen=True, slots=True)
class PluginSet:
    """What a configuration says about one extension point."""

    enabled: tuple[Weighted, ...] = ()
    disabled: tuple[str, ...] = ()


PluginsByPoint = dict[str, tuple[Weighted, ...]]
"""Per extension point the plugins in the order in which they run, with their weights (only Score's matter)."""

DEFAULT_SET: Final[tuple[Weighted, ...]] = tuple((name, entry.weight) for name, entry in REGISTRY.items())


def plugins_by_point(document: Document | None, path: str) -> PluginsByPoint:
    """Work out a profile's plugins from its `plugins` field.

    Raises:
        ScenarioError: E0401, E0402, E0404, with the field.
    """
    sets = _plugin_sets(document or {}, path)
    everywhere = _merged(DEFAULT_SET, sets.get(MULTI_POINT, PluginSet()))
    points = {point: _at_point(point, everywhere, sets.get(point, PluginSet()), f"{path}.{point}") for point in POINTS}
    _check_pairs(points, path)
    return points


def _plugin_sets(document: Document, path: str) -> dict[str, PluginSet]:
    if not isinstance(document, Mapping):
        raise ScenarioError("E0401", "expected a mapping from extension point to plugins", path)
    sets = {}
    for point, lists in document.items():
        if point not in (*POINTS, MULTI_POINT):
            known = ", ".join((*POINTS, MULTI_POINT))
            raise ScenarioError("E0401", f"unknown extension point; known are {known}", f"{path}.{point}")
        sets[point] = _plugin_set(lists or {}, f"{path}.{point}")
    return sets


def _plugin_set(lists: object, path: str) -> PluginSet:
    if not isinstance(lists, Mapping) or any(key not in ("enabled", "disabled") for key in lists):
        raise ScenarioError("E0401", "an extension point has lists enabled and disabled", path)
    enabled = [_enabled(item, f"{path}.enabled[{i}]") for i, item in enumerate(_items(lists, "enabled", path))]
    for i, (name, _weight) in enumerate(enabled):
        if any(name == other for other, _ in enabled[:i]):
            raise ScenarioError("E0401", f'Duplicate value: "{name}"', f"{path}.enabled[{i}].name")
    disabled = [
        item["name"] if item.get("name") == _ALL else known_plugin(item.get("name"), f"{path}.disabled[{i}].name")
        for i, item in enumerate(_items(lists, "disabled", path))
    ]
    return PluginSet(tuple(enabled), tuple(disabled))


def _items(lists: Document, name: str, path: str) -> list[Document]:
    items = lists.get(name) or []
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise ScenarioError("E0401", "expected a list of plugins", f"{path}.{name}")
    return items


def _enabled(item: Document, path: str) -> Weighted:
    name = known_plugin(item.get("name"), f"{path}.name")
    weight = item.get("weight") or 0
    if isinstance(weight, bool) or not isinstance(weight, int) or not 0 <= weight < 2**31:
        raise ScenarioError("E0404", f"Invalid value: {weight!r}: must be a positive integer", f"{path}.weight")
    return name, weight


def known_plugin(name: object, path: str) -> str:
    """The name, if it is a plugin's.

    Raises:
        ScenarioError: E0402.
    """
    if not isinstance(name, str) or name not in REGISTRY:
        raise ScenarioError("E0402", f"unknown plugin {name!r}; known are {', '.join(REGISTRY)}", path)
    return name


def _merged(defaults: tuple[Weighted, ...], custom: PluginSet) -> tuple[Weighted, ...]:
    """Defaults that are not disabled, each in its place with the weight that was asked for; then the rest of what is enabled."""
    asked = dict(custom.enabled)
    kept: list[Weighted] = []
    if _ALL not in custom.disabled:
        kept = [(name, asked.get(name, weight)) for name, weight in defaults if name not in custom.disabled]
    names = [name for name, _weight in kept]
    return (*kept, *((name, weight) for name, weight in custom.enabled if name not in names))


def _at_point(point: str, everywhere: tuple[Weighted, ...], custom: PluginSet, path: str) -> tuple[Weighted, ...]:
    """Plugins that override their multiPoint entry first, then the multiPoint ones, then those that stand only here."""
    for i, (name, _weight) in enumerate(custom.enabled):
        if point not in REGISTRY[name].points:
            raise ScenarioError("E0401", f"plugin {name} does not extend this point", f"{path}.enabled[{i}].name")
    own = dict(custom.enabled)
    candidates: list[Weighted] = []
    if _ALL not in custom.disabled:
        candidates = [(n, w) for n, w in everywhere if point in REGISTRY[n].points and n not in custom.disabled]
    general = [name for name, _weight in candidates]
    overriding = [(name, weight) for name, weight in custom.enabled if name in general]
    multi = [(name, weight) for name, weight in candidates if name not in own]
    rest = [(name, weight) for name, weight in custom.enabled if name not in general]
    return tuple((name, weight or 1) for name, weight in (*overriding, *multi, *rest))


def _check_pairs(points: PluginsByPoint, path: str) -> None:
    for point, (before, readers) in _NEEDS.items():
        prepared = [name for name, _weight in points[before]]
        for name, _weight in points[point]:
            if name in readers and name not in prepared:
                raise ScenarioError("E0401", f"{name} runs at {point} and needs {before} too", f"{path}.{before}")
