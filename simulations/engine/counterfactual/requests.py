"""A Pod's spec with a smaller request: what its containers ask for is cut until the whole Pod asks for no more than a value."""

import copy
from typing import Any, Final

from simulations.engine.api.quantity import format_quantity, parse_quantity, resource_value
from simulations.engine.api.requests import container_requests, effective_request
from simulations.engine.counterfactual.model import Spec

OVERCOMMITTED: Final = ("cpu", "memory", "ephemeral-storage")
"""The resources whose limit may be above the request."""


def with_request(spec: Spec, resource: str, value: int) -> dict[str, Any] | None:
    """The spec in which the Pod requests at most `value` (the scheduler's integer) of the resource; None: its overhead alone is more.

    The containers that ask for most are cut first; an init container is cut to what is left. Explicit zeros keep limits from counting.
    """
    changed = copy.deepcopy(dict(spec))
    room = value - resource_value(resource, parse_quantity((spec.get("overhead") or {}).get(resource, 0)))
    if room < 0:
        return None
    level = changed.get("resources") or {}
    if resource in (level.get("requests") or {}) or resource in (level.get("limits") or {}):
        level["requests"] = {**(level.get("requests") or {}), resource: format_quantity(resource, room)}
    _cut(changed.get("containers") or [], resource, room)
    for container in changed.get("initContainers") or []:
        if _of(container, resource) > room:
            _set(container, resource, room)
    return changed if effective_request(changed).requests.get(resource, 0) <= value else None


def _cut(containers: list[Any], resource: str, room: int) -> None:
    too_much = sum(_of(container, resource) for container in containers) - room
    for container in sorted(containers, key=lambda c: -_of(c, resource)):
        if too_much <= 0:
            return
        own = _of(container, resource)
        cut = min(own, too_much)
        _set(container, resource, own - cut)
        too_much -= cut


def _of(container: Any, resource: str) -> int:
    return resource_value(resource, container_requests(container, "containers").get(resource, 0))


def _set(container: Any, resource: str, amount: int) -> None:
    resources = container["resources"] = dict(container.get("resources") or {})
    resources["requests"] = {**(resources.get("requests") or {}), resource: format_quantity(resource, amount)}
    if resource in (resources.get("limits") or {}) and resource not in OVERCOMMITTED:
        resources["limits"] = {**resources["limits"], resource: format_quantity(resource, amount)}
