"""Forms. Limits are those of the engine; a wrong value comes back at its field, with its code.

The what-if form and its YAML say the same: what one shows can be written in the other. Changes that have no field (a second node, labels,
faults, patches) live in the YAML alone and are counted beside the form.
"""

import uuid
from dataclasses import replace
from typing import Any, Final

from django import forms

from simulations.services import (
    MAX_ADDED_NODES,
    MAX_ADDED_PODS,
    MAX_PACE,
    NODE_ACTIONS,
    PRESETS,
    SCORING,
    AddNodes,
    AddPods,
    Base,
    NodeChange,
    RunRequest,
    ScenarioErrors,
    WhatIf,
    WorkloadChange,
    inside,
    read_changes,
)

FIELD_OF_PATH: Final = {
    "addPods.count": "count", "addPods.namePrefix": "name_prefix", "addPods.namespace": "namespace", "addPods.cpu": "cpu",
    "addPods.memory": "memory", "addPods.priority": "priority", "addPods.priorityClass": "priority_class", "addPods.at": "at",
    "addNodes.count": "nodes_count", "addNodes.like": "nodes_like", "addNodes.namePrefix": "nodes_prefix", "addNodes.cpu": "nodes_cpu",
    "addNodes.memory": "nodes_memory", "addNodes.at": "nodes_at", "nodes[0].node": "node", "nodes[0].action": "node_action",
    "nodes[0].taint": "node_taint", "nodes[0].at": "node_at", "workloads[0].workload": "workload", "workloads[0]": "workload",
    "workloads[0].replicas": "replicas", "workloads[0].cpu": "workload_cpu", "workloads[0].memory": "workload_memory",
    "workloads[0].priorityClass": "workload_class", "workloads[0].at": "workload_at", "apiLatency": "api_latency",
    "kubeletStartup": "kubelet_startup", "kubeletStop": "kubelet_stop", "percentageOfNodesToScore": "percentage", "qps": "qps",
    "burst": "burst", "seed": "seed", "duration": "duration", "pace": "pace", "scoring": "scoring", "preset": "preset",
    "kubernetesVersion": "kubernetes_version", "asyncPreemption": "async_preemption", "untilSettled": "ends", "addPods": "count",
    "addNodes": "nodes_count", "nodes[0]": "node", "faults[0]": "fault", "faults[0].match": "fault", "faults[0].code": "fault_code",
    "faults[0].names": "fault_names", "faults[0].between": "fault_from",
}  # fmt: skip
AS_IN_BASE: Final = [("", "as in the base")]
VERSIONS: Final = ("1.33", "1.34", "1.35", "1.36")
FAULTY_CALLS: Final = (
    "delete pods",
    "create pods",
    "create pods/binding",
    "create pods/eviction",
    "patch pods/status",
    "create events",
)
QUIET: Final = ("node_action", "pace", "name", "fault_code", "fault_until")
"""Fields that say nothing by themselves."""
POD_FIELDS: Final = ("add_pods", "count", "cpu", "memory", "priority", "priority_class", "name_prefix", "namespace", "at")


def new_token() -> str:
    """One submit of a form, one job: the form carries this."""
    return uuid.uuid4().hex


def _text(label: str, hint: str = "", initial: str = "") -> forms.CharField:
    return forms.CharField(required=False, label=label, help_text=hint, initial=initial, max_length=200)


def _choice(label: str, choices: list[tuple[str, str]], hint: str = "") -> forms.ChoiceField:
    return forms.ChoiceField(required=False, label=label, choices=choices, help_text=hint)


def _unchanged(field: forms.Field) -> str:
    """The value of a field that nobody touched."""
    if isinstance(field, forms.ChoiceField) and field.initial is None:
        return str(next(iter(field.widget.choices))[0])
    return "" if field.initial is None else str(field.initial)


