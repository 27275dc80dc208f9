"""What a namespace asks of the objects in it: that it exists, its limit ranges, its quotas.

Source: plugin/pkg/admission/{namespace/lifecycle,limitranger,resourcequota}, pkg/quota/v1/evaluator/core/pods.go, v1.36
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from simulations.engine.api.pod import Pod
from simulations.engine.api.quantity import parse_quantity
from simulations.engine.api.workloads import LimitRange, ResourceQuota
from simulations.engine.cluster import refusals
from simulations.engine.cluster.answers import Answer

if TYPE_CHECKING:
    from simulations.engine.cluster.api_server import ApiServer
    from simulations.engine.cluster.client import Call

CLUSTER_SCOPED: Final = frozenset({"Node", "Namespace", "PersistentVolume", "StorageClass", "PriorityClass"})
_NANO: Final = 10**9
Document = Mapping[str, Any]


def closed(api: "ApiServer", call: "Call", kind: str, namespace: str) -> Answer | None:
    """404 for an object of a namespace that is not there, 403 for one that is being deleted."""
    if kind in CLUSTER_SCOPED:
        return None
    found = api.get("Namespace", "", namespace)
    if found is None:
        return Answer(404, "NotFound", f'namespaces "{namespace}" not found')
    if not found.terminating:
        return None
    return refusals.forbidden(call, kind, f"unable to create new content in namespace {namespace} because it is being terminated")


# ---- limit ranges


def with_limits(api: "ApiServer", document: Document, namespace: str) -> tuple[Document, str]:
    """A Pod with the defaults of its namespace's limit ranges, and why it is forbidden (empty: it is not)."""
    ranges: list[LimitRange] = [item for item in api.list("LimitRange") if item.namespace == namespace]
    if not ranges:
        return document, ""
    spec = dict(document.get("spec") or {})
    containers = [_defaulted(container, ranges) for container in spec.get("containers") or [] if isinstance(container, Mapping)]
    found = [text for container in containers for text in _violations(container, ranges)]
    text = found[0] if len(found) == 1 else f"[{', '.join(found)}]"
    return {**document, "spec": {**spec, "containers": containers}}, text if found else ""


def _defaulted(container: Document, ranges: list[LimitRange]) -> Document:
    resources = dict(container.get("resources") or {})
    limits, requests = dict(resources.get("limits") or {}), dict(resources.get("requests") or {})
    for item in (one for found in ranges for one in found.containers):
        own = set(limits)
        for resource, amount in (item.get("default") or {}).items():
            limits.setdefault(resource, amount)
        for resource, amount in (item.get("defaultRequest") or {}).items():
            if resource not in own:
                requests.setdefault(resource, amount)
    return {
        **container,
        "resources": {**resources, **({"limits": limits} if limits else {}), **({"requests": requests} if requests else {})},
    }


def _violations(container: Document, ranges: list[LimitRange]) -> list[str]:
    resources = container.get("resources") or {}
    limits = resources.get("limits") or {}
    requests = {**limits, **(resources.get("requests") or {})}
    found = []
    for item in (one for each in ranges for one in each.containers):
        for resource, least in (item.get("min") or {}).items():
            if resource not in requests:
                found.append(f"minimum {resource} usage per Container is {least}.  No request is specified")
            elif parse_quantity(requests[resource]) < parse_quantity(least):
                found.append(f"minimum {resource} usage per Container is {least}, but request is {requests[resource]}")
        for resource, most in (item.get("max") or {}).items():
            if resource not in limits:
                found.append(f"maximum {resource} usage per Container is {most}.  No limit is specified")
            elif parse_quantity(limits[resource]) > parse_quantity(most):
                found.append(f"maximum {resource} usage per Container is {most}, but limit is {limits[resource]}")
    return found


# ---- quotas


def over_quota(api: "ApiServer", document: Document, namespace: str) -> str:
    """Why a quota forbids the Pod; empty when none does."""
    quotas: list[ResourceQuota] = [item for item in api.list("ResourceQuota") if item.namespace == namespace and item.hard]
    if not quotas:
        return ""
    asked = usage(document.get("spec") or {})
    pods: list[Pod] = [pod for pod in api.list("Pod") if pod.namespace == namespace and not pod.terminal]
    for quota in quotas:
        unset = [name for name in quota.hard if _is_compute(name) and name not in asked]
        if unset:
            return f"failed quota: {quota.name}: must specify {','.join(f'{name} for: main' for name in sorted(unset))}"
        used = {name: sum(usage(pod.spec.raw).get(name, 0) for pod in pods) for name in quota.hard}
        over = [name for name in sorted(quota.hard) if asked.get(name, 0) and used[name] + asked[name] > quota.hard[name]]
        if over:
            sums = ((",".join(f"{name}={_text(amounts.get(name, 0))}" for name in over)) for amounts in (asked, used, quota.hard))
            return "exceeded quota: {}, requested: {}, used: {}, limited: {}".format(quota.name, *sums)
    return ""


def _is_compute(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith(("requests.", "limits."))


def usage(spec: Document) -> dict[str, int]:
    """What a Pod counts for in quotas, in nano units, under all the names that a quota may use."""
    found = {"pods": _NANO, "count/pods": _NANO}
    for container in spec.get("containers") or []:
        resources = container.get("resources") or {}
        limits = resources.get("limits") or {}
        for resource, amount in {**limits, **(resources.get("requests") or {})}.items():
            for name in (f"requests.{resource}", *((resource,) if resource in ("cpu", "memory") else ())):
                found[name] = found.get(name, 0) + parse_quantity(amount)
        for resource, amount in limits.items():
            found[f"limits.{resource}"] = found.get(f"limits.{resource}", 0) + parse_quantity(amount)
    return found


def _text(nanos: int) -> str:
    """An amount as messages show it: whole, or in thousandths."""
    return str(nanos // _NANO) if nanos % _NANO == 0 else f"{nanos // 10**6}m"
