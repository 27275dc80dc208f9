"""What the four volume plugins reject, and with which words."""

from dataclasses import replace
from random import Random

import pytest

from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.scheduler.config import parse_config
from simulations.engine.scheduler.preemption.evaluator import evaluate
from tests.builders import HOSTNAME, ZONE, make_node, make_pod
from tests.unit.engine.scheduler.cluster_of import Cluster
from tests.volumes import CSI, attached, capacity, claim, csi_driver, csi_node, storage_class, using, volume

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
CONFLICT = "VolumeBinding: node(s) didn't match PersistentVolume's node affinity"
NO_MATCH = "VolumeBinding: node(s) didn't find available persistent volumes to bind"
IN_USE = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"


ZONES = [make_node("in-a").zone("a"), make_node("in-b").zone("b")]


def verdicts(pod, *others, pods=(), nodes=None):
    return Cluster(nodes or ZONES, pods, others).verdicts(pod)


def ended(pod, *others):
    """The message of a cycle that PreFilter ended."""
    return Cluster(ZONES, (), others).schedule(pod).diagnosis.pre_filter_message


# ---- claims that cannot be used at all


def test_a_claim_that_is_not_there():
    result = Cluster(ZONES).schedule(using("p", "data"))
    assert result.diagnosis.pre_filter_message == 'persistentvolumeclaim "data" not found'
    assert result.diagnosis.rejecting == ["VolumeRestrictions"]


def test_a_claim_that_should_have_been_bound_before():
    assert ended(using("p", "data"), storage_class(mode="Immediate"), claim()) == "pod has unbound immediate PersistentVolumeClaims"


def test_a_claim_whose_class_is_not_there_counts_as_immediate():
    assert ended(using("p", "data"), claim(cls="gone")) == "pod has unbound immediate PersistentVolumeClaims"


def test_a_claim_that_names_its_volume_counts_as_immediate_until_it_is_bound():
    assert ended(using("p", "data"), storage_class(), claim(volumeName="v")) == "pod has unbound immediate PersistentVolumeClaims"


def test_a_claim_that_is_being_deleted():
    gone = replace(claim(volume="v"), deletion_time=1)
    assert ended(using("p", "data"), gone, volume("v")) == 'persistentvolumeclaim "data" is being deleted'


def test_a_claim_that_has_lost_its_volume():
    lost = claim(volume="v", status={"phase": "Lost"})
    text = 'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"'
    assert ended(using("p", "data"), lost) == text


