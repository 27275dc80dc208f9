"""What a resource would be used on each Node, the Pod included; shared by the scores.

Source: pkg/scheduler/framework/plugins/noderesources/resource_allocation.go, v1.36
"""

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo, is_scalar


def left_out(pod: Pod, resource: str) -> bool:
    """Whether a resource takes no part in the score: a scalar that the Pod does not ask for."""
    return is_scalar(resource) and not pod.spec.requests.get(resource)


def node_usage(pod: Pod, info: NodeInfo, resource: str, *, nonzero: bool) -> tuple[int, int]:
    """(allocatable, requested with the Pod) of a resource on a Node."""
    allocatable = info.node.allocatable.get(resource, 0)
    if nonzero and resource == "cpu":
        return allocatable, info.nonzero_cpu + pod.spec.incoming_cpu
    if nonzero and resource == "memory":
        return allocatable, info.nonzero_memory + pod.spec.incoming_memory
    return allocatable, info.requested.get(resource, 0) + pod.spec.requests.get(resource, 0)


def column_usage(pod: Pod, columns: Columns, rows: Ints, resource: str, *, nonzero: bool) -> tuple[Ints, Ints]:
    """The same for these rows."""
    allocatable: Ints = columns.allocatable(resource)[rows]
    if nonzero and resource == "cpu":
        return allocatable, columns.nonzero_cpu[rows] + pod.spec.incoming_cpu
    if nonzero and resource == "memory":
        return allocatable, columns.nonzero_memory[rows] + pod.spec.incoming_memory
    return allocatable, columns.requested(resource)[rows] + pod.spec.requests.get(resource, 0)
