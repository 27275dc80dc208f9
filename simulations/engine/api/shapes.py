"""What type each field of a manifest has, for the fields that anything here reads: the first thing that is looked at.

A field that is not listed may be anything; null is as if the field were not there. The API server answers 400 to what has another shape.

Source: staging/src/k8s.io/api/{core,apps,batch,policy,scheduling,storage}/v1/types.go, v1.36
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError

TEXT, NUMBER, FLAG, AMOUNT, TEXTS, ANY = "text", "a whole number", "true or false", "a quantity", "a mapping of texts", "anything"
NUMBER_OR_TEXT, AMOUNTS = "a whole number or a percentage", "a mapping from resource to quantity"
Shape = Any
"""One of the words above, a list of one shape, or a mapping from field to shape."""

_EXPRESSION: Final = {"key": TEXT, "operator": TEXT, "values": [TEXT]}
SELECTOR: Final = {"matchLabels": TEXTS, "matchExpressions": [_EXPRESSION]}
_NODE_TERM: Final = {"matchExpressions": [_EXPRESSION], "matchFields": [_EXPRESSION]}
_POD_TERM: Final = {
    "labelSelector": SELECTOR, "topologyKey": TEXT, "namespaces": [TEXT], "namespaceSelector": SELECTOR, "matchLabelKeys": [TEXT],
    "mismatchLabelKeys": [TEXT],
}  # fmt: skip
_POD_AFFINITY: Final = {
    "requiredDuringSchedulingIgnoredDuringExecution": [_POD_TERM],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": NUMBER, "podAffinityTerm": _POD_TERM}],
}
_RESOURCES: Final = {"requests": AMOUNTS, "limits": AMOUNTS}
_CLAIM_SPEC: Final = {
    "accessModes": [TEXT], "resources": _RESOURCES, "storageClassName": TEXT, "volumeMode": TEXT, "volumeName": TEXT, "selector": SELECTOR,
    "volumeAttributesClassName": TEXT,
}  # fmt: skip
_CLAIM_TEMPLATE: Final = {"metadata": {"name": TEXT, "labels": TEXTS, "annotations": TEXTS}, "spec": _CLAIM_SPEC}
_VOLUME: Final = {
    "name": TEXT, "persistentVolumeClaim": {"claimName": TEXT, "readOnly": FLAG}, "image": {"reference": TEXT},
    "ephemeral": {"volumeClaimTemplate": _CLAIM_TEMPLATE}, "csi": {"driver": TEXT},
    "gcePersistentDisk": {"pdName": TEXT, "readOnly": FLAG}, "awsElasticBlockStore": {"volumeID": TEXT, "readOnly": FLAG},
    "iscsi": {"iqn": TEXT, "readOnly": FLAG}, "rbd": {"monitors": [TEXT], "pool": TEXT, "image": TEXT, "readOnly": FLAG},
}  # fmt: skip
_CONTAINER: Final = {
    "name": TEXT, "image": TEXT, "resources": _RESOURCES, "restartPolicy": TEXT,
    "ports": [{"containerPort": NUMBER, "hostPort": NUMBER, "hostIP": TEXT, "protocol": TEXT, "name": TEXT}],
}  # fmt: skip
POD_SPEC: Final = {
    "containers": [_CONTAINER], "initContainers": [_CONTAINER], "ephemeralContainers": [_CONTAINER], "resources": _RESOURCES,
    "overhead": AMOUNTS, "nodeName": TEXT, "nodeSelector": TEXTS, "priority": NUMBER, "priorityClassName": TEXT,
    "preemptionPolicy": TEXT, "schedulerName": TEXT, "terminationGracePeriodSeconds": NUMBER, "activeDeadlineSeconds": NUMBER,
    "hostNetwork": FLAG, "restartPolicy": TEXT, "runtimeClassName": TEXT, "schedulingGates": [{"name": TEXT}],
    "tolerations": [{"key": TEXT, "operator": TEXT, "value": TEXT, "effect": TEXT, "tolerationSeconds": NUMBER}],
    "topologySpreadConstraints": [
        {
            "maxSkew": NUMBER, "minDomains": NUMBER, "topologyKey": TEXT, "whenUnsatisfiable": TEXT, "labelSelector": SELECTOR,
            "matchLabelKeys": [TEXT], "nodeAffinityPolicy": TEXT, "nodeTaintsPolicy": TEXT,
        }
    ],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_NODE_TERM]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": NUMBER, "preference": _NODE_TERM}],
        },
        "podAffinity": _POD_AFFINITY,
        "podAntiAffinity": _POD_AFFINITY,
    },
    "volumes": [_VOLUME],
    "resourceClaims": [{"name": TEXT}],
}  # fmt: skip
METADATA: Final = {
    "name": TEXT, "generateName": TEXT, "namespace": TEXT, "uid": TEXT, "labels": TEXTS, "annotations": TEXTS, "finalizers": [TEXT],
    "ownerReferences": [{"apiVersion": TEXT, "kind": TEXT, "name": TEXT, "uid": TEXT, "controller": FLAG}],
    "deletionGracePeriodSeconds": NUMBER, "generation": NUMBER,
}  # fmt: skip
_CONDITIONS: Final = [{"type": TEXT, "status": TEXT, "reason": TEXT, "message": TEXT}]
_CONTAINER_STATUSES: Final = [
    {
        "name": TEXT, "restartCount": NUMBER,
        "state": {"waiting": {"reason": TEXT}, "terminated": {"reason": TEXT, "exitCode": NUMBER}, "running": {}},
    }
]  # fmt: skip
_TEMPLATE: Final = {"metadata": {"labels": TEXTS, "annotations": TEXTS}, "spec": POD_SPEC}
_ROLLING: Final = {
    "type": TEXT,
    "rollingUpdate": {"maxSurge": NUMBER_OR_TEXT, "maxUnavailable": NUMBER_OR_TEXT, "partition": NUMBER},
}
_WORKLOAD: Final = {
    "replicas": NUMBER, "selector": SELECTOR, "template": _TEMPLATE, "minReadySeconds": NUMBER, "revisionHistoryLimit": NUMBER,
    "paused": FLAG, "strategy": _ROLLING, "updateStrategy": _ROLLING, "serviceName": TEXT, "podManagementPolicy": TEXT,
    "ordinals": {"start": NUMBER}, "volumeClaimTemplates": [_CLAIM_TEMPLATE],
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": TEXT, "whenScaled": TEXT},
}  # fmt: skip
_JOB: Final = {
    "parallelism": NUMBER, "completions": NUMBER, "backoffLimit": NUMBER, "activeDeadlineSeconds": NUMBER, "suspend": FLAG,
    "completionMode": TEXT, "podReplacementPolicy": TEXT, "selector": SELECTOR, "template": _TEMPLATE,
    "podFailurePolicy": {
        "rules": [
            {
                "action": TEXT, "onExitCodes": {"operator": TEXT, "values": [NUMBER]},
                "onPodConditions": [{"type": TEXT, "status": TEXT}],
            }
        ]
    },
}  # fmt: skip
_STORAGE: Final[dict[str, Shape]] = {
    "PersistentVolume": {
        "spec": {
            "capacity": AMOUNTS, "accessModes": [TEXT], "storageClassName": TEXT, "volumeMode": TEXT,
            "persistentVolumeReclaimPolicy": TEXT, "claimRef": {"namespace": TEXT, "name": TEXT, "uid": TEXT, "kind": TEXT},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [_NODE_TERM]}}, "csi": {"driver": TEXT, "volumeHandle": TEXT},
            "local": {"path": TEXT}, "volumeAttributesClassName": TEXT,
        },
        "status": {"phase": TEXT},
    },
    "PersistentVolumeClaim": {"spec": _CLAIM_SPEC, "status": {"phase": TEXT, "accessModes": [TEXT], "capacity": AMOUNTS}},
    "StorageClass": {
        "provisioner": TEXT, "volumeBindingMode": TEXT, "reclaimPolicy": TEXT, "parameters": TEXTS, "allowVolumeExpansion": FLAG,
        "allowedTopologies": [{"matchLabelExpressions": [{"key": TEXT, "values": [TEXT]}]}],
    },
    "CSINode": {
        "spec": {"drivers": [{"name": TEXT, "nodeID": TEXT, "topologyKeys": [TEXT], "allocatable": {"count": NUMBER}}]},
    },
    "CSIDriver": {"spec": {"storageCapacity": FLAG, "attachRequired": FLAG}},
    "CSIStorageCapacity": {"storageClassName": TEXT, "nodeTopology": SELECTOR, "capacity": AMOUNT, "maximumVolumeSize": AMOUNT},
    "VolumeAttachment": {"spec": {"attacher": TEXT, "nodeName": TEXT, "source": {"persistentVolumeName": TEXT}}},
}  # fmt: skip
_OF_KIND: Final[dict[str, Shape]] = {
    **_STORAGE,
    "Pod": {
        "spec": POD_SPEC,
        "status": {
            "phase": TEXT,
            "nominatedNodeName": TEXT,
            "conditions": _CONDITIONS,
            "startTime": ANY,
            "reason": TEXT,
            "qosClass": TEXT,
            **dict.fromkeys(("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"), _CONTAINER_STATUSES),
        },
    },
    "Node": {
        "spec": {"taints": [{"key": TEXT, "value": TEXT, "effect": TEXT}], "unschedulable": FLAG},
        "status": {
            "allocatable": AMOUNTS,
            "capacity": AMOUNTS,
            "conditions": _CONDITIONS,
            "images": [{"names": [TEXT], "sizeBytes": NUMBER}],
        },
    },
    "PodDisruptionBudget": {
        "spec": {
            "minAvailable": NUMBER_OR_TEXT,
            "maxUnavailable": NUMBER_OR_TEXT,
            "selector": SELECTOR,
            "unhealthyPodEvictionPolicy": TEXT,
        },
        "status": {
            **dict.fromkeys(
                ("disruptionsAllowed", "observedGeneration", "currentHealthy", "desiredHealthy", "expectedPods"), NUMBER
            ),
            "disruptedPods": {},
            "conditions": _CONDITIONS,
        },
    },
    "PriorityClass": {"value": NUMBER, "globalDefault": FLAG, "preemptionPolicy": TEXT},
    "Service": {"spec": {"selector": TEXTS}},
    "ReplicationController": {"spec": {"replicas": NUMBER, "selector": TEXTS, "template": _TEMPLATE, "minReadySeconds": NUMBER}},
    "Job": {"spec": _JOB, "status": {"succeeded": NUMBER, "failed": NUMBER, "conditions": _CONDITIONS}},
    "ResourceQuota": {"spec": {"hard": AMOUNTS, "scopes": [TEXT]}},
    "LimitRange": {"spec": {"limits": [{"type": TEXT, **dict.fromkeys(("min", "max", "default", "defaultRequest"), AMOUNTS)}]}},
    "RuntimeClass": {"overhead": {"podFixed": AMOUNTS}, "scheduling": {"nodeSelector": TEXTS}},
    **{
        kind: {"spec": _WORKLOAD, "status": {"updateRevision": TEXT, "currentRevision": TEXT}}
        for kind in ("ReplicaSet", "Deployment", "StatefulSet", "DaemonSet")
    },
}


def misshapen(document: Mapping[str, Any]) -> ScenarioError | None:
    """The first field of a manifest that has another type than it should (E0213, with its path); a Pod's spec is looked at by `of_spec`."""
    kind = document.get("kind")
    shape = _OF_KIND.get(kind) if isinstance(kind, str) else None
    wanted = {"metadata": METADATA, **(shape or {"spec": {}})}
    if kind == "Pod":
        wanted = {**wanted, "spec": {}}
    return next(_wrong(document, wanted, ""), None)


