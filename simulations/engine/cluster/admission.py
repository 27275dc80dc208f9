"""What happens to a Pod's manifest before it is stored.

Source: pkg/kubeapiserver/options/plugins.go; plugin/pkg/admission/{priority,defaulttolerationseconds}; pkg/apis/core/v1/defaults.go, v1.36
"""

from collections.abc import Mapping
from typing import Any, Final

from simulations.engine.api.priority import admit_priority
from simulations.engine.api.workloads import PriorityClass

TOLERATION_SECONDS: Final = 300
_KEYS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def with_default_tolerations(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Add the 300 s tolerations for not-ready and unreachable, where the Pod has none for that key and NoExecute."""
    own = list(spec.get("tolerations") or [])
    for key in _KEYS:
        if not any(_covers(toleration, key) for toleration in own):
            own.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION_SECONDS})
    return {**spec, "tolerations": own}


def _covers(toleration: Mapping[str, Any], key: str) -> bool:
    return toleration.get("key") in (key, None, "") and toleration.get("effect") in ("NoExecute", None, "")


class PodAdmission:
    """Admits specs; Pods that share one spec (a template) are admitted once."""

    def __init__(self, classes: dict[str, PriorityClass]) -> None:
        self._classes = classes
        self._known: dict[int, tuple[Mapping[str, Any], dict[str, Any]]] = {}

    def forget(self) -> None:
        """Priority classes changed."""
        self._known.clear()

    def admit(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The spec as it is stored.

        Raises:
            ScenarioError: E0212, the priority class does not exist or the Pod's own priority differs from it.
        """
        known = self._known.get(id(spec))
        if known is None or known[0] is not spec:
            known = self._known[id(spec)] = (spec, with_default_tolerations(admit_priority(spec, self._classes)))
        return known[1]
