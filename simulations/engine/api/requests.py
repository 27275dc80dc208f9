"""The effective resource request of a Pod.

Source: staging/src/k8s.io/component-helpers/resource/helpers.go, PodRequests; pkg/scheduler/util/pod_resources.go;
pkg/apis/core/v1/defaults.go, v1.36
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.api.quantity import parse_quantity, resource_value
from simulations.engine.kernel.errors import ScenarioError

NANO_MILLICPU: Final = 10**6
DEFAULT_CPU: Final = 100 * NANO_MILLICPU
"""What scoring counts for a container without a cpu request: 100m, in nano units."""
DEFAULT_MEMORY: Final = 200 * 1024 * 1024 * 10**9
"""What scoring counts for a container without a memory request: 200Mi, in nano units."""

Amounts = dict[str, int]


@dataclass(frozen=True, slots=True)
class EffectiveRequest:
    """`requests` by resource in the scheduler's integers without zeros; the non-zero cpu (milli) and memory (bytes) for scoring.

    What scoring counts differs for a Pod with pod-level requests: `nonzero_*` is what it counts once it is on a Node, `incoming_*`
    (containers alone) what it counts while it is being scheduled.
    """

    requests: dict[str, int]
    nonzero_cpu: int
    nonzero_memory: int
    incoming_cpu: int
    incoming_memory: int


def container_requests(container: Mapping[str, Any], path: str) -> Amounts:
    """The requests of a container in nano units, limits taken where a request is missing.

    Raises:
        ScenarioError: E0206 to E0208.
    """
    return _with_limits(container.get("resources") or {}, f"{path}.resources")


def _with_limits(resources: Mapping[str, Any], path: str) -> Amounts:
    if not isinstance(resources, Mapping):
        raise ScenarioError("E0213", "resources is a mapping with requests and limits", path)
    amounts = _amounts(resources.get("limits"), f"{path}.limits")
    amounts.update(_amounts(resources.get("requests"), f"{path}.requests"))
    return amounts


def _amounts(items: object, path: str) -> Amounts:
    if items is None:
        return {}
    if not isinstance(items, Mapping):
        raise ScenarioError("E0213", "expected a mapping from resource to quantity", path)
    amounts: Amounts = {}
    for resource, value in items.items():
        nanos = parse_quantity(value, f"{path}[{resource}]")
        if nanos < 0:
            text = f'Invalid value: "{value}": must be greater than or equal to 0'
            raise ScenarioError("E0207", text, f"{path}[{resource}]")
        amounts[str(resource)] = nanos
    return amounts


def _add(total: Amounts, more: Amounts) -> None:
    for resource, amount in more.items():
        total[resource] = total.get(resource, 0) + amount


def _raise_to(total: Amounts, other: Amounts) -> None:
    for resource, amount in other.items():
        if amount > total.get(resource, 0):
            total[resource] = amount


def _aggregate(regular: list[Amounts], initial: list[tuple[Amounts, bool]]) -> Amounts:
    """Sum regular containers, then let init containers and sidecars raise it."""
    total: Amounts = {}
    for amounts in regular:
        _add(total, amounts)
    sidecars: Amounts = {}
    init_max: Amounts = {}
    for amounts, restartable in initial:
        if restartable:
            _add(sidecars, amounts)
            _add(total, amounts)
            _raise_to(init_max, sidecars)
        else:
            at_that_time = dict(sidecars)
            _add(at_that_time, amounts)
            _raise_to(init_max, at_that_time)
    _raise_to(total, init_max)
    return total


def _nonzero(amounts: Amounts, asked: Amounts) -> Amounts:
    filled = dict(amounts)
    for resource, default in (("cpu", DEFAULT_CPU), ("memory", DEFAULT_MEMORY)):
        if resource not in filled and resource not in asked:
            filled[resource] = default
    return filled


def _pod_level(spec: Mapping[str, Any], path: str, containers: Amounts) -> Amounts:
    resources = spec.get("resources")
    if not resources:
        return {}
    if not isinstance(resources, Mapping):
        raise ScenarioError("E0213", "resources is a mapping with requests and limits", path)
    level = _amounts(resources.get("requests"), f"{path}.requests")
    for resource, limit in _amounts(resources.get("limits"), f"{path}.limits").items():
        if resource not in level:
            level[resource] = containers.get(resource, limit)
    return {r: a for r, a in level.items() if r in ("cpu", "memory") or r.startswith("hugepages-")}


def effective_request(spec: Mapping[str, Any], path: str = "spec") -> EffectiveRequest:
    """Work out the effective request of a Pod spec.

    Raises:
        ScenarioError: E0206 to E0208 and E0213, with the field.
    """
    regular = [container_requests(c, f"{path}.containers[{i}]") for i, c in enumerate(spec.get("containers") or [])]
    initial = [
        (container_requests(c, f"{path}.initContainers[{i}]"), c.get("restartPolicy") == "Always")
        for i, c in enumerate(spec.get("initContainers") or [])
    ]
    total = _aggregate(regular, initial)
    level = _pod_level(spec, f"{path}.resources", total)
    overhead = _amounts(spec.get("overhead"), f"{path}.overhead")
    asked = {**total, **level} if level else {}  # with pod-level requests a default stands for what nobody asks for
    shown = _aggregate([_nonzero(a, asked) for a in regular], [(_nonzero(a, asked), r) for a, r in initial])
    plain = _aggregate([_nonzero(a, {}) for a in regular], [(_nonzero(a, {}), r) for a, r in initial])
    for amounts in (total, shown):
        amounts.update(level)
    for amounts in (total, shown, plain):
        _add(amounts, overhead)
    requests = {resource: resource_value(resource, nanos) for resource, nanos in total.items() if nanos}
    scoring = [resource_value(r, amounts.get(r, 0)) for amounts in (shown, plain) for r in ("cpu", "memory")]
    return EffectiveRequest(requests, *scoring)
