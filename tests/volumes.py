"""Volumes, claims, classes and what drivers say, for tests; read from manifests as the engine does."""

from simulations.engine.api.decode import decode_object
from tests.builders import EPOCH, ZONE, make, make_pod

CSI = "csi.example.com"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def storage_class(name="late", mode="WaitForFirstConsumer", provisioner=NO_PROVISIONER, **fields):
    return make("StorageClass", name, "storage.k8s.io/v1", provisioner=provisioner, volumeBindingMode=mode, **fields)


def claim(name="data", size="1Gi", cls="late", volume="", modes=("ReadWriteOnce",), annotations=None, status=None, **spec):
    """A claim; with `volume` it is bound to it."""
    document = {"accessModes": list(modes), "resources": {"requests": {"storage": size}}, "storageClassName": cls, **spec}
    if volume:
        document["volumeName"] = volume
    marks = {**(annotations or {}), **(BOUND if volume else {})}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": marks}
    manifest = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": document, "status": status or {}}
    return decode_object(manifest, epoch=EPOCH)


def volume(name, size="1Gi", cls="late", zone="", phase="Available", labels=None, **spec):
    """A volume; with `zone` it can be reached from Nodes of that zone alone."""
    document = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": cls, **spec}
    if zone:
        expression = {"key": ZONE, "operator": "In", "values": [zone]}
        document["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    metadata = {"name": name, "labels": labels or {}}
    manifest = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": document, "status": {"phase": phase}}
    return decode_object(manifest, epoch=EPOCH)


def using(name, *claims):
    """A Pod that uses these claims."""
    return make_pod(name).spec(volumes=[{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)])


def csi_node(name, count):
    drivers = [{"name": CSI, "nodeID": name, "allocatable": {"count": count}}]
    return make("CSINode", name, "storage.k8s.io/v1", spec={"drivers": drivers})


def csi_driver(storage_capacity=True):
    return make("CSIDriver", CSI, "storage.k8s.io/v1", spec={"storageCapacity": storage_capacity})


def capacity(name, zone, cls="late", **amounts):
    topology = {"matchLabels": {ZONE: zone}}
    return make("CSIStorageCapacity", name, "storage.k8s.io/v1", storageClassName=cls, nodeTopology=topology, **amounts)


def attached(name, node, volume_name):
    spec = {"attacher": CSI, "nodeName": node, "source": {"persistentVolumeName": volume_name}}
    return make("VolumeAttachment", name, "storage.k8s.io/v1", spec=spec)
