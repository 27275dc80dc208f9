"""Scenarios made of the openb trace.

`fill`: every Pod waits when the scheduler starts and is decided once, in the order of the file; none leaves, and one that fits nowhere
is not looked at again. `recorded`: Pods come and go at the times of the trace, 149 days of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError
from simulations.importers.openb import (
    NAMESPACE,
    OpenbNode,
    OpenbPod,
    node_manifest,
    pod_manifest,
    read_nodes,
    read_pods,
)

MODES: Final = ("fill", "recorded")
NODE_FILE: Final = "openb_node_list_all_node.csv"
POD_FILE: Final = "openb_pod_list_default.csv"
_CLASSES: Final = {"openb-high": 1000, "openb-normal": 500, "openb-low": 0}
_LAST_LOOK: Final = 60
_STORIES: Final = {
    "fill": "Every pod of the openb trace, one after the other, until the cluster is full; none leaves.",
    "recorded": "The openb trace at its own times: 149 days in which pods come and go.",
}


@dataclass(frozen=True, slots=True)
class OpenbTrace:
    """The two files, read."""

    nodes: tuple[OpenbNode, ...]
    pods: tuple[OpenbPod, ...]

    def cut(self, *, gpu_nodes_only: bool = False, pods: int | None = None) -> "OpenbTrace":
        """Only Nodes with cards, as the paper has it; only the first Pods of the file."""
        nodes = tuple(node for node in self.nodes if node.cards or not gpu_nodes_only)
        return OpenbTrace(nodes, self.pods if pods is None else self.pods[:pods])


def bundled_trace() -> OpenbTrace:
    """The trace that comes with the samples."""
    folder = files("simulations.samples") / "openb"
    return trace_of((folder / NODE_FILE).read_bytes(), (folder / POD_FILE).read_bytes())


def trace_of(nodes: bytes, pods: bytes, names: tuple[str, str] = (NODE_FILE, POD_FILE)) -> OpenbTrace:
    """Read the two files.

    Raises:
        ScenarioErrors: what is wrong in them, with file, line and column.
    """
    return OpenbTrace(tuple(read_nodes(nodes, names[0])), tuple(read_pods(pods, names[1])))


def openb_document(trace: OpenbTrace, mode: str) -> dict[str, Any]:
    """The scenario of a mode.

    Raises:
        ScenarioError: E0643, there is no such mode.
    """
    if mode not in MODES:
        raise ScenarioError("E0643", f"there is no mode {mode!r}; there are {', '.join(MODES)}", "mode")
    nodes = [node_manifest(node) for node in trace.nodes]
    spec: dict[str, Any] = {"description": _STORIES[mode], "kubernetesVersion": "1.36", "seed": 1, "until": "Settled"}
    spec["controllers"] = []
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    if mode == "fill":
        spec |= _fill([home, *nodes], trace.pods)
    else:
        spec |= _recorded([home, *nodes], trace.pods)
    return {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": f"openb-{mode}"}, "spec": spec}


def _fill(nodes: list[dict[str, Any]], pods: Sequence[OpenbPod]) -> dict[str, Any]:
    """All of one priority, so that nobody preempts and the queue keeps the order of the file."""
    return {"duration": "4h", "initial": [*nodes, *(pod_manifest(pod, priorities=False) for pod in pods)]}


def _recorded(nodes: list[dict[str, Any]], pods: Sequence[OpenbPod]) -> dict[str, Any]:
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    classes = [{**head, "metadata": {"name": name}, "value": value} for name, value in _CLASSES.items()]
    happenings: list[tuple[int, int, dict[str, Any]]] = []
    for row, pod in enumerate(pods):
        manifest = pod_manifest(pod, priorities=True)
        target = {"kind": "Pod", "namespace": manifest["metadata"]["namespace"], "name": pod.name}
        happenings.append((pod.created, row, {"createOperation": {"object": manifest}}))
        happenings.append((pod.deleted, row, {"deleteOperation": target}))
    happenings.sort(key=lambda entry: (entry[0], "deleteOperation" in entry[2], entry[1]))
    operations = [{"at": f"{second}s", **operation} for second, _row, operation in happenings]
    last = happenings[-1][0] if happenings else 0
    return {"duration": f"{last + _LAST_LOOK}s", "initial": [*nodes, *classes], "operations": operations}