class WhatIfForm(forms.Form):
    """Changes to a base; what is left empty stays as the base has it."""

    name = _text("Name of the run")
    add_pods = forms.BooleanField(required=False, initial=True, label="Add pods")
    count = forms.IntegerField(required=False, initial=20, label="How many", help_text=f"1 to {MAX_ADDED_PODS:,}")
    cpu = _text("CPU request", "500m, 3", "3")
    memory = _text("Memory request", "512Mi, 2Gi; empty: none", "1Gi")
    priority = forms.IntegerField(required=False, initial=100000, label="Priority", help_text="higher preempts lower")
    priority_class = forms.ChoiceField(required=False, label="or a priority class")
    name_prefix = _text("Name prefix", "", "urgent")
    namespace = _text("Namespace", "", "default")
    at = _text("At", "after T+0: 200ms, 5s, 1m", "5s")
    add_nodes = forms.BooleanField(required=False, label="Add nodes")
    nodes_count = forms.IntegerField(required=False, initial=1, label="How many nodes", help_text=f"1 to {MAX_ADDED_NODES:,}")
    nodes_like = _choice("Like the node", [("", "the first one")], "its labels, taints and amounts")
    nodes_cpu = _text("Node CPU", "allocatable; empty: as that node")
    nodes_memory = _text("Node memory", "allocatable; empty: as that node")
    nodes_prefix = _text("Node name prefix", "", "extra")
    nodes_at = _text("Nodes come at", "after T+0", "5s")
    node = _choice("Node", [("", "none")])
    node_action = _choice("What happens", [(action, action) for action in NODE_ACTIONS], "fail: its kubelet falls silent")
    node_taint = _text("Taint", "for taint: key=value:NoSchedule")
    node_at = _text("It happens at", "after T+0", "5s")
    workload = _choice("Workload", [("", "none")])
    replicas = forms.IntegerField(required=False, label="Replicas", help_text="empty: as they are")
    workload_cpu = _text("New CPU request", "of its first container")
    workload_memory = _text("New memory request", "of its first container")
    workload_class = forms.ChoiceField(required=False, label="New priority class")
    workload_at = _text("It changes at", "after T+0", "5s")
    async_preemption = _choice("Asynchronous preemption", [*AS_IN_BASE, ("on", "on (KEP-4832)"), ("off", "off: the loop waits")])
    kubernetes_version = _choice("Kubernetes version", [*AS_IN_BASE, *((v, v) for v in VERSIONS)], "when nominations are cleared")
    scoring = _choice("Scoring", [*AS_IN_BASE, *((name, name) for name in SCORING)], "spread out, or pack")
    percentage = forms.IntegerField(required=False, label="Nodes to score", help_text="percent; 0: the scheduler decides")
    qps = forms.FloatField(required=False, label="Calls a second", help_text="50 by default; -1: no limit")
    burst = forms.IntegerField(required=False, label="Burst", help_text="100 by default")
    api_latency = _text("API latency", "of every call: 5ms, 200ms")
    preset = _choice("Costs", [*AS_IN_BASE, *((name, name) for name in PRESETS)], "what calls and cycles take")
    kubelet_startup = _text("Kubelet start", "from bound to Running: 1s")
    kubelet_stop = _text("Kubelet stop", "from deletion to gone: 2s")
    fault = _choice("Calls that are refused", [("", "none"), *((call, call) for call in FAULTY_CALLS)], "verb and resource")
    fault_code = forms.IntegerField(required=False, initial=500, label="Answer", help_text="400 to 599: 422, 429, 500")
    fault_names = _text("Of these objects", "names with commas; empty: all")
    fault_from = _text("From", "after T+0; empty: always")
    fault_until = _text("Until", "after T+0", "60s")
    duration = _text("Duration", "60s, 5m")
    ends = _choice("Ends", [*AS_IN_BASE, ("settled", "when settled"), ("duration", "at its duration")])
    seed = forms.IntegerField(required=False, label="Seed", help_text="same scenario and seed, same trace")
    pace = forms.FloatField(
        required=False, initial=0, label="Pace",
        help_text=f"simulated seconds per second, 0 = as fast as it goes, at most {MAX_PACE:,.0f}",
    )  # fmt: skip
    token = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    only_in_yaml = forms.CharField(required=False, widget=forms.HiddenInput)

    SECTIONS: Final = (
        ("Add pods", "add_pods", POD_FIELDS[1:]),
        ("Add nodes", "add_nodes", ("nodes_count", "nodes_like", "nodes_cpu", "nodes_memory", "nodes_prefix", "nodes_at")),
        ("Change a node", "", ("node", "node_action", "node_taint", "node_at")),
        ("Change a workload", "", ("workload", "replicas", "workload_cpu", "workload_memory", "workload_class", "workload_at")),
        ("Scheduler", "", ("async_preemption", "kubernetes_version", "scoring", "percentage", "qps", "burst")),
        ("API server and kubelets", "", ("api_latency", "preset", "kubelet_startup", "kubelet_stop")),
        ("Faults of the API server", "", ("fault", "fault_code", "fault_names", "fault_from", "fault_until")),
        ("Run", "", ("duration", "ends", "seed", "pace", "name")),
    )

    def __init__(self, *args: Any, base: Base | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.base = base
        found = inside(base) if base is not None else None
        classes = [("", "<none>"), *((n, f"{n} ({v})") for n, v in (found.classes if found else ()))]
        nodes = [(n, n) for n in (found.nodes if found else ())]
        workloads = [(w, w) for w in (found.workloads if found else ())]
        for name, first, choices in (
            ("priority_class", [], classes), ("workload_class", [], classes), ("nodes_like", [("", "the first one")], nodes),
            ("node", [("", "none")], nodes), ("workload", [("", "none")], workloads),
        ):  # fmt: skip
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField), "declared above"
            field.choices = [*first, *choices]
        self.initial.setdefault("token", new_token())
        if self.initial.keys() - {"token"} and not self.initial.keys() & set(POD_FIELDS):
            self.initial["add_pods"] = False  # a link that asks for something else adds no pods besides
        for field_name, bound in self.fields.items():
            bound.widget.attrs.setdefault("autocomplete", "off")
            bound.widget.attrs["data-initial"] = _unchanged(bound)
            if bound.help_text:
                bound.widget.attrs["aria-describedby"] = f"help-{field_name}"

    @property
    def sections(self) -> list[dict[str, Any]]:
        """The parts of the form: title, switch, fields, and whether the part is open (it says something)."""
        found = []
        for title, switch, names in self.SECTIONS:
            fields = [self[name] for name in names]
            told = bool(self[switch].value()) if switch else any(self._told(self[name]) for name in names)
            found.append(
                {"title": title, "switch": self[switch] if switch else None, "fields": fields, "open": told or title == "Run"}
            )
        return found

    @staticmethod
    def _told(field: forms.BoundField) -> bool:
        return field.value() not in (None, "", field.field.initial) and field.name not in QUIET

    # ---- what it asks for

    def what_if(self) -> WhatIf:
        """The changes that a valid form asks for, with those that have no field.

        Raises:
            ScenarioErrors: the part that is only in YAML does not read.
        """
        data = self.cleaned_data
        rest = read_changes(data.get("only_in_yaml") or "")
        switch = {"on": True, "off": False}.get(data.get("async_preemption") or "")
        return replace(
            rest,
            add_pods=self._pods(rest.add_pods) if data.get("add_pods") else None,
            add_nodes=self._nodes() if data.get("add_nodes") else None,
            nodes=(*self._node(), *rest.nodes),
            workloads=(*self._workload(), *rest.workloads),
            faults=(*self._fault(), *rest.faults),
            async_preemption=switch,
            kubernetes_version=data.get("kubernetes_version") or "",
            percentage_of_nodes_to_score=data.get("percentage"),
            scoring=data.get("scoring") or "",
            qps=data.get("qps"),
            burst=data.get("burst"),
            api_latency=data.get("api_latency") or "",
            preset=data.get("preset") or "",
            kubelet_startup=data.get("kubelet_startup") or "",
            kubelet_stop=data.get("kubelet_stop") or "",
            seed=data.get("seed"),
            duration=data.get("duration") or "",
            until_settled={"settled": True, "duration": False}.get(data.get("ends") or ""),
        )

    def request(self, what_if: WhatIf | None = None) -> RunRequest:
        """The run that a valid form asks for."""
        data = self.cleaned_data
        changes = self.what_if() if what_if is None else what_if
        return RunRequest(changes, data.get("name") or "", data.get("pace") or 0.0, data.get("token") or None)

    def _pods(self, rest: AddPods | None) -> AddPods:
        data = self.cleaned_data
        named = data.get("priority_class") or ""
        default = AddPods()
        return AddPods(
            count=default.count if data.get("count") is None else data["count"],
            name_prefix=data.get("name_prefix") or default.name_prefix,
            namespace=data.get("namespace") or default.namespace,
            cpu=data.get("cpu") or "",
            memory=data.get("memory") or "",
            priority=None if named else data.get("priority"),
            priority_class=named,
            labels=rest.labels if rest is not None else {},
            at=data.get("at") or default.at,
        )

    def _nodes(self) -> AddNodes:
        data, default = self.cleaned_data, AddNodes()
        return AddNodes(
            count=default.count if data.get("nodes_count") is None else data["nodes_count"],
            like=data.get("nodes_like") or "",
            name_prefix=data.get("nodes_prefix") or default.name_prefix,
            cpu=data.get("nodes_cpu") or "",
            memory=data.get("nodes_memory") or "",
            at=data.get("nodes_at") or default.at,
        )

    def _node(self) -> tuple[NodeChange, ...]:
        data = self.cleaned_data
        if not data.get("node"):
            return ()
        action = data.get("node_action") or NODE_ACTIONS[0]
        return (NodeChange(data["node"], action, data.get("node_taint") or "", data.get("node_at") or "5s"),)

    def _workload(self) -> tuple[WorkloadChange, ...]:
        data = self.cleaned_data
        if not data.get("workload"):
            return ()
        return (
            WorkloadChange(
                data["workload"], data.get("replicas"), data.get("workload_cpu") or "", data.get("workload_memory") or "",
                data.get("workload_class") or "", data.get("workload_at") or "5s",
            ),
        )  # fmt: skip

    def _fault(self) -> tuple[dict[str, Any], ...]:
        data = self.cleaned_data
        if not data.get("fault"):
            return ()
        rule: dict[str, Any] = {"match": data["fault"], "code": 500 if data.get("fault_code") is None else data["fault_code"]}
        names = [name.strip() for name in (data.get("fault_names") or "").split(",") if name.strip()]
        if names:
            rule["names"] = names
        if data.get("fault_from"):
            rule["between"] = [data["fault_from"], data.get("fault_until") or "60s"]
        return (rule,)

    def add_scenario_errors(self, errors: ScenarioErrors) -> None:
        """Put each finding at its field."""
        for error in errors.errors:
            name = FIELD_OF_PATH.get(error.path)
            self.add_error(name, f"{error.code}: {error.message}" if name else f"{error.code}: {error.path}: {error.message}")
