"""What a namespace asks of the objects in it: that it exists, its limit ranges, its quotas.

Source: plugin/pkg/admission/{namespace/lifecycle,limitranger,resourcequota}, pkg/quota/v1/evaluator/core/pods.go, v1.36
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from simulations.engine.api.decode import API_VERSIONS, CLUSTER_SCOPED
from simulations.engine.api.pod import Pod
from simulations.engine.api.quantity import format_quantity, parse_quantity, resource_value
from simulations.engine.api.workloads import LimitRange, ResourceQuota
from simulations.engine.cluster import refusals
from simulations.engine.cluster.answers import Answer

if TYPE_CHECKING:
    from simulations.engine.cluster.api_server import ApiServer
    from simulations.engine.cluster.call import Call

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
    for field in ("initContainers", "containers"):
        if spec.get(field):
            spec[field] = [_defaulted(c, ranges) if isinstance(c, Mapping) else c for c in spec[field]]
    containers = [c for field in ("initContainers", "containers") for c in spec.get(field) or [] if isinstance(c, Mapping)]
    found = [text for container in containers for text in _violations(container, ranges)]
    found += _pod_violations(spec, ranges)
    text = found[0] if len(found) == 1 else f"[{', '.join(found)}]"
    return {**document, "spec": spec}, text if found else ""


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
        for resource, ratio in (item.get("maxLimitRequestRatio") or {}).items():
            found += _ratio(resource, ratio, limits, requests)
    return found


def _ratio(resource: str, ratio: object, limits: Document, requests: Document) -> list[str]:
    if resource not in limits or resource not in requests:
        return []
    limit, request = parse_quantity(limits[resource]), parse_quantity(requests[resource])
    if not request or limit * _NANO <= parse_quantity(ratio) * request:
        return []
    return [f"{resource} max limit to request ratio per Container is {ratio}, but provided ratio is {limit / request:f}"]


def _pod_violations(spec: Document, ranges: list[LimitRange]) -> list[str]:
    """The bounds of a whole Pod, of type Pod: the sums of its containers."""
    total = usage(spec)
    found = []
    for item in (one for each in ranges for one in each.pods):
        for word, field, name in (("minimum", "min", "requests"), ("maximum", "max", "limits")):
            for resource, bound in (item.get(field) or {}).items():
                amount = total.get(f"{name}.{resource}")
                short = name.removesuffix("s")
                if amount is None:
                    found.append(f"{word} {resource} usage per Pod is {bound}.  No {short} is specified")
                elif (amount < parse_quantity(bound)) if field == "min" else (amount > parse_quantity(bound)):
                    shown = _text(f"{name}.{resource}", amount)
                    found.append(f"{word} {resource} usage per Pod is {bound}, but {short} is {shown}")
    return found


# ---- quotas


def over_quota(api: "ApiServer", kind: str, document: Document, namespace: str) -> str:
    """Why a quota forbids the object; empty when none does."""
    quotas: list[ResourceQuota] = [item for item in api.list("ResourceQuota") if item.namespace == namespace and item.hard]
    if not quotas:
        return ""
    asked = usage(document.get("spec") or {}) if kind == "Pod" else dict.fromkeys(count_names(kind), _NANO)
    for quota in quotas:
        if kind == "Pod" and not _in_scope(quota, document.get("spec") or {}):
            continue
        unset = _unset(quota, document.get("spec") or {}) if kind == "Pod" else ""
        if unset:
            return f"failed quota: {quota.name}: must specify {unset}"
        limited = [name for name in sorted(quota.hard) if asked.get(name, 0)]
        used = used_of(api, quota, kind, limited)
        over = [name for name in limited if used[name] + asked[name] > quota.hard[name]]
        if over:
            sums = (",".join(f"{name}={_text(name, amounts[name])}" for name in over) for amounts in (asked, used, quota.hard))
            return "exceeded quota: {}, requested: {}, used: {}, limited: {}".format(quota.name, *sums)
    return ""


def used_of(api: "ApiServer", quota: ResourceQuota, kind: str, names: list[str]) -> dict[str, int]:
    """What counts against a quota now: Pods that have not ended, or objects of a kind."""
    used = dict.fromkeys(names, 0)
    if not names:
        return used
    for item in api.list(kind):
        if item.namespace != quota.namespace:
            continue
        if not isinstance(item, Pod):
            amounts = dict.fromkeys(names, _NANO)
        elif item.terminal or not _in_scope(quota, item.spec.raw):
            amounts = {"count/pods": _NANO} if item.terminal else {}
        else:
            amounts = usage(item.spec.raw)
        for name in names:
            used[name] += amounts.get(name, 0)
    return used


def count_names(kind: str) -> tuple[str, ...]:
    """The names under which quotas count objects of a kind."""
    group = API_VERSIONS[kind].rpartition("/")[0]
    plural = f"{kind.lower()}s"
    return (f"count/{plural}.{group}",) if group else (plural, f"count/{plural}")


def _in_scope(quota: ResourceQuota, spec: Document) -> bool:
    """Whether a quota counts the Pod: its scopes are about deadlines, best effort and priority classes."""
    for scope in quota.scopes:
        name = scope.get("scopeName")
        best_effort = not any(
            (c.get("resources") or {}).get(f) for c in spec.get("containers") or [] for f in ("requests", "limits")
        )
        terminating = isinstance(spec.get("activeDeadlineSeconds"), int)
        holds = {
            "Terminating": terminating,
            "NotTerminating": not terminating,
            "BestEffort": best_effort,
            "NotBestEffort": not best_effort,
        }
        if name == "PriorityClass":
            given, values = str(spec.get("priorityClassName") or ""), scope.get("values") or []
            operators = {"In": given in values, "NotIn": given not in values, "Exists": bool(given), "DoesNotExist": not given}
            if not operators.get(str(scope.get("operator") or "Exists"), False):
                return False
        elif not holds.get(str(name), True):
            return False
    return True


def _unset(quota: ResourceQuota, spec: Document) -> str:
    """What a quota needs to know of each container, and which of them do not say it."""
    found = []
    for name in sorted(quota.hard):
        if name not in ("cpu", "memory") and not name.startswith(("requests.", "limits.")):
            continue
        field, _, resource = name.rpartition(".") if name in ("cpu", "memory") else name.partition(".")
        silent = [str(c.get("name")) for c in spec.get("containers") or [] if resource not in _amounts(c, field or "requests")]
        if silent and "/" not in resource:
            found.append(f"{name} for: {','.join(silent)}")
    return "; ".join(found)


def _amounts(container: Document, field: str) -> Document:
    resources = container.get("resources") or {}
    limits = resources.get("limits") or {}
    return limits if field == "limits" else {**limits, **(resources.get("requests") or {})}


def usage(spec: Document) -> dict[str, int]:
    """What a Pod counts for in quotas, in nano units, under all the names that a quota may use."""
    found = {"pods": _NANO, "count/pods": _NANO}
    for container in spec.get("containers") or []:
        for resource, amount in _amounts(container, "requests").items():
            for name in (f"requests.{resource}", *((resource,) if resource in ("cpu", "memory") else ())):
                found[name] = found.get(name, 0) + parse_quantity(amount)
        for resource, amount in _amounts(container, "limits").items():
            found[f"limits.{resource}"] = found.get(f"limits.{resource}", 0) + parse_quantity(amount)
    return found


def _text(name: str, nanos: int) -> str:
    """An amount as messages show it."""
    resource = name.rpartition(".")[2]
    return format_quantity(resource, resource_value(resource, nanos)) if resource in ("cpu", "memory") else str(nanos // _NANO)
