"""Reads plugin arguments from a KubeSchedulerConfiguration, with upstream's defaults and checks.

Source: pkg/scheduler/apis/config/{v1/defaults.go,validation/validation_pluginargs.go}, v1.36
"""

from typing import Any

from simulations.engine.api.pod_spec import parse_node_affinity, parse_spread_constraint
from simulations.engine.api.scheduling import NodeAffinity, TopologySpreadConstraint
from simulations.engine.kernel.errors import ScenarioError

Document = dict[str, Any]
_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


def known_only(args: Document, *names: str) -> None:
    """Refuse arguments that the plugin does not have.

    Raises:
        ScenarioError: E0403.
    """
    for name in args:
        if name not in (*names, "apiVersion", "kind"):
            raise ScenarioError("E0403", f"unknown argument; known are {', '.join(names)}", name)


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
        found.append((item["name"], integer(item, "weight", 1, 1, 100)))
    return tuple(found)


def scoring_strategy(args: Document) -> tuple[str, tuple[tuple[str, int], ...], tuple[tuple[int, int], ...]]:
    """Type, resources and shape of NodeResourcesFit's strategy.

    Raises:
        ScenarioError: E0403, E0404.
    """
    known_only(args, "scoringStrategy", "ignoredResources", "ignoredResourceGroups")
    strategy = args.get("scoringStrategy") or {}
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
        utilization = integer(point, "utilization", 0, 0, 100)
        if found and utilization <= found[-1][0]:
            raise ScenarioError("E0404", "utilization values must be sorted in increasing order", f"{path}[{i}].utilization")
        found.append((utilization, integer(point, "score", 0, 0, 10)))
    return tuple(found)


def ignored_resources(args: Document) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ignored resources and groups of NodeResourcesFit."""
    return tuple(args.get("ignoredResources") or ()), tuple(args.get("ignoredResourceGroups") or ())


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
    found = []
    for i, item in enumerate(constraints):
        if item.get("labelSelector") is not None:
            text = "Forbidden: constraint must not define a selector, as they deduced for each pod"
            raise ScenarioError("E0404", text, f"defaultConstraints[{i}].labelSelector")
        constraint = parse_spread_constraint(item, f"defaultConstraints[{i}]")
        if constraint.max_skew <= 0:
            text = f"Invalid value: {constraint.max_skew}: must be greater than zero"
            raise ScenarioError("E0404", text, f"defaultConstraints[{i}].maxSkew")
        found.append(constraint)
    return kind, tuple(found)


def inter_pod(args: Document) -> tuple[int, bool]:
    """Hard weight and whether other Pods' preferences are ignored.

    Raises:
        ScenarioError: E0403, E0404.
    """
    known_only(args, "hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods")
    weight = integer(args, "hardPodAffinityWeight", 1, 0, 100)
    return weight, bool(args.get("ignorePreferredTermsOfExistingPods"))


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


def added_affinity(args: Document) -> NodeAffinity | None:
    """The affinity that NodeAffinity adds to every Pod.

    Raises:
        ScenarioError: E0403, E0209.
    """
    known_only(args, "addedAffinity")
    return parse_node_affinity(args.get("addedAffinity"), "addedAffinity")
