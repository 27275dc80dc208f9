"""Reads plugin arguments from a KubeSchedulerConfiguration, with upstream's defaults and checks.

Source: pkg/scheduler/apis/config/{v1/defaults.go,validation/validation_pluginargs.go}, v1.36
"""

from typing import Any

from simulations.engine.api.pod_spec import parse_node_affinity, parse_spread_constraint
from simulations.engine.api.scheduling import NodeAffinity, TopologySpreadConstraint
from simulations.engine.kernel.errors import ScenarioError

Document = dict[str, Any]
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


def known_only(args: Document, *names: str) -> None:
    """Refuse arguments that the plugin does not have.

    Raises:
        ScenarioError: E0403.
    """
    for name in args:
        if name not in (*names, "apiVersion", "kind"):
            known = f"known are {', '.join(names)}" if names else "the plugin takes none"
            raise ScenarioError("E0403", f"unknown argument; {known}", str(name))


def _inside(item: Document, path: str, name: str, low: int, high: int) -> int:
    """An integer of a list's item, `low` where it is missing; what is wrong with it is found under `path`."""
    try:
        return integer(item, name, low, low, high)
    except ScenarioError as error:
        raise error.located(prefix=path) from None


def mapping(args: Document, name: str) -> Document:
    """A part of the arguments that is a mapping; empty where it is missing.

    Raises:
        ScenarioError: E0404.
    """
    value = args.get(name)
    if value is not None and not isinstance(value, dict):
        raise ScenarioError("E0404", "expected a mapping", name)
    return value or {}


def texts(args: Document, name: str) -> tuple[str, ...]:
    """A list of texts; empty where it is missing.

    Raises:
        ScenarioError: E0404.
    """
    value = args.get(name) or []
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ScenarioError("E0404", "expected a list of names", name)
    return tuple(value)


def integer(args: Document, name: str, default: int, low: int, high: int) -> int:
    """An integer argument within bounds.

    Raises:
        ScenarioError: E0404.
    """
    value = args.get(name, default)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ScenarioError("E0404", f"Invalid value: {value!r}: must be an integer from {low} to {high}", name)
    return value


def resources(items: object, path: str) -> tuple[tuple[str, int], ...]:
    """(resource, weight) pairs; cpu and memory with weight 1 by default.

    Raises:
        ScenarioError: E0404.
    """
    if not items:
        return (("cpu", 1), ("memory", 1))
    if not isinstance(items, list):
        raise ScenarioError("E0404", "expected a list of resources", path)
    found: list[tuple[str, int]] = []
    for i, item in enumerate(items):
        if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
            raise ScenarioError("E0404", "a resource has a name and a weight", f"{path}[{i}]")
        if any(item["name"] == name for name, _weight in found):
            raise ScenarioError("E0404", f'Duplicate value: "{item["name"]}"', f"{path}[{i}].name")
        found.append((item["name"], _inside(item, f"{path}[{i}]", "weight", 1, 100)))
    return tuple(found)


def scoring_strategy(args: Document) -> tuple[str, tuple[tuple[str, int], ...], tuple[tuple[int, int], ...]]:
    """Type, resources and shape of NodeResourcesFit's strategy.

    Raises:
        ScenarioError: E0403, E0404.
    """
    known_only(args, "scoringStrategy", "ignoredResources", "ignoredResourceGroups")
    strategy = mapping(args, "scoringStrategy")
    try:
        known_only(strategy, "type", "resources", "requestedToCapacityRatio")
    except ScenarioError as error:
        raise error.located(prefix="scoringStrategy") from None
    kind = strategy.get("type") or "LeastAllocated"
    if kind not in _STRATEGIES:
        raise ScenarioError("E0404", f"Unsupported value: {kind!r}: supported: {', '.join(_STRATEGIES)}", "scoringStrategy.type")
    shape = _shape(strategy.get("requestedToCapacityRatio")) if kind == "RequestedToCapacityRatio" else ()
    return kind, resources(strategy.get("resources"), "scoringStrategy.resources"), shape


def _shape(document: object) -> tuple[tuple[int, int], ...]:
    path = "scoringStrategy.requestedToCapacityRatio.shape"
    points = document.get("shape") if isinstance(document, dict) else None
    if not points or not isinstance(points, list):
        raise ScenarioError("E0404", "Required value: at least one point must be specified", path)
    found: list[tuple[int, int]] = []
    for i, point in enumerate(points):
        if not isinstance(point, dict):
            raise ScenarioError("E0404", "a point has a utilization and a score", f"{path}[{i}]")
        utilization = _inside(point, f"{path}[{i}]", "utilization", 0, 100)
        if found and utilization <= found[-1][0]:
            raise ScenarioError("E0404", "utilization values must be sorted in increasing order", f"{path}[{i}].utilization")
        found.append((utilization, _inside(point, f"{path}[{i}]", "score", 0, 10)))
    return tuple(found)


