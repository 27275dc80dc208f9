"""Wrong input gets the API server's own answer: its code and its words."""

import pytest

from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.scenario import parse_scenario
from tests.unit.engine.controllers.clusters import Story, create, node, patch, pod, template, workload


def made(kind, name="x", group="v1", **fields):
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}, **fields}


def container(**resources):
    return {"spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]}}


def priority_class(name="x", value=5, **fields):
    return made("PriorityClass", name, "scheduling.k8s.io/v1", value=value, **fields)


def budget(**spec):
    return made("PodDisruptionBudget", "x", "policy/v1", spec={"selector": {}, **spec})


def answer_to(manifest, *initial):
    story = Story([node("n1"), *initial], [create("1s", manifest)], "3s")
    [record] = [r for r in story.records if r.actor == "user" and r.verb == "create"]
    return record.code, record.message


def bare(**spec):
    return {**made("Pod", "x"), "spec": {**pod("x")["spec"], **spec}}


IN = "spec.containers[0].resources."
TEXTS = [
    (
        {**made("Pod"), **container(requests={"cpu": "-1"})},
        f'{IN}requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ),
    (
        {**made("Pod"), **container(requests={"cpu": "2"}, limits={"cpu": "1"})},
        f'{IN}requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ),
    (
        {**made("Pod"), **container(requests={"example.com/gpu": "1"})},
        f"{IN}limits: Required value: Limit must be set for non overcommitable resources",
    ),
    (
        {**made("Pod"), **container(limits={"example.com/gpu": "500m"})},
        f'{IN}limits[example.com/gpu]: Invalid value: "500m": must be an integer',
    ),
    (
        {**made("Pod"), **container(limits={"gpu": "1"})},
        f'{IN}limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
    ),
    (
        bare(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]),
        "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
    ),
    (
        bare(tolerations=[{"key": "a", "operator": "Like"}]),
        'spec.tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"',
    ),
    (
        bare(tolerations=[{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 1}]),
        "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set",
    ),
]


@pytest.mark.parametrize("manifest, text", TEXTS, ids=[text[:60] for _manifest, text in TEXTS])
def test_a_pod_that_is_wrong_is_invalid_in_the_words_of_the_api_server(manifest, text):
    assert answer_to(manifest) == (422, f'Pod "x" is invalid: {text}')


def test_several_mistakes_come_in_brackets_and_the_same_toleration_twice_is_none():
    wrong = {**made("Pod"), **container(limits={"gpu": "1", "cpu": "-1"})}
    code, text = answer_to(wrong)
    assert (code, text.startswith('Pod "x" is invalid: ['), text.count("Invalid value")) == (422, True, 2)
    twice = bare(tolerations=[{"key": "a", "operator": "Exists"}] * 2)
    assert answer_to(twice)[0] == 201


def test_a_quantity_that_does_not_parse_is_a_bad_request():
    code, text = answer_to({**made("Pod"), **container(requests={"cpu": "lots"})})
    assert code == 400
    assert text.startswith('Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression')


WORKLOADS = [
    (
        workload("Deployment", "x", selector={"matchLabels": {"app": "other"}}),
        'Deployment.apps "x"',
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    ),
    (
        workload("Deployment", "x", strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}),
        'Deployment.apps "x"',
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
    ),
    (
        workload("DaemonSet", "x", template(restartPolicy="Never")),
        'DaemonSet.apps "x"',
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ),
    (
        workload("Job", "x"),
        'Job.batch "x"',
        'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ),
    (
        workload("Job", "x", template(restartPolicy="Never"), parallelism=-1),
        'Job.batch "x"',
        "spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
    ),
    (
        budget(minAvailable=1, maxUnavailable=1),
        'PodDisruptionBudget.policy "x"',
        "minAvailable and maxUnavailable cannot be both set",
    ),
    (budget(minAvailable="101%"), 'PodDisruptionBudget.policy "x"', "must not be greater than 100%"),
    (budget(minAvailable="ten"), 'PodDisruptionBudget.policy "x"', "a valid percent string must be a numeric string"),
    (
        priority_class(value=1_000_000_001),
        'PriorityClass.scheduling.k8s.io "x"',
        "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
    ),
    (
        priority_class("system-mine"),
        'PriorityClass.scheduling.k8s.io "system-mine"',
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only",
    ),
]


@pytest.mark.parametrize("manifest, name, text", WORKLOADS, ids=[text[:60] for _manifest, _name, text in WORKLOADS])
def test_other_kinds_are_named_with_their_group(manifest, name, text):
    code, message = answer_to(manifest)
    assert code == 422
    assert message.startswith(f"{name} is invalid: ")
    assert text in message


def test_a_wrong_object_of_the_start_is_refused_with_its_path_before_the_run():
    wrong = workload("Job", "x")
    document = {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}, "spec": {"initial": [wrong]}}
    with pytest.raises(ScenarioErrors) as refused:
        parse_scenario(document)
    [error] = refused.value.errors
    assert (error.code, error.path) == ("E0214", "spec.initial[0].spec.template.spec.restartPolicy")


def test_only_one_class_is_the_default_and_those_of_kubernetes_may_be_in_a_dump():
    first = priority_class("one", globalDefault=True)
    code, text = answer_to(priority_class("two", globalDefault=True), first)
    assert (code, text) == (
        403,
        'priorityclasses.scheduling.k8s.io "two" is forbidden: PriorityClass one is already marked as default. '
        "Only one default can exist",
    )
    assert answer_to(priority_class("two"), priority_class("system-node-critical", 2_000_001_000), first)[0] == 201


CHANGES = [
    (priority_class("x"), "PriorityClass", {"value": 6}, "value: Forbidden: may not be changed in an update."),
    (priority_class("x"), "PriorityClass", {"globalDefault": True}, ""),
    (
        workload("Deployment", "x", replicas=0),
        "Deployment",
        {"spec": {"selector": {"matchLabels": {"a": "b"}}}},
        "field is immutable",
    ),
    (
        workload("StatefulSet", "x", replicas=0),
        "StatefulSet",
        {"spec": {"podManagementPolicy": "Parallel"}},
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy'",
    ),
    (workload("StatefulSet", "x", replicas=0), "StatefulSet", {"spec": {"replicas": 1}}, ""),
    (
        workload("Job", "x", template(restartPolicy="Never"), completions=2),
        "Job",
        {"spec": {"completions": 3}},
        "spec.completions: Invalid value: 3: field is immutable",
    ),
    (workload("Job", "x", template(restartPolicy="Never"), completions=2), "Job", {"spec": {"parallelism": 2}}, ""),
]


@pytest.mark.parametrize("manifest, kind, change, text", CHANGES)
def test_some_fields_stay_as_they_were_made(manifest, kind, change, text):
    story = Story([node("n1"), manifest], [patch("1s", kind, "x", change)], "3s")
    [record] = [r for r in story.records if r.actor == "user"]
    assert record.code == (422 if text else 200)
    assert text in record.message


def test_a_class_that_becomes_the_default_counts_for_pods_that_come_after_it():
    operations = [
        create("1s", pod("before")),
        patch("2s", "PriorityClass", "x", {"globalDefault": True}),
        create("3s", pod("after")),
    ]
    pods = Story([node("n1"), priority_class("x", 77)], operations, "5s").pods()
    assert (pods["before"].priority, pods["after"].priority) == (0, 77)
    assert pods["after"].spec.priority_class_name == "x"


@pytest.mark.parametrize("change", [{"metadata": {"labels": [1]}}, {"spec": 5}, {"spec": {"template": 7}}])
def test_a_patch_without_any_shape_is_refused_and_changes_nothing(change):
    story = Story([node("n1"), workload("ReplicaSet", "x", replicas=1)], [patch("5s", "ReplicaSet", "x", change)], "8s")
    [record] = [r for r in story.records if r.actor == "user"]
    assert record.code in (400, 422)
    assert len(story.pods()) == 1


def test_a_pod_that_cannot_be_read_is_refused_before_limit_ranges_look_at_it():
    limits = made("LimitRange", "l", spec={"limits": [{"type": "Pod", "max": {"cpu": "1"}}]})
    limits["metadata"]["namespace"] = "default"
    assert answer_to({**made("Pod"), **container(requests={"cpu": "lots"})}, limits)[0] == 400
