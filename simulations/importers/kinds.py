"""Which kinds an import reads, and why it leaves others out."""

from difflib import get_close_matches

from simulations.engine.api.decode import API_VERSIONS

_NOT_SCHEDULING = "has no part in scheduling"
_LEFT_OUT = {
    "Event": "events of the past are not replayed",
    "CronJob": "the CronJob controller is not modelled; the Jobs that it made are read",
    "HorizontalPodAutoscaler": "autoscaling of pods is not modelled",
    "Lease": "node heartbeats are not modelled",
    "CSINode": "volumes are not modelled",
    "CSIDriver": "volumes are not modelled",
    "CSIStorageCapacity": "volumes are not modelled",
    "VolumeAttachment": "volumes are not modelled",
    "ResourceClaim": "dynamic resources are not modelled",
    "ResourceClaimTemplate": "dynamic resources are not modelled",
    "ResourceSlice": "dynamic resources are not modelled",
    "DeviceClass": "dynamic resources are not modelled",
    "Secret": "secrets are neither needed nor kept",
    "ConfigMap": _NOT_SCHEDULING,
    "Endpoints": _NOT_SCHEDULING,
    "EndpointSlice": _NOT_SCHEDULING,
    "Ingress": _NOT_SCHEDULING,
    "IngressClass": _NOT_SCHEDULING,
    "NetworkPolicy": _NOT_SCHEDULING,
    "ServiceAccount": _NOT_SCHEDULING,
    "Role": _NOT_SCHEDULING,
    "RoleBinding": _NOT_SCHEDULING,
    "ClusterRole": _NOT_SCHEDULING,
    "ClusterRoleBinding": _NOT_SCHEDULING,
    "CustomResourceDefinition": _NOT_SCHEDULING,
    "ControllerRevision": _NOT_SCHEDULING,
    "PodTemplate": _NOT_SCHEDULING,
    "NodeMetrics": "usage is not modelled; scheduling goes by requests",
    "PodMetrics": "usage is not modelled; scheduling goes by requests",
}
_OLD_GROUPS = frozenset({"extensions"})


def why_ignored(kind: str, api_version: str) -> str:
    """Why objects of this kind are left out; empty for those that are read."""
    if kind in API_VERSIONS:
        if _group(api_version) in (_group(API_VERSIONS[kind]), *_OLD_GROUPS) or not api_version:
            return ""
        return f"{kind} of {api_version} is not Kubernetes' own {kind} ({API_VERSIONS[kind]})"
    if kind in _LEFT_OUT:
        return _LEFT_OUT[kind]
    if "." not in _group(api_version):
        close = get_close_matches(kind, API_VERSIONS, n=1, cutoff=0.6)
        if close:
            return f"not a kind of Kubernetes; did you mean {close[0]}?"
    return "not a kind that is read"


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]
