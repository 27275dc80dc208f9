"""The objects that are there before anything happens."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from simulations.engine.api.labels import intern_labels
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.workloads import Namespace
from simulations.engine.cluster.admission import with_runtime_class
from simulations.engine.cluster.api_server import RESOURCES, ApiServer, kind_of, state_of
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors

SETUP: Final = "setup"
"""The actor of the initial objects."""


def load(api: ApiServer, documents: Iterable[Mapping[str, Any]]) -> None:
    """Store the initial objects as they are, status included: priority classes and Namespaces first, the rest in their order.

    Raises:
        ScenarioErrors: an object cannot be read.
    """
    ordered = sorted(documents, key=lambda d: {"PriorityClass": 0, "Namespace": 1, "RuntimeClass": 2}.get(str(d.get("kind")), 3))
    errors = []
    for document in ordered:
        try:
            item = api.insert(api.decode(_with_overhead(api, document)))
        except ScenarioError as error:
            name = (document.get("metadata") or {}).get("name")
            errors.append(error.located(prefix=f"{document.get('kind')} {name}"))
            continue
        data: dict[str, Any] = {"object": dict(document)}
        if isinstance(item, Node):
            data["row"] = api.next_row()
        if isinstance(item, Pod):
            data["requests"] = item.spec.requests
        data["after"] = state_of(item)
        api.trace.add(
            api.loop.now, SETUP, "create", resource=RESOURCES[kind_of(item)], namespace=item.namespace, name=item.name, uid=item.uid,
            code=201, data=data,
        )  # fmt: skip
    if errors:
        raise ScenarioErrors(errors)
    _add_namespaces(api)


def _with_overhead(api: ApiServer, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A bare Pod of the start gets its RuntimeClass's overhead, where the class is there; one of a dump has it."""
    spec = document.get("spec")
    if document.get("kind") != "Pod" or not isinstance(spec, Mapping) or not spec.get("runtimeClassName") or spec.get("overhead"):
        return document
    changed, forbidden = with_runtime_class(spec, api.get("RuntimeClass", "", str(spec["runtimeClassName"])))
    return document if forbidden else {**document, "spec": changed}


def _add_namespaces(api: ApiServer) -> None:
    """Every Namespace in use exists, with the one label that each has."""
    there = [item.namespace for kind in RESOURCES for item in api.list(kind) if item.namespace]
    used = dict.fromkeys(["default", "kube-system", "kube-public", "kube-node-lease", *there])
    for name in used:
        if api.get("Namespace", "", name) is None:
            api.insert(Namespace(name=name, labels=intern_labels({"kubernetes.io/metadata.name": name})))
