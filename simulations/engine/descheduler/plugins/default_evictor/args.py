"""The arguments of DefaultEvictor, in their new form (podProtections) and in the deprecated one (booleans).

Source: pkg/framework/plugins/defaultevictor/{types.go,validation.go}, descheduler v0.36
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from simulations.engine.api.selectors import LabelSelector
from simulations.engine.descheduler.framework.args import ArgReader

LOCAL_STORAGE, SYSTEM_CRITICAL, FAILED_BARE = "PodsWithLocalStorage", "SystemCriticalPods", "FailedBarePods"
DAEMON_SETS, WITH_PVC, WITHOUT_PDB = "DaemonSetPods", "PodsWithPVC", "PodsWithoutPDB"
RESOURCE_CLAIMS: Final = "PodsWithResourceClaims"
DEFAULT_PROTECTIONS: Final = (LOCAL_STORAGE, SYSTEM_CRITICAL, FAILED_BARE, DAEMON_SETS)
EXTRA_PROTECTIONS: Final = (WITH_PVC, WITHOUT_PDB, RESOURCE_CLAIMS)
PREFERRED, MANDATORY = "Preferred", "Mandatory"
SYSTEM_CRITICAL_PRIORITY: Final = 2_000_000_000
_DISABLING: Final = {
    "evictLocalStoragePods": LOCAL_STORAGE,
    "evictDaemonSetPods": DAEMON_SETS,
    "evictSystemCriticalPods": SYSTEM_CRITICAL,
    "evictFailedBarePods": FAILED_BARE,
}
_ENABLING: Final = {"ignorePvcPods": WITH_PVC, "ignorePodsWithoutPDB": WITHOUT_PDB}
"""The deprecated booleans, with the protection that each takes away or adds."""
_FIELDS: Final = (
    "nodeSelector", "labelSelector", "namespaceLabelSelector", "priorityThreshold", "nodeFit", "minReplicas", "minPodAge",
    "noEvictionPolicy", "podProtections", *_DISABLING, *_ENABLING,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DefaultEvictorArgs:
    """`protections` are those in force; `priority_class` names the threshold's class where `priority_threshold` gives no number;
    `min_pod_age` in ns.
    """

    protections: tuple[str, ...] = DEFAULT_PROTECTIONS
    protected_storage_classes: tuple[str, ...] = ()
    node_fit: bool = False
    node_selector: LabelSelector | None = None
    label_selector: LabelSelector | None = None
    namespace_label_selector: LabelSelector | None = None
    priority_threshold: int | None = None
    priority_class: str = ""
    min_replicas: int = 0
    min_pod_age: int | None = None
    no_eviction_policy: str = ""


def read_args(args: ArgReader) -> DefaultEvictorArgs:
    """Read the arguments; what is wrong is noted."""
    args.only(*_FIELDS)
    number, name = _threshold(args)
    protections, storage_classes = _protections(args)
    policy = args.text("noEvictionPolicy")
    if policy not in ("", PREFERRED, MANDATORY):
        args.wrong("noEvictionPolicy", f'noEvictionPolicy accepts only ["{PREFERRED}" "{MANDATORY}"] values')
    return DefaultEvictorArgs(
        protections,
        storage_classes,
        args.flag("nodeFit"),
        args.selector_text("nodeSelector"),
        args.selector("labelSelector"),
        args.selector("namespaceLabelSelector"),
        number,
        name,
        args.unsigned("minReplicas") or 0,
        args.duration("minPodAge"),
        policy,
    )


def _threshold(args: ArgReader) -> tuple[int | None, str]:
    part = args.sub("priorityThreshold")
    part.only("value", "name")
    number, name = part.integer("value", -(2**31), 2**31 - 1), part.text("name")
    if number is not None and name:
        args.wrong("priorityThreshold", "priority threshold misconfigured, only one of priorityThreshold fields can be set")
    if number is not None and number > SYSTEM_CRITICAL_PRIORITY:
        part.wrong("value", f"priority threshold can't be greater than {SYSTEM_CRITICAL_PRIORITY}")
    return number, name


def _protections(args: ArgReader) -> tuple[tuple[str, ...], tuple[str, ...]]:
    part = args.sub("podProtections")
    part.only("defaultDisabled", "extraEnabled", "config")
    disabled, extra = part.texts("defaultDisabled"), part.texts("extraEnabled")
    taken = [name for field, name in _DISABLING.items() if args.flag(field)]
    added = [name for field, name in _ENABLING.items() if args.flag(field)]
    if not disabled and not extra:
        kept = [name for name in DEFAULT_PROTECTIONS if name not in taken]
        return (*kept, *added), ()
    if taken or added:
        text = "cannot use Deprecated fields alongside PodProtections.ExtraEnabled or PodProtections.DefaultDisabled"
        args.wrong("podProtections", text)
    _check(part, "extraEnabled", "ExtraEnabled", extra, EXTRA_PROTECTIONS)
    _check(part, "defaultDisabled", "DefaultDisabled", disabled, DEFAULT_PROTECTIONS)
    kept = [name for name in DEFAULT_PROTECTIONS if name not in disabled]
    return (*kept, *extra), _storage_classes(part, WITH_PVC in extra)


def _check(part: ArgReader, field: str, called: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            options = " ".join(known)
            part.wrong(field, f'invalid pod protection policy in {called}: "{name}". Valid options are: [{options}]')
    if len(set(names)) < len(names):
        part.wrong(field, f"PodProtections.{called} contains duplicate entries")


def _storage_classes(part: ArgReader, used: bool) -> tuple[str, ...]:
    config = part.sub("config")
    config.only(WITH_PVC)
    of_claims = config.sub(WITH_PVC)
    of_claims.only("protectedStorageClasses")
    found: list[str] = []
    for i, item in enumerate(of_claims.items("protectedStorageClasses")):
        entry = ArgReader(item, of_claims.at(f"protectedStorageClasses[{i}]"), part.findings, part.said, part.unknown)
        entry.only("name")
        found.append(entry.text("name"))
        if used and not found[-1]:
            entry.wrong("name", f"PodProtections.Config.PodsWithPVC.ProtectedStorageClasses[{i}] name cannot be empty")
    return tuple(found)