def ignored_resources(args: Document) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ignored resources and groups of NodeResourcesFit.

    Raises:
        ScenarioError: E0404.
    """
    groups = texts(args, "ignoredResourceGroups")
    for i, group in enumerate(groups):
        if "/" in group:
            text = f"Invalid value: {group!r}: resource group name can't contain '/'"
            raise ScenarioError("E0404", text, f"ignoredResourceGroups[{i}]")
    return texts(args, "ignoredResources"), groups


def spread_defaults(args: Document) -> tuple[str, tuple[TopologySpreadConstraint, ...]]:
    """Defaulting type and default constraints of PodTopologySpread.

    Raises:
        ScenarioError: E0403, E0404.
    """
    known_only(args, "defaultingType", "defaultConstraints")
    kind = args.get("defaultingType") or "System"
    constraints = args.get("defaultConstraints") or []
    if kind not in ("System", "List"):
        raise ScenarioError("E0404", f"Unsupported value: {kind!r}: supported: List, System", "defaultingType")
    if kind == "System" and constraints:
        raise ScenarioError("E0404", "when .defaultingType is System, .defaultConstraints must be empty", "defaultConstraints")
    if not isinstance(constraints, list):
        raise ScenarioError("E0404", "expected a list of constraints", "defaultConstraints")
    found: list[TopologySpreadConstraint] = []
    for i, item in enumerate(constraints):
        constraint = _default_constraint(item, f"defaultConstraints[{i}]")
        if any((c.topology_key, c.when_unsatisfiable) == (constraint.topology_key, constraint.when_unsatisfiable) for c in found):
            text = f'Duplicate value: "{{{constraint.topology_key}, {constraint.when_unsatisfiable}}}"'
            raise ScenarioError("E0404", text, f"defaultConstraints[{i}]")
        found.append(constraint)
    return kind, tuple(found)


def _default_constraint(item: object, path: str) -> TopologySpreadConstraint:
    if not isinstance(item, dict):
        raise ScenarioError("E0404", "expected a mapping", path)
    if item.get("labelSelector") is not None:
        text = "Forbidden: constraint must not define a selector, as they deduced for each pod"
        raise ScenarioError("E0404", text, f"{path}.labelSelector")
    if not item.get("topologyKey"):
        raise ScenarioError("E0404", "Required value: can not be empty", f"{path}.topologyKey")
    if item.get("whenUnsatisfiable") not in _UNSATISFIABLE:
        text = f"Unsupported value: {item.get('whenUnsatisfiable')!r}: supported values: {', '.join(_UNSATISFIABLE)}"
        raise ScenarioError("E0404", text, f"{path}.whenUnsatisfiable")
    constraint = parse_spread_constraint(item, path)
    if constraint.max_skew <= 0:
        raise ScenarioError("E0404", f"Invalid value: {constraint.max_skew}: not in valid range (0,inf)", f"{path}.maxSkew")
    return constraint


def inter_pod(args: Document) -> tuple[int, bool]:
    """Hard weight and whether other Pods' preferences are ignored.

    Raises:
        ScenarioError: E0403, E0404.
    """
    known_only(args, "hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods")
    weight = integer(args, "hardPodAffinityWeight", 1, 0, 100)
    ignore = args.get("ignorePreferredTermsOfExistingPods") or False
    if not isinstance(ignore, bool):
        raise ScenarioError("E0404", f"Invalid value: {ignore!r}: must be true or false", "ignorePreferredTermsOfExistingPods")
    return weight, ignore


def preemption(args: Document) -> tuple[int, int]:
    """Candidate percentage and absolute number of DefaultPreemption.

    Raises:
        ScenarioError: E0403, E0404.
    """
    known_only(args, "minCandidateNodesPercentage", "minCandidateNodesAbsolute")
    percentage = integer(args, "minCandidateNodesPercentage", 10, 0, 100)
    absolute = integer(args, "minCandidateNodesAbsolute", 100, 0, 2**31 - 1)
    if not percentage and not absolute:
        text = "both minCandidateNodesPercentage and minCandidateNodesAbsolute cannot be zero"
        raise ScenarioError("E0404", text, "minCandidateNodesPercentage")
    return percentage, absolute


def volume_binding(args: Document) -> int:
    """The time-out of VolumeBinding in seconds.

    Raises:
        ScenarioError: E0403, E0404.
    """
    known_only(args, "bindTimeoutSeconds", "shape")
    if args.get("shape") is not None:
        text = (
            "Invalid value: unexpected field, remove it or turn on the feature gate StorageCapacityScoring, which is not modelled"
        )
        raise ScenarioError("E0404", text, "shape")
    seconds = args.get("bindTimeoutSeconds")
    if isinstance(seconds, int) and not isinstance(seconds, bool) and seconds < 0:
        text = f"Invalid value: {seconds}: invalid BindTimeoutSeconds, should not be a negative value"
        raise ScenarioError("E0404", text, "bindTimeoutSeconds")
    return integer(args, "bindTimeoutSeconds", 600, 0, 2**31 - 1)


def added_affinity(args: Document) -> NodeAffinity | None:
    """The affinity that NodeAffinity adds to every Pod.

    Raises:
        ScenarioError: E0403, E0209.
    """
    known_only(args, "addedAffinity")
    return parse_node_affinity(args.get("addedAffinity"), "addedAffinity")