def test_a_claim_of_an_ephemeral_volume_is_waited_for_and_must_be_the_pods_own():
    pod = make_pod("p").spec(volumes=[{"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])
    assert ended(pod) == 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-tmp"'
    assert ended(pod, claim("p-tmp")) == "PVC default/p-tmp was not created for pod default/p (pod is not owner)"


# ---- VolumeRestrictions


def test_a_claim_for_one_pod_alone_rejects_every_node_while_it_is_used():
    once = claim(volume="v", modes=("ReadWriteOncePod",))
    found = verdicts(using("p", "data"), once, volume("v"), pods=[using("user", "data").on("in-a")])
    assert found == dict.fromkeys(["in-a", "in-b"], f"VolumeRestrictions: {IN_USE}")
    assert verdicts(using("p", "data"), once, volume("v")) == {}


def test_preempting_its_user_frees_a_claim_for_one_pod_alone():
    once = claim(volume="v", modes=("ReadWriteOncePod",))
    cluster = Cluster(ZONES, [using("user", "data").on("in-a").started(1)], [once, volume("v")])
    pod = using("p", "data").priority(10).build()
    outcome = evaluate(cluster.framework, pod, cluster.schedule(pod), 100, Random(1))
    assert [(c.node, [v.name for v in c.victims]) for c in outcome.candidates] == [("in-a", ["user"])]


@pytest.mark.parametrize(
    "ours, theirs, conflict",
    [
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, True),
        ({"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, False),
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "e"}}, False),
        (
            {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
            {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
            True,
        ),
        ({"iscsi": {"iqn": "i"}}, {"iscsi": {"iqn": "i"}}, True),
        ({"rbd": {"monitors": ["a", "b"], "image": "i"}}, {"rbd": {"monitors": ["b"], "pool": "rbd", "image": "i"}}, True),
        ({"rbd": {"monitors": ["a"], "image": "i"}}, {"rbd": {"monitors": ["b"], "image": "i"}}, False),
        ({"iscsi": {"iqn": "i"}}, {"gcePersistentDisk": {"pdName": "i"}}, False),
    ],
)
def test_a_disk_is_on_a_node_once_unless_all_read_it(ours, theirs, conflict):
    there = make_pod("there").spec(volumes=[{"name": "d", **theirs}]).on("in-a")
    found = verdicts(make_pod("p").spec(volumes=[{"name": "d", **ours}]), pods=[there])
    assert found == ({"in-a": "VolumeRestrictions: node(s) had no available disk"} if conflict else {})


# ---- NodeVolumeLimits


def csi_volumes(*names):
    return [volume(f"v-{n}", csi={"driver": CSI, "volumeHandle": n}) for n in names] + [claim(n, volume=f"v-{n}") for n in names]


FULL = "NodeVolumeLimits: node(s) exceed max volume count"


def test_a_node_attaches_no_more_volumes_than_its_driver_says():
    others = [csi_node("in-a", 1), csi_node("in-b", 2), *csi_volumes("one", "two", "three")]
    pods = [using("x", "one").on("in-a"), using("y", "one").on("in-b")]
    assert verdicts(using("p", "two"), *others, pods=pods) == {"in-a": FULL}
    assert verdicts(using("p", "two", "three"), *others, pods=pods) == dict.fromkeys(["in-a", "in-b"], FULL)
    assert verdicts(using("p", "one"), *others, pods=pods) == {}, "a volume that is there already counts once"


def test_volumes_that_are_attached_count_beside_those_of_pods():
    others = [
        csi_node("in-a", 2),
        *csi_volumes("one", "two", "three"),
        attached("a", "in-a", "v-one"),
        attached("b", "in-a", "v-two"),
    ]
    pods = [using("x", "one").on("in-a")]
    assert verdicts(using("p", "three"), *others, pods=pods) == {"in-a": FULL}
    assert verdicts(using("p", "three"), *others[:-1], pods=pods) == {}, "v-one is attached for a Pod that is counted already"


def test_of_a_claim_that_is_not_bound_the_class_tells_the_driver():
    others = [csi_node("in-a", 0), storage_class("fast", provisioner=CSI), claim(cls="fast")]
    assert verdicts(using("p", "data"), *others) == {"in-a": FULL}


# ---- VolumeBinding


def test_a_pod_goes_where_its_volume_can_be_reached_from():
    assert verdicts(using("p", "data"), claim(volume="v"), volume("v", zone="a")) == {"in-b": CONFLICT}


def test_a_claim_whose_volume_is_gone():
    text = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    cluster = Cluster(
        ZONES, (), [claim(volume="v")], {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "VolumeZone"}]}}}]}
    )
    assert cluster.verdicts(using("p", "data")) == dict.fromkeys(["in-a", "in-b"], f"VolumeBinding: {text}")
    assert ended(using("p", "data"), claim(volume="v")) == 'persistentvolume "v" not found', "VolumeZone says so first"


@pytest.mark.parametrize(
    "made, fits",
    [
        (volume("v", zone="a"), True),
        (volume("v", zone="a", size="512Mi"), False),
        (volume("v", zone="a", phase="Pending"), False),
        (volume("v", zone="a", phase="Released"), False),
        (volume("v", zone="a", cls="other"), False),
        (volume("v", zone="a", volumeMode="Block"), False),
        (volume("v", zone="a", accessModes=["ReadOnlyMany"]), False),
        (volume("v", zone="a", volumeAttributesClassName="gold"), False),
        (volume("v", zone="a", claimRef={"namespace": "default", "name": "other"}), False),
        (volume("v", zone="a", phase="Pending", claimRef={"namespace": "default", "name": "data"}), True),
        (volume("v", zone="a", claimRef={"namespace": "default", "name": "data", "uid": "old"}), False),
    ],
    ids=[
        "free", "too small", "not seen by the controller", "released", "of another class", "of another mode", "without the access mode",
        "of another attributes class", "of another claim", "the user's choice", "of a claim of that name that is gone",
    ],
)  # fmt: skip
def test_which_volume_a_waiting_claim_gets(made, fits):
    found = verdicts(using("p", "data"), storage_class(), claim(), made)
    assert found == ({"in-b": NO_MATCH} if fits else dict.fromkeys(["in-a", "in-b"], NO_MATCH))


def test_a_claim_may_select_its_volumes():
    chosen = claim(selector={"matchLabels": {"disk": "ssd"}})
    others = (storage_class(), chosen, volume("v", zone="a", labels={"disk": "hdd"}), volume("w", zone="b", labels={"disk": "ssd"}))
    assert verdicts(using("p", "data"), *others) == {"in-a": NO_MATCH}


