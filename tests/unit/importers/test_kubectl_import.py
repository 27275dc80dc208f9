"""Importing kubectl's output: the receipt says what was read, ignored, doubtful and wrong; all or nothing."""

import copy
import json
import random
import time
from pathlib import Path

import pytest
import yaml

from simulations.engine.documents import load_documents
from simulations.importers.kubectl import import_objects, import_paths

SHOP = Path(__file__).resolve().parents[2] / "data" / "clusters" / "shop-40-nodes.yaml"


def node(name="node-1", **status):
    status = {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}} | status
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def pod(name="web-1", namespace="shop", labels=None, **spec):
    containers = [{"name": "main", "image": "a", "resources": {"requests": {"cpu": "100m"}}}]
    metadata = {"name": name, "namespace": namespace, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers} | spec}


def budget(selector, name="web"):
    metadata = {"name": name, "namespace": "shop"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": {"maxUnavailable": 1, "selector": selector},
    }


def replicaset(cpu="100m", labels=None):
    containers = [{"name": "main", "image": "a", "resources": {"requests": {"cpu": cpu}}}]
    template = {"metadata": {"labels": labels or {"app": "web"}}, "spec": {"containers": containers}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}


def imported(*objects, **more):
    """Import objects as one YAML list."""
    return import_objects(
        [("dump.yaml", yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": list(objects)}).encode())], **more
    )


def with_request(**requests):
    value = pod()
    value["spec"]["containers"][0]["resources"]["requests"] = requests
    return value


class TestWhatIsRead:
    def test_objects_are_counted_by_kind_and_pending_pods_apart(self):
        result = imported(node(), pod(), pod("web-2", nodeName="node-1"), budget({"matchLabels": {"app": "web"}}))
        assert result.receipt.counts == {"Node": 1, "Pod": 2, "PodDisruptionBudget": 1}
        assert result.receipt.pending == 1
        assert [value["metadata"]["name"] for value in result.objects] == ["node-1", "web-1", "web-2", "web"]

    def test_several_files_make_one_cluster(self):
        sources = [("nodes.json", json.dumps(node()).encode()), ("pods.yaml", yaml.safe_dump(pod()).encode())]
        result = import_objects(sources)
        assert (result.receipt.files, result.receipt.counts) == (2, {"Node": 1, "Pod": 1})

    def test_an_empty_cluster_is_accepted_and_the_receipt_says_so(self):
        result = imported()
        assert (result.objects, result.receipt.errors) == ([], [])
        assert [warning.code for warning in result.receipt.warnings] == ["W0201"]

    def test_a_name_of_253_characters_is_fine(self):
        assert not imported(node(), pod("x" * 253)).receipt.errors

    def test_bookkeeping_is_dropped_and_the_rest_is_kept(self):
        value = pod()
        value["metadata"] |= {"managedFields": [{"manager": "kubectl"}], "annotations": {"note": "<script>alert(1)</script>"}}
        [_, kept] = imported(node(), value).objects
        assert "managedFields" not in kept["metadata"]
        assert kept["metadata"]["annotations"] == {"note": "<script>alert(1)</script>"}

    def test_the_newest_time_of_the_dump_is_told(self):
        value = pod()
        value["metadata"]["creationTimestamp"] = "2026-03-01T10:00:00Z"
        value["status"] = {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-03-01T11:00:00Z"}]}
        assert imported(node(), value).newest.isoformat() == "2026-03-01T11:00:00+00:00"

    def test_progress_ends_at_the_number_of_objects(self):
        told = []
        imported(*[node(f"node-{i}") for i in range(450)], on_progress=lambda done, total: told.append((done, total)))
        assert told == [(0, 450), (200, 450), (400, 450), (450, 450)]


class TestARealDump:
    def test_every_object_is_read_at_once(self):
        started = time.perf_counter()
        result = import_paths([SHOP])
        assert time.perf_counter() - started < 2
        assert (result.receipt.ignored, result.receipt.warnings, result.receipt.errors) == ([], [], [])
        assert (result.receipt.counts["Node"], result.receipt.counts["Pod"], result.receipt.pending) == (40, 236, 30)
        assert result.receipt.counts["PodDisruptionBudget"] == 4

    def test_json_gives_the_same_objects(self, tmp_path):
        [whole] = load_documents(SHOP.read_text(encoding="utf-8"), split_lists=False)
        (tmp_path / "shop.json").write_text(json.dumps(whole.value), encoding="utf-8")
        assert import_paths([tmp_path]).objects == import_paths([SHOP]).objects


class TestWhatIsIgnored:
    @pytest.mark.parametrize(
        ("kind", "version", "why"),
        [
            ("Event", "v1", "events of the past are not replayed"),
            ("ConfigMap", "v1", "has no part in scheduling"),
            ("Pdo", "v1", "not a kind of Kubernetes; did you mean Pod?"),
            ("PodDisruptionBudgte", "policy/v1", "not a kind of Kubernetes; did you mean PodDisruptionBudget?"),
            ("VirtualMachine", "kubevirt.io/v1", "not a kind that is read"),
            ("Service", "serving.knative.dev/v1", "Service of serving.knative.dev/v1 is not Kubernetes' own Service (v1)"),
        ],
    )
    def test_other_kinds_are_left_out_with_the_reason(self, kind, version, why):
        other = {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "shop"}}
        [ignored] = imported(node(), other).receipt.ignored
        assert (ignored.kind, ignored.name, ignored.why, ignored.file) == (kind, "shop/x", why, "dump.yaml")
        assert ignored.line > 1

    def test_many_of_a_kind_make_one_entry_with_a_count(self):
        events = [{"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"e{i}"}} for i in range(50)]
        [ignored] = imported(node(), *events).receipt.ignored
        assert (ignored.count, len(ignored.names)) == (50, 10)


class TestWhatIsDoubtful:
    @pytest.mark.parametrize(
        ("value", "code"),
        [
            (pod(nodeName="node-9"), "W0202"),
            (pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]), "W0203"),
            (pod(priorityClassName="gone"), "W0204"),
            (pod(resourceClaims=[{"name": "gpu"}]), "W0206"),
            (pod(schedulerName="mine"), "W0207"),
        ],
        ids=[
            "bound to a node that is not there",
            "with a volume",
            "of an absent PriorityClass",
            "with a resource claim",
            "of another scheduler",
        ],
    )
    def test_a_pod_is_read_with_a_reservation(self, value, code):
        result = imported(node(), value)
        [warning] = result.receipt.warnings
        assert (warning.code, warning.names) == (code, ["shop/web-1"])
        assert len(result.objects) == 2

    def test_a_pod_whose_replicaset_is_absent_is_kept_but_not_replaced(self):
        value = pod()
        value["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}]
        assert [warning.code for warning in imported(node(), value).receipt.warnings] == ["W0205"]

    def test_volumes_that_bind_a_pod_to_nothing_need_no_word(self):
        assert not imported(node(), pod(volumes=[{"name": "v", "configMap": {"name": "c"}}])).receipt.warnings


class TestWhatIsWrong:
    @pytest.mark.parametrize(
        ("value", "code", "field"),
        [
            (with_request(cpu="1e400"), "E0208", "spec.containers[0].resources.requests[cpu]"),
            (with_request(cpu="-5"), "E0207", "spec.containers[0].resources.requests[cpu]"),
            (with_request(memory="much"), "E0206", "spec.containers[0].resources.requests[memory]"),
            (node(allocatable={"cpu": "-4"}), "E0207", "status.allocatable[cpu]"),
            (node(allocatable={"cpu": "1e400"}), "E0208", "status.allocatable[cpu]"),
            (pod("x" * 254), "E0203", "metadata.name"),
            (pod("Web_1"), "E0203", "metadata.name"),
            (pod(containers=[]), "E0213", "spec.containers"),
            (pod(tolerations=[{"key": "a", "operator": "Like"}]), "E0214", "spec.tolerations[0].operator"),
            (node() | {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}] * 2}}, "E0214", "metadata.taints[1]"),
            ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a.b"}}, "E0203", "metadata.name"),
            (pod(""), "E0203", "metadata.name"),
            (pod(namespace="no.dots"), "E0204", "metadata.namespace"),
            (pod(labels={"app": "<b>web</b>"}), "E0205", "metadata.labels"),
            (pod(labels={"<i>": "x"}), "E0205", "metadata.labels"),
            (pod(labels={"app": "x" * 64}), "E0205", "metadata.labels"),
            (budget({"matchExpressions": [{"key": "a", "operator": "Like", "values": ["x"]}]}), "E0209", None),
            (budget({"matchExpressions": [{"key": "a", "operator": "In"}]}), "E0209", None),
            (budget("app=web"), "E0213", "spec.selector"),
            (replicaset(cpu="-5"), "E0207", "spec.template.spec.containers[0].resources.requests[cpu]"),
            (replicaset(cpu="1e400"), "E0208", "spec.template.spec.containers[0].resources.requests[cpu]"),
            (replicaset(labels={"app": "other"}), "E0214", "spec.template.metadata.labels"),
            (replicaset(labels={"app": "web", "x": "<b>"}), "E0205", "spec.template.metadata.labels"),
            ({"kind": "Pod", "metadata": {"name": "x"}}, "E0202", "apiVersion"),
            ({"apiVersion": "v1", "metadata": {"name": "x"}}, "E0201", "kind"),
            ({"apiVersion": "v1", "kind": "Pod"}, "E0212", "metadata"),
            ({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "x"}}, "E0202", "apiVersion"),
            ({"kind": "Scenario", "spec": {}}, "E0119", "kind"),
        ],
    )  # fmt: skip
    def test_each_mistake_names_code_file_line_and_field(self, value, code, field):
        result = imported(node("good"), value)
        [error] = result.receipt.errors
        assert (error.code, error.file) == (code, "dump.yaml")
        assert error.line is not None
        assert error.line > 1
        assert field is None or error.field == field
        assert result.objects == []

    def test_the_second_of_two_equal_names_is_refused_and_the_first_is_pointed_at(self):
        [error] = imported(node(), pod(), pod()).receipt.errors
        assert error.code == "E0210"
        assert "Pod shop/web-1 is already defined at dump.yaml:" in error.message

    def test_equal_names_in_two_namespaces_or_of_two_kinds_are_fine(self):
        assert not imported(node("a"), pod("a", "x"), pod("a", "y")).receipt.errors

    def test_one_error_keeps_everything_out_but_all_errors_are_told(self):
        result = imported(node(), pod(), with_request(cpu="-5"), pod("Bad"))
        assert result.objects == []
        assert result.receipt.refused
        assert [error.code for error in result.receipt.errors] == ["E0207", "E0203"]

    def test_a_broken_file_does_not_hide_the_errors_of_another(self):
        result = import_objects([("a.yaml", b"a: ["), ("b.yaml", yaml.safe_dump(pod("Bad")).encode())])
        assert [(error.code, error.file) for error in result.receipt.errors] == [("E0104", "a.yaml"), ("E0203", "b.yaml")]

    def test_input_without_any_kind_that_is_read_is_refused(self):
        [error] = imported({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}).receipt.errors
        assert error.code == "E0118"

    @pytest.mark.parametrize("content", [b"", b"# only a comment\n", b"---\n"], ids=["no bytes", "a comment", "a separator"])
    def test_a_file_without_objects_is_refused(self, content):
        [error] = import_objects([("empty.yaml", content)]).receipt.errors
        assert error.code == "E0114"

    def test_no_file_at_all_is_refused(self):
        assert import_objects([]).receipt.errors[0].code == "E0114"

    def test_a_missing_path_is_on_the_receipt(self, tmp_path):
        assert import_paths([tmp_path / "none.yaml"]).receipt.errors[0].code == "E0115"

    def test_thousands_of_errors_are_counted_not_listed(self):
        receipt = imported(*[pod(f"Bad-{i}") for i in range(500)]).receipt
        assert (len(receipt.errors), receipt.more_errors) == (200, 300)