def of_spec(spec: object, path: str = "spec") -> ScenarioError | None:
    """The first field of a Pod's spec that has another type than it should."""
    return next(_wrong(spec, POD_SPEC, path), None)


def _wrong(value: Any, shape: Shape, path: str) -> Iterator[ScenarioError]:
    if value is None or shape == ANY:
        return
    if isinstance(shape, dict):
        if not isinstance(value, Mapping):
            yield _error("a mapping", path)
            return
        for field, inner in shape.items():
            if value.get(field) is not None:
                yield from _wrong(value[field], inner, f"{path}.{field}" if path else field)
        return
    if isinstance(shape, list):
        if not isinstance(value, list):
            yield _error("a list", path)
            return
        for i, item in enumerate(value):
            if item is None:
                yield _error("no gap in the list", f"{path}[{i}]")
            yield from _wrong(item, shape[0], f"{path}[{i}]")
        return
    if not _CHECKS[shape](value):
        yield _error(shape, path)


def _error(wanted: str, path: str) -> ScenarioError:
    return ScenarioError("E0213", f"expected {wanted}", path)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def _amount(value: Any) -> bool:
    return (
        isinstance(value, str | int | float) and not isinstance(value, bool) and (not isinstance(value, int) or abs(value) < 10**30)
    )


_CHECKS: Final[dict[str, Callable[[Any], bool]]] = {
    TEXT: _text,
    NUMBER: _number,
    FLAG: lambda value: isinstance(value, bool),
    AMOUNT: _amount,
    NUMBER_OR_TEXT: lambda value: _text(value) or _number(value),
    TEXTS: lambda value: isinstance(value, Mapping) and all(_text(k) and (v is None or _text(v)) for k, v in value.items()),
    AMOUNTS: lambda value: isinstance(value, Mapping) and all(_text(k) and (v is None or _amount(v)) for k, v in value.items()),
}
