"""What is not modelled: one table, from which a run states what of it touches the run, and docs/fidelity.md is written."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.api.storage import NO_PROVISIONER
from simulations.engine.scenario import Scenario
from simulations.engine.scheduler.registry import REGISTRY

Document = Mapping[str, Any]
_CONTROLLERS: Final = {
    "ReplicaSet": "replicaset-controller",
    "Deployment": "deployment-controller",
    "StatefulSet": "statefulset-controller",
    "DaemonSet": "daemonset-controller",
    "Job": "job-controller",
    "PersistentVolumeClaim": "persistentvolume-binder-controller",
}
_WORKLOADS: Final = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job")
_OLD_DISKS: Final = (
    "awsElasticBlockStore",
    "gcePersistentDisk",
    "azureDisk",
    "azureFile",
    "cinder",
    "vsphereVolume",
    "portworxVolume",
)
_JOB_FIELDS: Final = ("backoffLimitPerIndex", "successPolicy", "ttlSecondsAfterFinished")
_SHARED_CARDS: Final = "alibabacloud.com/gpu-milli"


class View:
    """A scenario's objects, those that are created later among them, by kind; and the specs of all Pods and templates."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.objects = [*scenario.initial, *(o.manifest for o in scenario.operations if o.verb == "create")]
        self.by_kind: dict[str, list[Document]] = {}
        for item in self.objects:
            self.by_kind.setdefault(str(item.get("kind")), []).append(item)
        self.pods = [spec_of(pod) for pod in self.of("Pod")]
        templates = (_mapping(spec_of(item).get("template")) for kind in _WORKLOADS for item in self.of(kind))
        self.pod_specs = [*self.pods, *(spec_of(template) for template in templates)]

    def of(self, kind: str) -> list[Document]:
        """The objects of a kind."""
        return self.by_kind.get(kind, [])

    def specs_of(self, *kinds: str) -> Iterator[Document]:
        """The specs of the objects of these kinds."""
        return (spec_of(item) for kind in kinds for item in self.of(kind))


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that is not modelled: what, for docs/fidelity.md; and what a run says that it touches, one sentence each."""

    about: str
    touches: Callable[[View], list[str]]


def _when(holds: Callable[[View], object], sentence: str) -> Callable[[View], list[str]]:
    """Say the sentence where it holds; `{}` in it is what was counted."""

    def touches(view: View) -> list[str]:
        found = holds(view)
        return [sentence.format(found)] if found else []

    return touches


def _count(holds: Callable[[Document], object]) -> Callable[[View], int]:
    """How many Pods and templates it holds for."""
    return lambda view: sum(1 for spec in view.pod_specs if holds(spec))


def _in_containers(*fields: str) -> Callable[[Document], bool]:
    return lambda spec: any(_mapping(c).get(field) for c in spec.get("containers") or [] for field in fields)


def _claims_that_are_missing(view: View) -> int:
    known = {(_namespace(c), _mapping(c.get("metadata")).get("name")) for c in view.of("PersistentVolumeClaim")}
    wanted = ({(_namespace(pod), name) for name in _claims(spec_of(pod))} for pod in view.of("Pod"))
    return sum(1 for names in wanted if not known >= names)


def _claims(spec: Document) -> list[Any]:
    volumes = (_mapping(volume) for volume in spec.get("volumes") or [])
    return [_mapping(v["persistentVolumeClaim"]).get("claimName") for v in volumes if v.get("persistentVolumeClaim")]


def _provisioned(view: View) -> int:
    return sum(1 for item in view.of("StorageClass") if item.get("provisioner") not in (None, NO_PROVISIONER))


def _old_volumes(view: View) -> int:
    inline = (_mapping(volume) for spec in view.pod_specs for volume in spec.get("volumes") or [])
    return sum(1 for source in (*view.specs_of("PersistentVolume"), *inline) if any(source.get(disk) for disk in _OLD_DISKS))


def _has_pre_stop(spec: Document) -> bool:
    return any(_mapping(_mapping(c).get("lifecycle")).get("preStop") for c in spec.get("containers") or [])


def _rolls_otherwise(view: View) -> int:
    rolling = {
        field: [_mapping(_mapping(spec.get("updateStrategy")).get("rollingUpdate")) for spec in view.specs_of(kind)]
        for kind, field in (("StatefulSet", "maxUnavailable"), ("DaemonSet", "maxSurge"))
    }
    return sum(1 for field, strategies in rolling.items() for strategy in strategies if strategy.get(field))


def _idle_controllers(view: View) -> list[str]:
    idle = [(kind, name) for kind, name in _CONTROLLERS.items() if view.of(kind) and name not in view.scenario.controllers]
    return [
        f"{name} does not run here: {len(view.of(kind))} objects of kind {kind} change nothing by themselves" for kind, name in idle
    ]


def _fields_read_in_vain(view: View) -> list[str]:
    specs = [spec.config for spec in view.scenario.schedulers]
    return [f"{field} of {c.profiles[0].scheduler_name} is read and changes nothing here" for c in specs for field in c.ignored]


def _policy_fields_read_in_vain(view: View) -> list[str]:
    descheduler = view.scenario.descheduler
    ignored = descheduler.policy.ignored if descheduler is not None else ()
    return [f"{field} of the descheduler's policy is read and changes nothing here" for field in ignored]


def _shared_names(view: View) -> list[str]:
    names = [profile.scheduler_name for spec in view.scenario.schedulers for profile in spec.config.profiles]
    shared = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    return [f"{names.count(name)} schedulers answer to {name}: no leader is elected, all of them decide" for name in shared]


def _without_disruption(view: View) -> bool:
    return bool(view.of("PodDisruptionBudget")) and "disruption-controller" not in view.scenario.controllers


def _without_evictions(view: View) -> bool:
    return any(o.verb == "fail" for o in view.scenario.operations) and "taint-eviction-controller" not in view.scenario.controllers


LIMITS: Final[tuple[Limit, ...]] = (
    Limit(
        "Parts of a recorded timeline or of a scenario that no actor here plays.",
        lambda view: [f"{part} is not modelled" for part in view.scenario.not_modelled],
    ),
    Limit(
        "Resource claims (DynamicResources): Pods that have some are scheduled without looking at them.",
        _when(_count(lambda spec: spec.get("resourceClaims")), "resource claims are not modelled ({} pods or templates have some)"),
    ),
    Limit(
        "Shared cards: an extended resource is a sum for each Node; which card a Pod gets is not decided.",
        _when(
            lambda view: any(_SHARED_CARDS in _allocatable(node) for node in view.of("Node")),
            f"{_SHARED_CARDS} is a sum per node: whether a single card has room for a pod's share is not modelled",
        ),
    ),
    Limit(
        "Claims that the input does not have: as on a cluster without them, their Pods do not schedule.",
        _when(
            _claims_that_are_missing,
            "{} pods use claims that the input does not have: such pods do not schedule before somebody creates them",
        ),
    ),
    Limit(
        "Provisioning of volumes: it never fails and takes 2 s for every driver; room that CSIStorageCapacity tells of is not used up.",
        _when(_provisioned, "volumes of {} storage classes are provisioned in 2 s each, and never in vain"),
    ),
    Limit(
        "Old cloud volumes (awsElasticBlockStore and others): they are not translated to CSI and count against no driver's limit.",
        _when(
            _old_volumes,
            "{} volumes of old in-tree drivers count against no limit of attached volumes",
        ),
    ),
    Limit(
        "Probes: a container is ready as soon as it runs, and stays so.",
        _when(
            _count(_in_containers("readinessProbe", "startupProbe", "livenessProbe")),
            "probes are not run ({} pods or templates have some): a container is ready as soon as it runs",
        ),
    ),
    Limit(
        "preStop hooks take no time of their own.",
        _when(_count(_has_pre_stop), "preStop hooks take no time ({} pods or templates have some)"),
    ),
    Limit(
        "Init containers take no time; images are there at once; a container that ends is not started again.",
        _when(_count(lambda spec: spec.get("initContainers")), "init containers take no time ({} pods or templates have some)"),
    ),
    Limit(
        "LimitRanges and ResourceQuotas act on objects that are created in the run, not on those of the start.",
        _when(
            lambda view: len(view.of("LimitRange")) + len(view.of("ResourceQuota")),
            "{} limit ranges and quotas act on what is created in the run alone",
        ),
    ),
    Limit(
        "progressDeadlineSeconds of Deployments: a rollout that hangs is not marked as failed.",
        _when(
            lambda view: sum(1 for spec in view.specs_of("Deployment") if spec.get("progressDeadlineSeconds")),
            "progressDeadlineSeconds is not modelled ({} Deployments have it)",
        ),
    ),
    Limit(
        "maxUnavailable of StatefulSets, maxSurge of DaemonSets.",
        _when(_rolls_otherwise, "maxUnavailable of StatefulSets and maxSurge of DaemonSets are not modelled ({} have one)"),
    ),
    Limit(
        "Jobs: backoff per index, success policies, ttlSecondsAfterFinished; CronJobs.",
        _when(
            lambda view: sum(1 for spec in view.specs_of("Job") if any(spec.get(field) for field in _JOB_FIELDS)),
            "backoffLimitPerIndex, successPolicy and ttlSecondsAfterFinished are not modelled ({} Jobs have one)",
        ),
    ),
    Limit(
        "Extenders are refused (E0401). Fields of a KubeSchedulerConfiguration that change nothing in a simulation are read and named.",
        _fields_read_in_vain,
    ),
    Limit(
        "A descheduler counts what pods request: a policy that asks for figures of real use is refused (E0806).",
        _policy_fields_read_in_vain,
    ),
    Limit("Leader election: several schedulers of one name all decide.", _shared_names),
    Limit("Controllers that a scenario leaves out do nothing.", _idle_controllers),
    Limit(
        "Without disruption-controller budgets keep the disruptionsAllowed that they start with.",
        _when(_without_disruption, "budgets keep the disruptionsAllowed that they start with"),
    ),
    Limit(
        "Without taint-eviction-controller nothing is evicted for a NoExecute taint.",
        _when(_without_evictions, "NoExecute taints are set on silent nodes, but nothing is evicted for them"),
    ),
)
"""In the order in which a run states them."""


def stated_limits(scenario: Scenario) -> dict[str, list[str]]:
    """`modelled`, `ignored` and `limits` of a scenario, for the record `begin`."""
    modelled = ["kube-apiserver (objects, watches, admission)", "kube-scheduler", "kubelet (start and stop)", *scenario.controllers]
    modelled += [name for name, entry in REGISTRY.items() if entry.modelled]
    if scenario.descheduler is not None:
        modelled += ["descheduler", *dict.fromkeys(name for p in scenario.descheduler.policy.profiles for name in p.plugins)]
    ignored = [name for name, entry in REGISTRY.items() if not entry.modelled]
    view = View(scenario)
    return {"modelled": modelled, "ignored": ignored, "limits": [line for limit in LIMITS for line in limit.touches(view)]}


def spec_of(document: Document) -> Document:
    """The spec of an object or a template; empty where there is none."""
    return _mapping(document.get("spec"))


def _mapping(value: object) -> Document:
    return value if isinstance(value, Mapping) else {}


def _namespace(document: Document) -> str:
    return str(_mapping(document.get("metadata")).get("namespace") or "default")


def _allocatable(document: Document) -> Document:
    return _mapping(_mapping(document.get("status")).get("allocatable"))
