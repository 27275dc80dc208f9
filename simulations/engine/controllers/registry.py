"""Which controllers there are; a scenario's `controllers` names those that act."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.controllers import (
    daemonset,
    deployment,
    disruption,
    ephemeral_volumes,
    garbage,
    job,
    namespace,
    node_lifecycle,
    pod_gc,
    provisioner,
    replicaset,
    statefulset,
    taint_eviction,
    volume_binder,
)

CONTROLLERS: Final[dict[str, Callable[[ApiServer], Any]]] = {
    replicaset.NAME: replicaset.ReplicaSetController,
    "replicationcontroller-controller": replicaset.ReplicationControllerController,
    deployment.NAME: deployment.DeploymentController,
    statefulset.NAME: statefulset.StatefulSetController,
    daemonset.NAME: daemonset.DaemonSetController,
    job.NAME: job.JobController,
    namespace.NAME: namespace.NamespaceController,
    garbage.NAME: garbage.GarbageCollector,
    pod_gc.NAME: pod_gc.PodGarbageCollector,
    node_lifecycle.NAME: node_lifecycle.NodeLifecycleController,
    disruption.NAME: disruption.DisruptionController,
    taint_eviction.NAME: taint_eviction.TaintEvictionController,
    volume_binder.NAME: volume_binder.VolumeBinder,
    ephemeral_volumes.NAME: ephemeral_volumes.EphemeralVolumes,
    provisioner.NAME: provisioner.ExternalProvisioner,
}
"""By the names that kube-controller-manager gives them; the external provisioner is none of its."""
ALIASES: Final = {
    "replicaset": replicaset.NAME,
    "replicationcontroller": "replicationcontroller-controller",
    "deployment": deployment.NAME,
    "statefulset": statefulset.NAME,
    "daemonset": daemonset.NAME,
    "job": job.NAME,
    "namespace": namespace.NAME,
    "garbagecollector": garbage.NAME,
    "podgc": pod_gc.NAME,
    "nodelifecycle": node_lifecycle.NAME,
    "disruption": disruption.NAME,
}
"""Their older names, which kube-controller-manager still takes.

Source: cmd/kube-controller-manager/names/controller_names.go, KCMControllerAliases, v1.36
"""


def start(api: ApiServer, names: Sequence[str]) -> None:
    """Start the controllers that are named, in the order of the table."""
    for name, make in CONTROLLERS.items():
        if name in names:
            make(api)