def test_the_receipt_is_json():
    receipt = imported(node(), with_request(cpu="-5")).receipt.as_dict()
    assert json.loads(json.dumps(receipt))["refused"] is True


def mutated(value, rng):
    """The value with one part replaced by something of another shape."""
    value = copy.deepcopy(value)
    places = []
    waiting = [value]
    while waiting:
        part = waiting.pop()
        for key in part if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            if isinstance(part[key], dict | list):
                waiting.append(part[key])
    part, key = rng.choice(places)
    part[key] = rng.choice([None, "", "x", -1, 1e9, True, [], {}, [None], {"a": None}, [[1]], "\u202e<b>", "9" * 400])
    return value


ANTI_AFFINITY = {"topologyKey": "z", "labelSelector": {"matchLabels": {"a": "b"}}}


def test_whatever_shape_an_object_has_the_answer_is_a_receipt():
    rng = random.Random(1)
    rich = pod(
        tolerations=[{"key": "a", "operator": "Exists", "tolerationSeconds": 3}],
        nodeSelector={"a": "b"},
        affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [ANTI_AFFINITY]}},
        topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}],
        volumes=[{"name": "v", "hostPath": {"path": "/"}}],
        overhead={"cpu": "1"},
    )  # fmt: skip
    rich["status"] = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Ready", "status": "True"}]}
    full = node(conditions=[{"type": "Ready", "status": "True"}], images=[{"names": ["a"], "sizeBytes": 5}])
    full["spec"] = {"taints": [{"key": "a", "effect": "NoSchedule"}], "unschedulable": True}
    for _ in range(3000):
        result = imported_json(mutated(rng.choice([rich, full, budget({"matchLabels": {"a": "b"}})]), rng))
        assert bool(result.objects) != bool(result.receipt.errors) or result.receipt.ignored


def imported_json(value):
    return import_objects([("x.json", json.dumps({"kind": "List", "items": [node("other"), value]}).encode())])
