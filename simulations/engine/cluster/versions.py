"""Which behaviour a Kubernetes version has: feature gates and their defaults.

Source: pkg/features/kube_features.go of 1.33.0, 1.34.1, 1.35.1, 1.36.2
"""

from collections.abc import Mapping
from typing import Final

from simulations.engine.kernel.errors import ScenarioError

DEFAULT_VERSION: Final = "1.36"
_V133: Final = {
    "SchedulerAsyncPreemption": True,
    "SchedulerPopFromBackoffQ": True,
    "SchedulerAsyncAPICalls": False,
    "NominatedNodeNameForExpectation": False,
    "ClearingNominatedNodeNameAfterBinding": False,
}
_V135: Final = {**_V133, "NominatedNodeNameForExpectation": True, "ClearingNominatedNodeNameAfterBinding": True}
GATES: Final = {"1.33": _V133, "1.34": _V133, "1.35": _V135, "1.36": _V135}
"""The defaults of the gates that are modelled, by version (1.34: of 1.34.2 and later)."""


def feature_gates(version: str, changes: Mapping[str, bool]) -> dict[str, bool]:
    """The gates of a version with the scenario's changes.

    Raises:
        ScenarioError: E0305 unknown version, E0306 a gate that is not modelled.
    """
    if version not in GATES:
        raise ScenarioError("E0305", f"{version!r} is not modelled ({', '.join(GATES)})", "spec.kubernetesVersion")
    gates = dict(GATES[version])
    for name, value in changes.items():
        if name not in gates:
            raise ScenarioError("E0306", f"not a gate that is modelled ({', '.join(sorted(gates))})", f"spec.featureGates.{name}")
        gates[name] = bool(value)
    return gates
