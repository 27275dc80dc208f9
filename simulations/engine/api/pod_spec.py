"""From a Pod's manifest to the interned `PodSpec`."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from simulations.engine.api import shapes
from simulations.engine.api.labels import Labels, intern_labels
from simulations.engine.api.pod import ClaimVolume, PodSpec
from simulations.engine.api.requests import effective_request
from simulations.engine.api.scheduling import (
    HostPort,
    NodeAffinity,
    PodAffinity,
    PodAffinityTerm,
    Toleration,
    TopologySpreadConstraint,
    WeightedNodeTerm,
    WeightedPodTerm,
)
from simulations.engine.api.selectors import LabelSelector, Requirement, parse_node_term, parse_selector
from simulations.engine.kernel.errors import ScenarioError

_specs: dict[tuple[bytes, str, int], PodSpec] = {}
_trials = itertools.count(-1, -1)
_LEFT_OUT = ("nodeName",)
INLINE_VOLUMES: Final = ("gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi")
"""The volumes that a Pod may name without a claim and that conflict with one another."""


def intern_pod_spec(raw: Mapping[str, Any], namespace: str, labels: Labels, path: str = "spec") -> PodSpec:
    """Return the one `PodSpec` for this manifest; `nodeName` is no part of it.

    Limits count as requests where a request is missing, and matchLabelKeys are merged into their selectors, as the API server does.

    Raises:
        ScenarioError: E0206 to E0209 and E0213, with the field.
    """
    kept = {k: v for k, v in raw.items() if k not in _LEFT_OUT}
    content = msgspec.json.encode(kept, order="deterministic")
    dependent = b"matchLabelKeys" in content or b"mismatchLabelKeys" in content
    key = (content, namespace if b"ffinity" in content else "", labels.id if dependent else -1)
    spec = _specs.get(key)
    if spec is None:
        wrong = shapes.of_spec(kept, path)
        if wrong is not None:
            raise wrong
        spec = _specs[key] = _parse(kept, namespace, labels, path)
    return spec


def trial_pod_spec(raw: Mapping[str, Any], namespace: str, labels: Labels) -> PodSpec:
    """Read a spec that is only tried out: nothing keeps it, and its id (below zero) is nobody else's.

    Raises:
        ScenarioError: as `intern_pod_spec`.
    """
    wrong = shapes.of_spec(raw, "spec")
    if wrong is not None:
        raise wrong
    return replace(_parse(dict(raw), namespace, labels, "spec"), id=next(_trials))


def _parse(raw: dict[str, Any], namespace: str, labels: Labels, path: str) -> PodSpec:
    containers = _mappings(raw.get("containers"), f"{path}.containers")
    initial = _mappings(raw.get("initContainers"), f"{path}.initContainers")
    request = effective_request(raw, path)
    affinity = _mapping(raw.get("affinity"), f"{path}.affinity")
    volumes = _mappings(raw.get("volumes"), f"{path}.volumes")
    claim_volumes = tuple(_claim_volumes(volumes))
    return PodSpec(
        id=len(_specs),
        raw=raw,
        requests=request.requests,
        nonzero_cpu=request.nonzero_cpu,
        nonzero_memory=request.nonzero_memory,
        incoming_cpu=request.incoming_cpu,
        incoming_memory=request.incoming_memory,
        node_selector=intern_labels(_texts(raw.get("nodeSelector"), f"{path}.nodeSelector")),
        node_affinity=_node_affinity(affinity.get("nodeAffinity"), f"{path}.affinity.nodeAffinity"),
        pod_affinity=_pod_affinity(affinity.get("podAffinity"), namespace, labels, f"{path}.affinity.podAffinity"),
        pod_anti_affinity=_pod_affinity(affinity.get("podAntiAffinity"), namespace, labels, f"{path}.affinity.podAntiAffinity"),
        tolerations=tuple(_toleration(t) for t in _mappings(raw.get("tolerations"), f"{path}.tolerations")),
        spread_constraints=_spread_constraints(raw.get("topologySpreadConstraints"), labels, f"{path}.topologySpreadConstraints"),
        host_ports=_host_ports(containers, initial),
        images=tuple(str(c["image"]) for c in [*initial, *containers] if c.get("image")),
        image_volumes=tuple(str(v["image"].get("reference", "")) for v in volumes if isinstance(v.get("image"), Mapping)),
        container_count=len(containers) + len(initial),
        scheduling_gates=tuple(str(g.get("name", "")) for g in _mappings(raw.get("schedulingGates"), f"{path}.schedulingGates")),
        priority=_integer(raw.get("priority"), 0, f"{path}.priority"),
        priority_class_name=str(raw.get("priorityClassName") or ""),
        preemption_policy=str(raw.get("preemptionPolicy") or "PreemptLowerPriority"),
        scheduler_name=str(raw.get("schedulerName") or "default-scheduler"),
        grace_seconds=_grace(raw.get("terminationGracePeriodSeconds"), path),
        claims=tuple(v.name for v in claim_volumes if not v.ephemeral),
        claim_volumes=claim_volumes,
        inline_volumes=tuple(v for v in volumes if any(v.get(kind) is not None for kind in INLINE_VOLUMES)),
        csi_drivers=tuple(str(v["csi"].get("driver") or "") for v in volumes if isinstance(v.get("csi"), Mapping)),
        resource_claims=bool(raw.get("resourceClaims")),
    )


def _claim_volumes(volumes: list[Mapping[str, Any]]) -> Iterator[ClaimVolume]:
    for volume in volumes:
        if isinstance(volume.get("persistentVolumeClaim"), Mapping):
            yield ClaimVolume(str(volume["persistentVolumeClaim"].get("claimName") or ""))
        elif volume.get("ephemeral") is not None:
            yield ClaimVolume(str(volume.get("name") or ""), ephemeral=True)


def _mapping(value: object, path: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ScenarioError("E0213", "expected a mapping", path)
    return value


def _mappings(value: object, path: str) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ScenarioError("E0213", "expected a list", path)
    for i, item in enumerate(value):
        if not isinstance(item, Mapping):
            raise ScenarioError("E0213", "expected a mapping", f"{path}[{i}]")
    return value


def _texts(value: object, path: str) -> dict[str, str]:
    texts = _mapping(value, path)
    for key, text in texts.items():
        if not isinstance(text, str):
            raise ScenarioError("E0213", f"the value of {key} must be text (put it in quotes)", path)
    return dict(texts)


def _integer(value: object, default: int, path: str) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise ScenarioError("E0213", f"{value!r} is not an integer", path)
    return value


def _grace(value: object, path: str) -> int:
    seconds = _integer(value, 30, f"{path}.terminationGracePeriodSeconds")
    return 1 if seconds < 0 else seconds


def _toleration(item: Mapping[str, Any]) -> Toleration:
    seconds = item.get("tolerationSeconds")
    return Toleration(
        str(item.get("key") or ""),
        str(item.get("operator") or "Equal"),
        str(item.get("value") or ""),
        str(item.get("effect") or ""),
        seconds if isinstance(seconds, int) else None,
    )


def _node_affinity(document: object, path: str) -> NodeAffinity | None:
    affinity = _mapping(document, path)
    if not affinity:
        return None
    required_path = f"{path}.requiredDuringSchedulingIgnoredDuringExecution"
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = None
    if required is not None:
        items = _mappings(_mapping(required, required_path).get("nodeSelectorTerms"), f"{required_path}.nodeSelectorTerms")
        terms = tuple(parse_node_term(t, f"{required_path}.nodeSelectorTerms[{i}]") for i, t in enumerate(items))
    preferred_path = f"{path}.preferredDuringSchedulingIgnoredDuringExecution"
    preferred = _mappings(affinity.get("preferredDuringSchedulingIgnoredDuringExecution"), preferred_path)
    return NodeAffinity(
        terms,
        tuple(
            WeightedNodeTerm(
                _integer(item.get("weight"), 0, f"{preferred_path}[{i}].weight"),
                parse_node_term(item.get("preference") or {}, f"{preferred_path}[{i}].preference"),
            )
            for i, item in enumerate(preferred)
        ),
    )


def parse_node_affinity(document: object, path: str) -> NodeAffinity | None:
    """Read a NodeAffinity manifest (the scheduler's `addedAffinity` has the same form).

    Raises:
        ScenarioError: E0209, E0213.
    """
    return _node_affinity(document, path)


def _pod_affinity(document: object, namespace: str, labels: Labels, path: str) -> PodAffinity | None:
    affinity = _mapping(document, path)
    if not affinity:
        return None
    required_path = f"{path}.requiredDuringSchedulingIgnoredDuringExecution"
    required = _mappings(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"), required_path)
    preferred_path = f"{path}.preferredDuringSchedulingIgnoredDuringExecution"
    preferred = _mappings(affinity.get("preferredDuringSchedulingIgnoredDuringExecution"), preferred_path)
    return PodAffinity(
        tuple(_pod_term(t, namespace, labels, f"{required_path}[{i}]") for i, t in enumerate(required)),
        tuple(
            WeightedPodTerm(
                _integer(t.get("weight"), 0, f"{preferred_path}[{i}].weight"),
                _pod_term(
                    _mapping(t.get("podAffinityTerm"), f"{preferred_path}[{i}].podAffinityTerm"),
                    namespace,
                    labels,
                    f"{preferred_path}[{i}].podAffinityTerm",
                ),
            )
            for i, t in enumerate(preferred)
        ),
    )


def _pod_term(term: Mapping[str, Any], namespace: str, labels: Labels, path: str) -> PodAffinityTerm:
    selector = parse_selector(term.get("labelSelector"), f"{path}.labelSelector")
    selector = _merge_new_keys(selector, term.get("matchLabelKeys"), "In", labels)
    selector = _merge_new_keys(selector, term.get("mismatchLabelKeys"), "NotIn", labels)
    namespaces = tuple(str(n) for n in term.get("namespaces") or [])
    namespace_selector = parse_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    if not namespaces and namespace_selector is None:
        namespaces = (namespace,)
    return PodAffinityTerm(str(term.get("topologyKey") or ""), selector, namespaces, namespace_selector)


def _merge_keys(selector: LabelSelector | None, keys: object, operator: str, labels: Labels) -> LabelSelector | None:
    if selector is None or not isinstance(keys, list):
        return selector
    return selector.with_requirements(tuple(Requirement(k, operator, (labels[k],)) for k in keys if k in labels))


def _merge_new_keys(selector: LabelSelector | None, keys: object, operator: str, labels: Labels) -> LabelSelector | None:
    """The same for keys that the API server has not written into the selector when the Pod was made."""
    if selector is None or not isinstance(keys, list):
        return selector
    written = [r.key for r in selector.requirements if r.operator == operator]
    return _merge_keys(selector, [key for key in keys if key not in written], operator, labels)


def _spread_constraints(value: object, labels: Labels, path: str) -> tuple[TopologySpreadConstraint, ...]:
    return tuple(_spread_constraint(item, labels, f"{path}[{i}]") for i, item in enumerate(_mappings(value, path)))


def _spread_constraint(item: Mapping[str, Any], labels: Labels, path: str) -> TopologySpreadConstraint:
    selector = parse_selector(item.get("labelSelector"), f"{path}.labelSelector")
    return TopologySpreadConstraint(
        _integer(item.get("maxSkew"), 1, f"{path}.maxSkew"),
        str(item.get("topologyKey") or ""),
        str(item.get("whenUnsatisfiable") or "DoNotSchedule"),
        _merge_keys(selector, item.get("matchLabelKeys"), "In", labels),
        _integer(item.get("minDomains"), 1, f"{path}.minDomains"),
        str(item.get("nodeAffinityPolicy") or "Honor"),
        str(item.get("nodeTaintsPolicy") or "Ignore"),
    )


def parse_spread_constraint(item: Mapping[str, Any], path: str) -> TopologySpreadConstraint:
    """Read one spread constraint of a scheduler configuration (no Pod, so no matchLabelKeys).

    Raises:
        ScenarioError: E0209, E0213.
    """
    return _spread_constraint(item, intern_labels(None), path)


def _host_ports(containers: list[Mapping[str, Any]], initial: list[Mapping[str, Any]]) -> tuple[HostPort, ...]:
    found = []
    for container in [*containers, *(c for c in initial if c.get("restartPolicy") == "Always")]:
        for port in container.get("ports") or []:
            if isinstance(port, Mapping) and isinstance(port.get("hostPort"), int) and port["hostPort"] > 0:
                ip = str(port.get("hostIP") or "0.0.0.0")  # noqa: S104  # an address in a manifest
                found.append(HostPort(ip, str(port.get("protocol") or "TCP"), port["hostPort"]))
    return tuple(found)
