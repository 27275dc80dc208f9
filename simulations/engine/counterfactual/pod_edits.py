"""Every change of the Pod that could lift a rejection: requests, tolerations, what it asks of labels and of other Pods, priority."""

import copy
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Final

from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import NO_EXECUTE, NO_SCHEDULE, Taint, tolerated
from simulations.engine.counterfactual.model import Dial, Edit, Spec
from simulations.engine.counterfactual.requests import with_request
from simulations.engine.scheduler.cache.cache import SchedulerCache

MOST_TAINTS: Final = 20
OWN_TAINTS: Final = "node.kubernetes.io/"
"""Taints that Kubernetes sets itself: not to be tolerated, but to be ended."""
HIGHEST: Final = 1_000_000_000
"""Higher priorities are reserved for system classes."""
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def pod_edits(pod: Pod, cache: SchedulerCache) -> Iterator[Edit]:
    """The changes that are worth a question, in a fixed order."""
    yield from _requests(pod)
    yield from _tolerations(pod, cache)
    yield from _labels(pod)
    yield from _other_pods(pod)
    yield from _spread(pod, cache)
    yield from _ports(pod)
    yield from _priority(pod, cache)


def _requests(pod: Pod) -> Iterator[Edit]:
    for resource, amount in sorted(pod.spec.requests.items()):
        yield Edit("request", resource, Dial(amount, 0), partial(_with_request, resource))


def _with_request(resource: str, spec: Spec, value: int) -> Spec | None:
    return with_request(spec, resource, value)


def _tolerations(pod: Pod, cache: SchedulerCache) -> Iterator[Edit]:
    found: Counter[Taint] = Counter()
    for info in cache.infos.values():
        for taint in info.node.taints:
            hard = taint.effect in (NO_SCHEDULE, NO_EXECUTE) and not taint.key.startswith(OWN_TAINTS)
            if hard and not tolerated(pod.spec.tolerations, taint):
                found[taint] += 1
    for taint, _nodes in found.most_common(MOST_TAINTS):
        value = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
        toleration = {"key": taint.key, **value, "effect": taint.effect}
        text = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
        yield Edit("toleration", text, spec=partial(_with_toleration, toleration))


def _with_toleration(toleration: Spec, spec: Spec, _degree: int) -> Spec:
    return {**spec, "tolerations": [*(spec.get("tolerations") or ()), toleration]}