def test_two_claims_of_a_pod_need_two_volumes_and_the_smaller_claim_chooses_first():
    pair = [claim("big", "3Gi"), claim("small", "1Gi")]
    assert verdicts(using("p", "big", "small"), storage_class(), *pair, volume("v", "4Gi")) == dict.fromkeys(
        ["in-a", "in-b"], NO_MATCH
    )
    cluster = Cluster(ZONES, (), [storage_class(), *pair, volume("wide", "4Gi"), volume("narrow", "2Gi")])
    pod = using("p", "big", "small").build()
    result = cluster.schedule(pod)
    assert cluster.framework.run_reserve(result.state, pod, result.node) is None
    bound = {v.name: v.claim_ref.name for v in cluster.cache.volumes.volumes.all()}
    assert bound == {"wide": "big", "narrow": "small"}


def test_a_volume_is_provisioned_where_the_class_allows_it():
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["b", "c"]}]}]
    assert verdicts(using("p", "data"), storage_class(provisioner=CSI, allowedTopologies=allowed), claim()) == {"in-a": NO_MATCH}
    assert verdicts(using("p", "data"), storage_class(provisioner=CSI), claim()) == {}


def test_a_volume_is_provisioned_where_the_driver_has_room():
    others = (storage_class(provisioner=CSI), claim(size="2Gi"), csi_driver())
    full = "VolumeBinding: node(s) did not have enough free storage"
    assert verdicts(using("p", "data"), *others) == dict.fromkeys(["in-a", "in-b"], full)
    assert verdicts(using("p", "data"), *others, capacity("a", "a", capacity="1Gi"), capacity("b", "b", capacity="2Gi")) == {
        "in-a": full
    }
    largest = capacity("a", "a", capacity="9Gi", maximumVolumeSize="1Gi")
    assert verdicts(using("p", "data"), *others, largest) == dict.fromkeys(["in-a", "in-b"], full)


def test_a_claim_that_is_being_provisioned_for_a_node_holds_its_pod_there():
    selected = claim(annotations={"volume.kubernetes.io/selected-node": "in-b"})
    assert verdicts(using("p", "data"), storage_class(provisioner=CSI), selected) == {"in-a": NO_MATCH}


def test_what_one_pod_is_given_no_other_gets():
    cluster = Cluster(ZONES, (), [storage_class(), claim("one"), claim("two"), volume("v")])
    pod = using("p", "one").build()
    result = cluster.schedule(pod)
    assert cluster.framework.run_reserve(result.state, pod, result.node) is None
    assert cluster.framework.has_pre_bind_work(result.state, pod, result.node)
    assert cluster.verdicts(using("q", "two")) == dict.fromkeys(["in-a", "in-b"], NO_MATCH)
    cluster.framework.run_unreserve(result.state, pod, result.node)
    assert cluster.verdicts(using("q", "two")) == {}


# ---- VolumeZone


@pytest.mark.parametrize(
    "labels, rejected",
    [
        ({ZONE: "a"}, ["in-b"]),
        ({ZONE: "a__b"}, []),
        ({BETA_ZONE: "b"}, ["in-a"]),
        ({ZONE: ""}, []),
        ({"topology.kubernetes.io/region": "r"}, ["in-a", "in-b"]),
    ],
)
def test_a_pod_follows_the_labels_of_its_volume(labels, rejected):
    nodes = [*ZONES, make_node("anywhere").labels({HOSTNAME: "anywhere"})]
    found = verdicts(using("p", "data"), claim(volume="v"), volume("v", labels=labels), nodes=nodes)
    assert found == dict.fromkeys(rejected, "VolumeZone: node(s) had no available volume zone")


# ---- arguments, and Pods without volumes


@pytest.mark.parametrize("args, path", [({"bindTimeoutSeconds": -1}, "bindTimeoutSeconds"), ({"shape": []}, "shape")])
def test_wrong_arguments_are_refused(args, path):
    config = {"profiles": [{"pluginConfig": [{"name": "VolumeBinding", "args": args}]}]}
    with pytest.raises(ScenarioError) as found:
        parse_config(config)
    assert (found.value.code, found.value.path) == ("E0404", f"profiles[0].pluginConfig[VolumeBinding].args.{path}")


def test_pods_without_volumes_skip_all_four():
    result = Cluster(ZONES).schedule(make_pod("p"))
    assert {"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"} <= set(result.state.skip_filter)
