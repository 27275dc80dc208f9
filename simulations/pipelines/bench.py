"""Benchmark scenarios: the shapes that upstream's scheduler_perf made known.

Source: test/integration/scheduler_perf, v1.36; the sizes of Nodes and Pods are those of docs/benchmarks.md
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from simulations.analysis.loop import LoopFold
from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.kernel.trace import Record
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from simulations.engine.trace_format import encode
from simulations.pipelines.collector import few_collections

Document = dict[str, Any]
EXECUTORS: Final = ("async", "sync")
PREEMPTING: Final = ("preempt", "async")
"""Shapes with preemptions; only with these does the executor matter."""
ZONES: Final = ("zone-a", "zone-b", "zone-c")
NO_LIMITS: Final = {"profiles": [{"schedulerName": "default-scheduler"}], "clientConnection": {"qps": -1}}


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a benchmark is; shapes read what they need."""

    nodes: int = 100
    pods: int = 1000
    low: int = 400
    high: int = 100


@dataclass(slots=True)
class Measured:
    """What was counted: Pods bound after T+0 and the clock at the first and the last of them, records and bytes of the trace."""

    bound: int = 0
    first: float = 0.0
    last: float = 0.0
    records: int = 0
    trace_bytes: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """From the first binding to the last."""
        return self.last - self.first


def _node(zone: str) -> Document:
    amounts = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"labels": {"topology.kubernetes.io/zone": zone}},
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _pod(cpu: str, memory: str = "500Mi", *, app: str = "bench", **spec: Any) -> Document:
    container = {"name": "main", "image": "registry.example/pause:3", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "default", "labels": {"app": app}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }


def _generate(count: int, prefix: str, manifest: Document) -> list[Document]:
    return [{"count": count, "namePrefix": prefix, "object": manifest}] if count else []


def _nodes(number: int) -> list[Document]:
    found = []
    for i, zone in enumerate(ZONES):
        found += _generate(number // 3 + (1 if i < number % 3 else 0), f"node-{zone}-", _node(zone))
    return found


def _classes() -> list[Document]:
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return [{**head, "metadata": {"name": name}, "value": value} for name, value in (("low", 0), ("high", 10_000))]


def _low_pods(sizes: Sizes) -> list[Document]:
    """Four to a Node, bound and running."""
    found: list[Document] = []
    names = [
        f"node-{zone}-{i}" for z, zone in enumerate(ZONES) for i in range(sizes.nodes // 3 + (1 if z < sizes.nodes % 3 else 0))
    ]
    manifest = _pod("900m", app="low", priorityClassName="low")
    status = {"phase": "Running", "startTime": "2025-12-31T00:00:00Z"}
    for i in range(sizes.low):
        spec = {**manifest["spec"], "nodeName": names[i % len(names)]}
        found.append({**manifest, "metadata": {**manifest["metadata"], "name": f"low-{i}"}, "spec": spec, "status": status})
    return found


def _basic(sizes: Sizes) -> Document:
    return {"generate": [*_nodes(sizes.nodes), *_generate(sizes.pods, "pod-", _pod("100m"))]}


def _spread(sizes: Sizes) -> Document:
    constraint = {
        "maxSkew": 5,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "bench"}},
    }
    return {
        "generate": [*_nodes(sizes.nodes), *_generate(sizes.pods, "pod-", _pod("100m", topologySpreadConstraints=[constraint]))]
    }


def _preempt(sizes: Sizes) -> Document:
    high = _pod("3000m", app="high", priorityClassName="high")
    return {
        "generate": [*_nodes(sizes.nodes), *_generate(sizes.high, "high-", high)],
        "initial": [*_classes(), *_low_pods(sizes)],
    }


def _async(sizes: Sizes) -> Document:
    high = _pod("3000m", app="high", priorityClassName="high")
    small = _pod("100m", app="small")
    operations: list[Document] = []
    for i in range(sizes.high):
        named = {**high, "metadata": {**high["metadata"], "name": f"high-{i}"}}
        operations.append({"at": f"{200 * (i + 1)}ms", "createOperation": {"object": named}})
    for i in range(sizes.pods):
        named = {**small, "metadata": {**small["metadata"], "name": f"small-{i}"}}
        operations.append({"at": f"{20 * (i + 1)}ms", "createOperation": {"object": named}})
    return {"generate": _nodes(sizes.nodes), "initial": [*_classes(), *_low_pods(sizes)], "operations": operations}


def _unschedulable(sizes: Sizes) -> Document:
    tenth = max(1, sizes.pods // 10)
    return {
        "generate": [*_nodes(sizes.nodes), *_generate(tenth, "large-", _pod("9")), *_generate(sizes.pods, "pod-", _pod("100m"))]
    }


def _churn(sizes: Sizes) -> Document:
    """A Node, a Pod and a Service come and go every second meanwhile."""
    operations: list[Document] = []
    for second in range(1, 60):
        node = {**_node(ZONES[0]), "metadata": {"name": f"churn-{second}", "labels": {}}}
        pod = _pod("9", app="churn")
        pod["metadata"] = {**pod["metadata"], "name": f"churn-{second}"}
        service: Document = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": f"churn-{second}"},
            "spec": {"selector": {"app": "none"}},
        }
        for kind, manifest in (("Node", node), ("Pod", pod), ("Service", service)):
            operations.append({"at": f"{second}s", "createOperation": {"object": manifest}})
            operations.append({"at": f"{second}.5s", "deleteOperation": {"kind": kind, "name": f"churn-{second}"}})
    return {"generate": [*_nodes(sizes.nodes), *_generate(sizes.pods, "pod-", _pod("100m"))], "operations": operations}


SHAPES: Final[dict[str, Callable[[Sizes], Document]]] = {
    "basic": _basic,
    "spread": _spread,
    "preempt": _preempt,
    "async": _async,
    "unschedulable": _unschedulable,
    "churn": _churn,
}


def bench_document(name: str, sizes: Sizes) -> Document:
    """The scenario of a shape.

    Raises:
        ScenarioError: E0630, there is no such shape.
    """
    shape = SHAPES.get(name)
    if shape is None:
        raise ScenarioError("E0630", f"there is no benchmark {name!r}; there are {', '.join(SHAPES)}", "name")
    spec = {"schedulers": [NO_LIMITS], "controllers": [], "until": "Settled", "duration": "2h", **shape(sizes)}
    return {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": f"bench-{name}"}, "spec": spec}


def with_executor(document: Document, executor: str) -> Document:
    """The scenario with the asynchronous (`async`) or the synchronous (`sync`) executor of preemptions."""
    gates = {"SchedulerAsyncPreemption": executor == "async"}
    return {**document, "spec": {**document["spec"], "featureGates": gates}}


def measure(document: Document, clock: Callable[[], float], loop: LoopFold | None = None) -> Measured:
    """Run the scenario, make its whole trace and drop it; `clock` gives real seconds, `loop` is fed the records if there is one."""
    measured = Measured()

    def on_records(records: list[Record]) -> None:
        measured.records += len(records)
        for record in records:
            measured.trace_bytes += len(encode(record))
            if loop is not None:
                loop.feed(record)

    def on_time(_now: int) -> None:
        bound = simulation.schedulers[0].bound if simulation.schedulers else 0
        if bound > measured.bound:
            measured.last = clock()
            measured.first = measured.first or measured.last
            measured.bound = bound

    simulation = Simulation(parse_scenario(document), on_records=on_records)
    with few_collections():
        measured.counts = simulation.run(on_progress=on_time).counts
    return measured
