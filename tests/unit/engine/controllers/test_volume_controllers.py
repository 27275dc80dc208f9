"""Claims get their volumes: bound by the controller, made by a provisioner, asked for by StatefulSets and Pods."""

from tests.unit.engine.controllers.clusters import Story, create, delete, node, pod, template, workload

ZONE = "topology.kubernetes.io/zone"
DRIVER = "csi.example.com"
NODES = (node("n1", labels={ZONE: "a"}), node("n2", labels={ZONE: "b"}))


def storage_class(name, mode, provisioner=DRIVER, **metadata):
    return {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name, **metadata}, "provisioner": provisioner,
        "volumeBindingMode": mode,
    }  # fmt: skip


NOW = storage_class("now", "Immediate")
LATE = storage_class("late", "WaitForFirstConsumer")
LOCAL = storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")


def claim(name="data", cls="late", size="1Gi"):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if cls is not None:
        spec["storageClassName"] = cls
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def volume(name, zone, size="1Gi", cls="local"):
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    return {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": cls,
            "local": {"path": "/disk"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }  # fmt: skip


def csi_node(name):
    drivers = [{"name": DRIVER, "nodeID": name, "topologyKeys": [ZONE]}]
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": drivers}}


def user(name, *claims, **spec):
    return pod(name, volumes=[{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)], **spec)


def stored(story, kind, name, namespace="default"):
    return story.simulation.api.get(kind, "" if kind == "PersistentVolume" else namespace, name)


def only_volume(story):
    [found] = story.simulation.api.list("PersistentVolume")
    return found


def test_an_immediate_claim_gets_a_volume_before_its_pod_is_scheduled():
    story = Story([*NODES, NOW, claim(cls="now"), user("p", "data")])
    made = next(r for r in story.records if (r.verb, r.name) == ("create", only_volume(story).name))
    binding = next(r for r in story.records if r.resource == "pods/binding")
    assert only_volume(story).claim_ref.name == "data"
    assert stored(story, "PersistentVolumeClaim", "data").bound
    assert (only_volume(story).phase, stored(story, "PersistentVolumeClaim", "data").phase) == ("Bound", "Bound")
    assert (made.actor, made.t < binding.t) == ("external-provisioner", True)
    assert story.events("ExternalProvisioning")


def test_a_claim_that_waits_is_provisioned_where_its_pod_was_placed():
    chosen = {"nodeSelector": {ZONE: "b"}}
    story = Story([*NODES, csi_node("n2"), LATE, claim()], [create("1s", user("p", "data", **chosen))])
    found = only_volume(story)
    assert story.pods()["p"].node_name == "n2"
    assert (found.reachable_from({ZONE: "b"}), found.reachable_from({ZONE: "a"})) == (True, False)
    assert stored(story, "PersistentVolumeClaim", "data").volume_name == found.name
    assert story.events("WaitForFirstConsumer") == ["waiting for first consumer to be created before binding"]


def test_a_claim_that_waits_gets_the_smallest_local_volume_that_can_be_reached():
    volumes = [volume("small", "a"), volume("large", "a", "5Gi"), volume("elsewhere", "b")]
    story = Story([*NODES, LOCAL, *volumes, claim(cls="local"), user("p", "data", nodeSelector={ZONE: "a"})])
    assert story.pods()["p"].node_name == "n1"
    assert stored(story, "PersistentVolumeClaim", "data").volume_name == "small"
    assert stored(story, "PersistentVolume", "small").phase == "Bound"
    assert stored(story, "PersistentVolume", "large").phase == "Available"


def test_without_the_controller_the_pod_waits_for_its_claim():
    story = Story([*NODES, NOW, claim(cls="now"), user("p", "data")], controllers=[])
    assert not story.pods()["p"].node_name
    assert "pod has unbound immediate PersistentVolumeClaims" in story.events("FailedScheduling")[0]


def test_the_newest_default_class_is_given_to_a_claim_that_names_none():
    default = storage_class("usual", "Immediate", annotations={"storageclass.kubernetes.io/is-default-class": "true"})
    story = Story([*NODES, default], [create("1s", claim(cls=None)), create("2s", user("p", "data"))])
    assert stored(story, "PersistentVolumeClaim", "data").storage_class == "usual"
    assert story.pods()["p"].phase == "Running"


def test_a_stateful_set_makes_claims_that_outlive_its_pods():
    claims = [{"metadata": {"name": "data"}, "spec": claim(cls="now")["spec"]}]
    made = workload("StatefulSet", "db", template(app="db"), replicas=2, serviceName="db", volumeClaimTemplates=claims)
    scale = {"at": "30s", "patchOperation": {"kind": "StatefulSet", "name": "db", "patch": {"spec": {"replicas": 1}}}}
    story = Story([*NODES, NOW, made], [scale])
    assert list(story.pods()) == ["db-0"]
    assert [c.name for c in story.simulation.api.list("PersistentVolumeClaim")] == ["data-db-0", "data-db-1"]
    assert stored(story, "PersistentVolumeClaim", "data-db-1").labels["app"] == "db"
    assert story.pods()["db-0"].spec.claims == ("data-db-0",)
    assert "create Claim data-db-0 Pod db-0 in StatefulSet db success" in story.events("SuccessfulCreate")


def test_an_ephemeral_volume_lives_as_long_as_its_pod():
    template_ = {"volumeClaimTemplate": {"spec": claim(cls="now")["spec"]}}
    made = pod("p", volumes=[{"name": "scratch", "ephemeral": template_}])
    before = Story([*NODES, NOW], [create("1s", made)])
    assert stored(before, "PersistentVolumeClaim", "p-scratch").bound
    assert before.pods()["p"].phase == "Running"
    after = Story([*NODES, NOW], [create("1s", made), delete("20s", "Pod", "p")], duration="120s")
    assert after.simulation.api.list("PersistentVolumeClaim") == []
    assert after.simulation.api.list("PersistentVolume") == []


def test_a_volume_of_nobody_stays_where_its_class_retains_it():
    kept = {**NOW, "reclaimPolicy": "Retain"}
    story = Story([*NODES, kept, claim(cls="now")], [delete("20s", "PersistentVolumeClaim", "data")])
    assert only_volume(story).phase == "Released"


def test_a_claim_whose_volume_is_gone_is_lost():
    story = Story([*NODES, NOW, claim(cls="now")])
    name = only_volume(story).name
    again = Story([*NODES, NOW, claim(cls="now")], [delete("20s", "PersistentVolume", name)])
    assert stored(again, "PersistentVolumeClaim", "data").phase == "Lost"
    assert again.events("ClaimLost")
