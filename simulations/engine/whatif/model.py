"""The changes that a what-if makes to its base; what is None or empty stays as the base has it.

One class per part of the form. Times are durations after T+0 as people write them (`200ms`, `5s`, `1h`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MAX_ADDED_PODS: Final = 20_000
MAX_ADDED_NODES: Final = 5_000
MAX_PACE: Final = 10_000.0
NODE_ACTIONS: Final = ("cordon", "uncordon", "delete", "fail", "recover", "taint")
SCORING: Final = ("LeastAllocated", "MostAllocated")
PRESETS: Final = ("lab", "production")


@dataclass(frozen=True, slots=True)
class AddPods:
    """Pods that a user creates, all alike but for their names.

    Attributes:
        count: how many, 1 to 20,000.
        name_prefix: names are the prefix, a dash and a number padded with zeros.
        namespace: where they are created.
        cpu, memory: requests of their one container, as Kubernetes writes them (`500m`, `1Gi`); empty: none.
        priority: a plain number. A class of that value that may preempt is used, else one is made.
        priority_class: the name of a class that the base has; not together with `priority`.
        labels: their labels.
        at: when, after T+0.
    """

    count: int = 20
    name_prefix: str = "urgent"
    namespace: str = "default"
    cpu: str = "500m"
    memory: str = ""
    priority: int | None = None
    priority_class: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    at: str = "5s"


@dataclass(frozen=True, slots=True)
class AddNodes:
    """Nodes that come, shaped like one of the base.

    Attributes:
        count: how many, 1 to 5,000.
        like: the Node whose labels, taints and amounts they have; empty: the first one.
        name_prefix: names are the prefix, a dash and a number.
        cpu, memory: allocatable instead of that Node's.
        at: when.
    """

    count: int = 1
    like: str = ""
    name_prefix: str = "extra"
    cpu: str = ""
    memory: str = ""
    at: str = "5s"


@dataclass(frozen=True, slots=True)
class NodeChange:
    """Something that befalls a Node: one of `NODE_ACTIONS`; `taint` as kubectl writes it, `key=value:Effect`."""

    node: str
    action: str = "cordon"
    taint: str = ""
    at: str = "5s"


@dataclass(frozen=True, slots=True)
class WorkloadChange:
    """A workload that is changed while it runs, as `kubectl scale` and `kubectl set resources` do.

    Attributes:
        workload: `Kind/namespace/name`.
        replicas: how many; None: as they are.
        cpu, memory: requests of the first container.
        priority_class: of its Pods.
        at: when.
    """

    workload: str
    replicas: int | None = None
    cpu: str = ""
    memory: str = ""
    priority_class: str = ""
    at: str = "5s"


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object that is written differently, or deleted.

    Attributes:
        object: `Kind/namespace/name`, or `Kind/name` where there are no namespaces.
        patch: a JSON merge patch on its manifest; a whole manifest of an object that is not there adds it.
        delete: delete it instead.
        at: when; empty: a patch holds from the start, as if it had been written so; a deletion happens at T+0.
    """

    object: str
    patch: Mapping[str, Any] = field(default_factory=dict)
    delete: bool = False
    at: str = ""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The changes to a base.

    Attributes:
        add_pods, add_nodes: what is created.
        nodes, workloads: what is done to those that are there.
        objects: any others, by their manifests.
        async_preemption: the feature gate SchedulerAsyncPreemption.
        kubernetes_version: whose rules for nominations hold (`1.33`).
        percentage_of_nodes_to_score, scoring, weights, qps, burst: of the first scheduler; `weights` of Score plugins by name.
        api_latency: what each call to the API server costs.
        preset: of costs.
        kubelet_startup, kubelet_stop: how long Pods take.
        faults: rules as in a scenario.
        seed, duration, until_settled: of the run.
        patch: a JSON merge patch on the scenario's spec, for everything else.
    """

    add_pods: AddPods | None = None
    add_nodes: AddNodes | None = None
    nodes: tuple[NodeChange, ...] = ()
    workloads: tuple[WorkloadChange, ...] = ()
    objects: tuple[ObjectChange, ...] = ()
    async_preemption: bool | None = None
    kubernetes_version: str = ""
    percentage_of_nodes_to_score: int | None = None
    scoring: str = ""
    weights: Mapping[str, int] = field(default_factory=dict)
    qps: float | None = None
    burst: int | None = None
    api_latency: str = ""
    preset: str = ""
    kubelet_startup: str = ""
    kubelet_stop: str = ""
    faults: tuple[Mapping[str, Any], ...] = ()
    seed: int | None = None
    duration: str = ""
    until_settled: bool | None = None
    patch: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference from the base, for people: `requests of new pods: cpu 3`."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A new document and what is different in it."""

    document: dict[str, Any]
    changes: tuple[Change, ...]
