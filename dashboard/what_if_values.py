"""From changes to the values of the what-if form; what has no field is left for its YAML."""

from typing import Any

from dashboard.forms import FAULTY_CALLS
from simulations.services import WhatIf, write_changes


def form_values(what_if: WhatIf) -> dict[str, Any]:
    """The values of the form's fields that show these changes; `only_in_yaml` holds the rest."""
    values: dict[str, Any] = {
        "add_pods": what_if.add_pods is not None, "add_nodes": what_if.add_nodes is not None,
        "async_preemption": {True: "on", False: "off", None: ""}[what_if.async_preemption],
        "ends": {True: "settled", False: "duration", None: ""}[what_if.until_settled],
        "kubernetes_version": what_if.kubernetes_version, "scoring": what_if.scoring, "preset": what_if.preset,
        "percentage": what_if.percentage_of_nodes_to_score, "qps": what_if.qps, "burst": what_if.burst,
        "api_latency": what_if.api_latency, "kubelet_startup": what_if.kubelet_startup, "kubelet_stop": what_if.kubelet_stop,
        "duration": what_if.duration, "seed": what_if.seed, "only_in_yaml": write_changes(without_fields(what_if)),
    }  # fmt: skip
    pods, nodes = what_if.add_pods, what_if.add_nodes
    if pods is not None:
        for name in ("count", "cpu", "memory", "priority", "priority_class", "name_prefix", "namespace", "at"):
            values[name] = getattr(pods, name)
    if nodes is not None:
        values |= {
            "nodes_count": nodes.count, "nodes_like": nodes.like, "nodes_cpu": nodes.cpu, "nodes_memory": nodes.memory,
            "nodes_prefix": nodes.name_prefix, "nodes_at": nodes.at,
        }  # fmt: skip
    if what_if.nodes:
        first = what_if.nodes[0]
        values |= {"node": first.node, "node_action": first.action, "node_taint": first.taint, "node_at": first.at}
    if what_if.workloads:
        one = what_if.workloads[0]
        values |= {
            "workload": one.workload, "replicas": one.replicas, "workload_cpu": one.cpu, "workload_memory": one.memory,
            "workload_class": one.priority_class, "workload_at": one.at,
        }  # fmt: skip
    if _has_fields(what_if):
        rule = what_if.faults[0]
        between = rule.get("between") or ["", ""]
        values |= {
            "fault": rule["match"], "fault_code": rule["code"], "fault_names": ", ".join(rule.get("names") or ()),
            "fault_from": between[0], "fault_until": between[1],
        }  # fmt: skip
    return values


def _has_fields(what_if: WhatIf) -> bool:
    """Whether the first fault is one that the fields can show."""
    rule = what_if.faults[0] if what_if.faults else {}
    return rule.get("match") in FAULTY_CALLS and "code" in rule and rule.keys() <= {"match", "code", "names", "between"}


def without_fields(what_if: WhatIf) -> WhatIf:
    """The changes that the form has no field for."""
    pods = what_if.add_pods
    labels = pods if pods is not None and pods.labels else None
    return WhatIf(
        add_pods=labels, nodes=what_if.nodes[1:], workloads=what_if.workloads[1:], objects=what_if.objects,
        weights=what_if.weights, faults=what_if.faults[1:] if _has_fields(what_if) else what_if.faults, patch=what_if.patch,
    )  # fmt: skip


def count_without_fields(what_if: WhatIf) -> int:
    """How many changes only the YAML shows."""
    rest = without_fields(what_if)
    lists = (rest.nodes, rest.workloads, rest.objects, rest.weights, rest.faults, rest.patch)
    return sum(len(part) for part in lists) + (1 if rest.add_pods is not None else 0)
