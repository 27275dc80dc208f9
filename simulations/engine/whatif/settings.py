"""Changes from the command line: `--set key=value`."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.whatif.fields import NODES, PODS, TOP, WORKLOAD_CHANGE, Reader, integer, snake
from simulations.engine.whatif.model import AddNodes, AddPods, NodeChange, WhatIf, WorkloadChange


class _Settings:
    """What the pairs have said so far."""

    def __init__(self) -> None:
        self.top: dict[str, Any] = {}
        self.pods: dict[str, Any] = {}
        self.nodes: dict[str, Any] = {}
        self.befalls: list[NodeChange] = []
        self.workloads: dict[str, dict[str, Any]] = {}
        self.weights: dict[str, int] = {}

    def take(self, key: str, value: str) -> None:
        """Take in one pair.

        Raises:
            ScenarioError: E0702, E0703.
        """
        head, dot, rest = key.partition(".")
        group = snake(head)
        if group == "node" and dot:
            action, at, when = value.partition("@")
            kind, colon, taint = action.partition(":")
            self.befalls.append(NodeChange(rest, kind, taint if colon else "", when if at else "5s"))
        elif group == "workload" and dot:
            name, _dot, field = rest.rpartition(".")
            self._read(snake(field), value, WORKLOAD_CHANGE, self.workloads.setdefault(name, {}), key)
        elif group == "weights" and dot:
            self._read(rest, value, {rest: integer}, self.weights, key)
        elif group == "add_pods" and rest.startswith("labels."):
            self.pods.setdefault("labels", {})[rest.removeprefix("labels.")] = value
        elif group in ("add_pods", "add_nodes") and dot:
            table, target = (PODS, self.pods) if group == "add_pods" else (NODES, self.nodes)
            self._read(snake(rest), value, table, target, key)
        else:
            self._read(snake(key), value, TOP, self.top, key)

    @staticmethod
    def _read(name: str, value: str, table: dict[str, Reader], target: dict[str, Any], key: str) -> None:
        reader = table.get(name)
        if reader is None:
            raise ScenarioError("E0702", f"there is no setting {key!r}; there are: {', '.join(known_settings())}", "--set")
        try:
            target[name] = reader(value)
        except ValueError as error:
            raise ScenarioError("E0703", f"{value!r}: {error}", key) from error

    def what_if(self) -> WhatIf:
        """All of it."""
        found = WhatIf(**self.top, nodes=tuple(self.befalls), weights=self.weights)
        found = replace(found, workloads=tuple(WorkloadChange(name, **values) for name, values in self.workloads.items()))
        if self.pods:
            found = replace(found, add_pods=AddPods(**self.pods))
        return replace(found, add_nodes=AddNodes(**self.nodes)) if self.nodes else found


def known_settings() -> list[str]:
    """The keys that `--set` knows."""
    return [
        *TOP, *(f"add_pods.{name}" for name in PODS), "add_pods.labels.KEY", *(f"add_nodes.{name}" for name in NODES),
        "node.NAME=ACTION[:TAINT][@TIME]", *(f"workload.KIND/NAMESPACE/NAME.{name}" for name in WORKLOAD_CHANGE if name != "workload"),
        "weights.PLUGIN",
    ]  # fmt: skip


def parse_settings(settings: Iterable[str]) -> WhatIf:
    """Return the changes that `key=value` pairs ask for; keys as in the form, `addPods.cpu` or `add_pods.cpu`.

    Raises:
        ScenarioErrors: a pair has no `=`, its key is unknown, or its value is not of the right type.
    """
    found = _Settings()
    errors: list[ScenarioError] = []
    for setting in settings:
        key, equals, value = setting.partition("=")
        try:
            if not equals:
                raise ScenarioError("E0701", f"{setting!r} is not key=value", "--set")
            found.take(key.strip(), value.strip())
        except ScenarioError as error:
            errors.append(error)
    if errors:
        raise ScenarioErrors(errors)
    return found.what_if()
