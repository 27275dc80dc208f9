"""The openb trace as a base of runs: which mode, which nodes, how many pods, and whose files."""

from dataclasses import dataclass
from functools import cache

from django.conf import settings

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.importers.openb import MOST_ROWS
from simulations.pipelines.openb import MODES, NODE_FILE, POD_FILE, OpenbTrace, bundled_trace, openb_document, trace_of
from simulations.services import Base

__all__ = ["MODES", "MOST_ROWS", "CsvFile", "Figures", "OpenbRequest", "base_of_openb", "bundled_figures"]


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A file that was uploaded: its name and its bytes."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class OpenbRequest:
    """What to make of the trace; without files it is the one that comes with Schedscope. `pods` are the first ones, None: all."""

    mode: str = MODES[0]
    gpu_nodes_only: bool = False
    pods: int | None = None
    nodes_file: CsvFile | None = None
    pods_file: CsvFile | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """How large a trace is: nodes, those with cards, whole cores, cards, pods."""

    nodes: int
    gpu_nodes: int
    cores: int
    cards: int
    pods: int


@cache
def bundled_figures() -> Figures:
    """The size of the trace that comes with Schedscope."""
    trace = bundled_trace()
    return Figures(
        len(trace.nodes), sum(1 for node in trace.nodes if node.cards), sum(node.cpu_milli for node in trace.nodes) // 1000,
        sum(node.cards for node in trace.nodes), len(trace.pods),
    )  # fmt: skip


def base_of_openb(request: OpenbRequest) -> Base:
    """The trace as a base.

    Raises:
        ScenarioErrors: E0101, a file is over the limit; E0640, one of two files is missing; E0641, no node has cards; or what is wrong
            in the files, with file, line and column.
    """
    trace = _trace(request).cut(gpu_nodes_only=request.gpu_nodes_only, pods=request.pods)
    if not trace.nodes:
        raise ScenarioErrors([ScenarioError("E0641", "no node of the list has cards", "gpu")])
    try:
        document = openb_document(trace, request.mode)
    except ScenarioError as error:
        raise ScenarioErrors([error]) from None
    return Base(f"openb {request.mode}, {len(trace.nodes):,} nodes, {len(trace.pods):,} pods", document)


def _trace(request: OpenbRequest) -> OpenbTrace:
    nodes, pods = request.nodes_file, request.pods_file
    if nodes is None and pods is None:
        return bundled_trace()
    if nodes is None or pods is None:
        missing = NODE_FILE if nodes is None else POD_FILE
        raise ScenarioErrors([ScenarioError("E0640", f"give both files, or neither; {missing} is missing")])
    limit = settings.MAX_UPLOAD_BYTES
    if len(nodes.content) + len(pods.content) > limit:
        raise ScenarioErrors([ScenarioError("E0101", f"the files are over the limit of {limit // 1_000_000} MB")])
    return trace_of(nodes.content, pods.content, (nodes.name, pods.name))
