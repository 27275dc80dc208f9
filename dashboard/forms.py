"""Forms. Limits are those of the engine; a wrong value comes back at its field, with its code."""

import uuid
from typing import Any

from django import forms

from simulations.services import MAX_ADDED_PODS, MAX_PACE, AddPods, Base, RunRequest, ScenarioErrors, WhatIf

FIELD_OF_PATH = {
    "addPods.count": "count",
    "addPods.namePrefix": "name_prefix",
    "addPods.namespace": "namespace",
    "addPods.cpu": "cpu",
    "addPods.memory": "memory",
    "addPods.priority": "priority",
    "addPods.priorityClass": "priority_class",
    "addPods.at": "at",
    "apiLatency": "api_latency",
    "seed": "seed",
    "duration": "duration",
    "pace": "pace",
}


def new_token() -> str:
    """One submit of a form, one job: the form carries this."""
    return uuid.uuid4().hex


class WhatIfForm(forms.Form):
    """Changes to a base; what is left empty stays as the base has it."""

    name = forms.CharField(required=False, max_length=200, label="Name of the run")
    add_pods = forms.BooleanField(required=False, initial=True, label="Add pods")
    count = forms.IntegerField(required=False, initial=20, label="How many", help_text=f"1 to {MAX_ADDED_PODS:,}")
    cpu = forms.CharField(required=False, initial="3", label="CPU request", help_text="500m, 3")
    memory = forms.CharField(required=False, initial="1Gi", label="Memory request", help_text="512Mi, 2Gi; empty: none")
    priority = forms.IntegerField(required=False, initial=100000, label="Priority", help_text="higher preempts lower")
    priority_class = forms.ChoiceField(required=False, label="or a priority class")
    name_prefix = forms.CharField(required=False, initial="urgent", label="Name prefix")
    namespace = forms.CharField(required=False, initial="default", label="Namespace")
    at = forms.CharField(required=False, initial="5s", label="At", help_text="after T+0: 200ms, 5s, 1m")
    async_preemption = forms.ChoiceField(
        required=False,
        label="Asynchronous preemption",
        choices=[("", "as in the base"), ("on", "on (KEP-4832)"), ("off", "off: the loop waits")],
    )
    api_latency = forms.CharField(required=False, label="API latency", help_text="of every call: 5ms, 200ms; empty: as in the base")
    duration = forms.CharField(required=False, label="Duration", help_text="60s, 5m; empty: as in the base")
    seed = forms.IntegerField(required=False, label="Seed", help_text="same scenario and seed, same trace")
    pace = forms.FloatField(
        required=False,
        initial=0,
        label="Pace",
        help_text=f"simulated seconds per second, 0 = as fast as it goes, at most {MAX_PACE:,.0f}",
    )
    token = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    POD_FIELDS = ("count", "cpu", "memory", "priority", "priority_class", "name_prefix", "namespace", "at")
    RUN_FIELDS = ("async_preemption", "api_latency", "duration", "seed", "pace", "name")

    def __init__(self, *args: Any, base: Base | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.base = base
        names = _classes(base)
        field = self.fields["priority_class"]
        assert isinstance(field, forms.ChoiceField), "declared above"
        field.choices = [("", "<none>"), *((n, f"{n} ({v})") for n, v in names)]
        self.initial.setdefault("token", new_token())
        for field_name, bound in self.fields.items():
            bound.widget.attrs.setdefault("autocomplete", "off")
            if bound.help_text:
                bound.widget.attrs["aria-describedby"] = f"help-{field_name}"

    @property
    def pod_fields(self) -> list[forms.BoundField]:
        """The fields about added pods."""
        return [self[name] for name in self.POD_FIELDS]

    @property
    def run_fields(self) -> list[forms.BoundField]:
        """The fields about scheduler, API and run."""
        return [self[name] for name in self.RUN_FIELDS]

    def request(self) -> RunRequest:
        """The run that a valid form asks for."""
        data = self.cleaned_data
        choice = data.get("async_preemption")
        what_if = WhatIf(
            add_pods=self._pods() if data.get("add_pods") else None,
            async_preemption={"on": True, "off": False}.get(choice or ""),
            api_latency=data.get("api_latency") or "",
            seed=data.get("seed"),
            duration=data.get("duration") or "",
        )
        return RunRequest(what_if, data.get("name") or "", data.get("pace") or 0.0, data.get("token") or None)

    def _pods(self) -> AddPods:
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
            at=data.get("at") or default.at,
        )

    def add_scenario_errors(self, errors: ScenarioErrors) -> None:
        """Put each finding at its field."""
        for error in errors.errors:
            name = FIELD_OF_PATH.get(error.path)
            self.add_error(name, f"{error.code}: {error.message}" if name else f"{error.code}: {error.path}: {error.message}")


def _classes(base: Base | None) -> list[tuple[str, int]]:
    if base is None:
        return []
    initial = (base.document.get("spec") or base.document).get("initial") or []
    objects = [*base.objects, *initial]
    found = {o["metadata"]["name"]: int(o.get("value") or 0) for o in objects if o.get("kind") == "PriorityClass"}
    return sorted(found.items(), key=lambda item: -item[1])