def _labels(pod: Pod) -> Iterator[Edit]:
    for key, value in sorted((pod.spec.raw.get("nodeSelector") or {}).items()):
        yield Edit("nodeSelector", f"{key}={value}", spec=partial(_without_key, key))
    required = ((pod.spec.raw.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED)
    if not required:
        return
    terms = required.get("nodeSelectorTerms") or []
    expressions = terms[0].get("matchExpressions") or [] if len(terms) == 1 else []
    for i, expression in enumerate(expressions if len(expressions) > 1 else []):
        words = [expression.get("key", ""), expression.get("operator", ""), ",".join(expression.get("values") or [])]
        yield Edit("nodeAffinity", " ".join(word for word in words if word), spec=partial(_without_expression, i))
    yield Edit("nodeAffinity", "all required terms", spec=partial(_without_term, "nodeAffinity", None))


def _without_key(key: str, spec: Spec, _degree: int) -> Spec:
    return {**spec, "nodeSelector": {k: v for k, v in (spec.get("nodeSelector") or {}).items() if k != key}}


def _without_expression(number: int, spec: Spec, _degree: int) -> Spec | None:
    changed = copy.deepcopy(dict(spec))
    required = changed["affinity"]["nodeAffinity"].get(REQUIRED)
    expressions = required["nodeSelectorTerms"][0]["matchExpressions"] if required else []
    if number >= len(expressions) or len(expressions) < 2:
        return None
    del expressions[number]
    return changed


def _other_pods(pod: Pod) -> Iterator[Edit]:
    for kind, found in (("podAffinity", pod.spec.pod_affinity), ("podAntiAffinity", pod.spec.pod_anti_affinity)):
        for i, term in enumerate(found.required if found is not None else ()):
            yield Edit(kind, f"term {i + 1}, by {term.topology_key}", spec=partial(_without_term, kind, i))


def _without_term(kind: str, number: int | None, spec: Spec, _degree: int) -> Spec | None:
    changed = copy.deepcopy(dict(spec))
    affinity = changed["affinity"][kind]
    terms = affinity.get(REQUIRED)
    if not terms or (number is not None and number >= len(terms)):
        return None
    if number is None:
        del affinity[REQUIRED]
    else:
        del terms[number]
    return changed


def _spread(pod: Pod, cache: SchedulerCache) -> Iterator[Edit]:
    """A larger skew, and none."""
    most = sum(len(info.pods) for info in cache.infos.values()) + 1
    for i, constraint in enumerate(pod.spec.raw.get("topologySpreadConstraints") or []):
        if constraint.get("whenUnsatisfiable", "DoNotSchedule") != "DoNotSchedule":
            continue
        key, skew = str(constraint.get("topologyKey")), int(constraint.get("maxSkew") or 1)
        if most > skew:
            yield Edit("maxSkew", key, Dial(skew, most), partial(_with_skew, i))
        yield Edit("spread", key, spec=partial(_softened, i))


def _with_skew(number: int, spec: Spec, skew: int) -> Spec:
    return _with_constraint(spec, number, {"maxSkew": skew})


def _softened(number: int, spec: Spec, _degree: int) -> Spec:
    return _with_constraint(spec, number, {"whenUnsatisfiable": "ScheduleAnyway", "minDomains": None})


def _with_constraint(spec: Spec, number: int, changes: Spec) -> Spec:
    constraints = list(spec["topologySpreadConstraints"])
    changed = {**constraints[number], **changes}
    constraints[number] = {key: value for key, value in changed.items() if value is not None}
    return {**spec, "topologySpreadConstraints": constraints}


def _ports(pod: Pod) -> Iterator[Edit]:
    for port in sorted({(each.protocol, each.port) for each in pod.spec.host_ports}):
        yield Edit("hostPort", f"{port[0]} {port[1]}", spec=partial(_without_port, port))


def _without_port(port: tuple[str, int], spec: Spec, _degree: int) -> Spec:
    changed = copy.deepcopy(dict(spec))
    for container in [*(changed.get("containers") or []), *(changed.get("initContainers") or [])]:
        for each in container.get("ports") or []:
            number = each.get("hostPort") or (each.get("containerPort") if changed.get("hostNetwork") else None)
            if (each.get("protocol") or "TCP", number) == port:
                each.pop("hostPort", None)
    return changed


def _priority(pod: Pod, cache: SchedulerCache) -> Iterator[Edit]:
    """Over the priorities of the Pods that are there: just above one of them is as high as it need be."""
    levels = priority_levels(pod, cache)
    if levels:
        yield Edit("priority", "priority", Dial(-1, len(levels) - 1), partial(_with_level, levels))


def _with_level(levels: list[int], spec: Spec, step: int) -> Spec:
    return with_priority(spec, levels[step])


def priority_levels(pod: Pod, cache: SchedulerCache) -> list[int]:
    """The priorities just above those of Pods on Nodes or nominated for them, from the Pod's own on.

    Its own counts where the Pod may not preempt: then it is the policy that changes.
    """
    never = pod.spec.preemption_policy == "Never"
    nominated = [other for name in cache.nominator.nodes() for other in cache.nominator.pods_on(name) if other.uid != pod.uid]
    others = {other.priority for other in (*(placed for _row, placed in cache.placed()), *nominated) if other.priority < HIGHEST}
    least = pod.priority if never else pod.priority + 1
    return sorted({max(priority + 1, least) for priority in others if never or priority >= pod.priority})


def with_priority(spec: Spec, priority: int) -> Spec:
    """The spec with a priority that may preempt."""
    return {**spec, "priority": priority, "preemptionPolicy": "PreemptLowerPriority"}
