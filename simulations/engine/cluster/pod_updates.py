"""What of a Pod may be changed after it was made.

Source: pkg/apis/core/validation/validation.go, ValidatePodUpdate, v1.36
"""

import json
from collections.abc import Mapping
from typing import Any, Final

Spec = Mapping[str, Any]
_ALLOWED: Final = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
    "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def refused(before: Spec, after: Spec) -> str:
    """Why a change of a Pod's spec is refused; empty when it is allowed."""
    gates_before, gates_after = _names(before), _names(after)
    if any(name not in gates_before for name in gates_after):
        return "spec.schedulingGates: Forbidden: only deletion is allowed, but found new scheduling gate"
    tolerations = after.get("tolerations") or []
    if any(toleration not in tolerations for toleration in before.get("tolerations") or []):
        return "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"
    if _fixed(before, gated=bool(gates_before)) != _fixed(after, gated=bool(gates_before)):
        return f"spec: Forbidden: pod updates may not change fields other than {_ALLOWED}"
    if gates_before and any((after.get("nodeSelector") or {}).get(k) != v for k, v in (before.get("nodeSelector") or {}).items()):
        return "spec.nodeSelector: Invalid value: only additions are allowed while the pod has scheduling gates"
    return ""


def _names(spec: Spec) -> list[Any]:
    return [gate.get("name") for gate in spec.get("schedulingGates") or [] if isinstance(gate, Mapping)]


def _fixed(spec: Spec, *, gated: bool) -> str:
    """The part of a spec that may not change."""
    free = {"activeDeadlineSeconds", "tolerations", "schedulingGates", *(("nodeSelector", "affinity") if gated else ())}
    kept = {key: value for key, value in spec.items() if key not in free and value not in (None, [], {})}
    for field in ("containers", "initContainers"):
        kept[field] = [{k: v for k, v in c.items() if k != "image"} for c in spec.get(field) or [] if isinstance(c, Mapping)]
    return json.dumps(kept, sort_keys=True, default=str)
