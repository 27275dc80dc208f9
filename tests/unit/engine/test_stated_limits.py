"""What a run states about itself: each limit is said where it touches the run, and only there."""

import pytest

from simulations.engine.limits import LIMITS, View, stated_limits
from simulations.engine.scenario import parse_scenario
from tests.unit.engine.controllers.clusters import node, pod, template, workload

CLAIM = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
STORED = {
    "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}  # fmt: skip
CLASS = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": "csi.example.com"}
BUDGET = {
    "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
}  # fmt: skip
RANGE = {
    "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "r", "namespace": "default"}, "spec": {"limits": [{"type": "Pod"}]},
}  # fmt: skip
SCHEDULER = {"profiles": [{"schedulerName": "default-scheduler"}]}


def container(**fields):
    return [{"name": "main", "image": "app:1", **fields}]


def cards(name):
    made = node(name)
    made["status"]["allocatable"]["alibabacloud.com/gpu-milli"] = "8000"
    return made


TOUCHED = {
    "resource claims": (pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]),),
    "alibabacloud.com/gpu-milli is a sum": (cards("n1"),),
    "1 pods use claims that the input does not have": (pod("p", volumes=[CLAIM]),),
    "volumes of 1 storage classes": (CLASS,),
    "1 volumes of old in-tree drivers": (pod("p", volumes=[{"name": "d", "gcePersistentDisk": {"pdName": "disk"}}]),),
    "probes are not run": (pod("p", containers=container(readinessProbe={"httpGet": {"port": 80}})),),
    "preStop hooks": (
        workload("Deployment", made=template(containers=container(lifecycle={"preStop": {"sleep": {"seconds": 5}}}))),
    ),
    "init containers": (pod("p", initContainers=[{"name": "first", "image": "i"}]),),
    "1 limit ranges and quotas": (RANGE,),
    "progressDeadlineSeconds": (workload("Deployment", progressDeadlineSeconds=60),),
    "maxUnavailable of StatefulSets": (
        workload("StatefulSet", serviceName="web", updateStrategy={"rollingUpdate": {"maxUnavailable": 2}}),
    ),
    "backoffLimitPerIndex": (workload("Job", made=template(restartPolicy="Never"), ttlSecondsAfterFinished=5),),
    "deployment-controller does not run here: 1": (workload("Deployment"),),
    "budgets keep": (BUDGET,),
}
WITHOUT = {"deployment-controller does not run here: 1": [], "budgets keep": []}


def lines(*objects, **spec):
    document = {
        "apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "limits"},
        "spec": {"duration": "10s", "initial": list(objects), **spec},
    }  # fmt: skip
    return stated_limits(parse_scenario(document))["limits"]


@pytest.mark.parametrize("start", TOUCHED)
def test_a_limit_is_stated_where_it_touches_the_run(start):
    spec = {"controllers": WITHOUT[start]} if start in WITHOUT else {}
    found = lines(*TOUCHED[start], **spec)
    assert [line for line in found if line.startswith(start)], found


def test_a_plain_run_states_none():
    assert lines(node("n1"), pod("p"), workload("Deployment")) == []


def test_claims_that_are_there_are_no_limit():
    assert lines(node("n1"), pod("p", volumes=[CLAIM]), STORED) == []


def test_schedulers_of_one_name_and_silent_nodes_are_stated():
    operations = [{"at": "1s", "failNodeOperation": {"node": "n1"}}]
    found = lines(node("n1"), schedulers=[SCHEDULER, SCHEDULER], operations=operations, controllers=["node-lifecycle-controller"])
    assert any(line.startswith("2 schedulers answer to default-scheduler") for line in found)
    assert any(line.startswith("NoExecute taints are set") for line in found)


def test_every_limit_says_what_it_is_about_for_the_page():
    assert len({limit.about for limit in LIMITS}) == len(LIMITS)
    assert all(limit.about.endswith(".") for limit in LIMITS)


def test_a_view_counts_pods_and_templates():
    document = {
        "apiVersion": "schedscope/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "v"},
        "spec": {"initial": [pod("p"), workload("DaemonSet")]},
    }
    assert len(View(parse_scenario(document)).pod_specs) == 2
