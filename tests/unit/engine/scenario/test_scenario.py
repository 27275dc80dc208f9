"""Scenarios: what works, and everything wrong refused by code, field and line."""

import pytest

from simulations.engine.api.durations import parse_duration
from simulations.engine.kernel.clock import HOUR, MILLISECOND, MINUTE, SECOND
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.scenario import parse_scenario
from simulations.pipelines.prepare import scenario_of_text


def document(**spec):
    return {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}, "spec": spec}


def pod(name="p", cpu="1", **metadata):
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": {"containers": [container]}}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("200ms", 200 * MILLISECOND),
        ("5s", 5 * SECOND),
        ("1h30m", HOUR + 30 * MINUTE),
        (2, 2 * SECOND),
        (0.5, SECOND // 2),
        ("1.5s", 1_500_000_000),
    ],
)
def test_durations_are_exact(text, expected):
    assert parse_duration(text, "at") == expected


SELECTOR = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
WRONG = [
    ("an unknown field", {"colour": "red"}, "E0301", "spec.colour"),
    ("a clock at the end of its range", {"startTime": "9999-12-31T23:59:59Z"}, "E0302", "spec.startTime"),
    ("a clock at the beginning of its range", {"startTime": "0001-01-01T00:00:00Z"}, "E0302", "spec.startTime"),
    ("a duration beyond any", {"duration": "9223372036854775807s"}, "E0303", "spec.duration"),
    ("an unknown field below", {"kubelet": {"mood": 1}}, "E0301", "spec.kubelet.mood"),
    (
        "an exponent out of range",
        {"initial": [pod(cpu="1e400")]},
        "E0208",
        "spec.initial[0].spec.containers[0].resources.requests[cpu]",
    ),
    ("a negative request", {"initial": [pod(cpu="-5")]}, "E0207", "spec.initial[0].spec.containers[0].resources.requests[cpu]"),
    ("a name twice", {"initial": [pod(), pod()]}, "E0210", "spec.initial[1].metadata.name"),
    ("a name of 254 characters", {"initial": [pod("a" * 254)]}, "E0203", "spec.initial[0].metadata.name"),
    ("HTML in a label", {"initial": [pod(labels={"a": "<b>"})]}, "E0205", "spec.initial[0].metadata.labels"),
    (
        "an unknown kind",
        {"initial": [{"apiVersion": "v1", "kind": "Pood", "metadata": {"name": "a"}}]},
        "E0201",
        "spec.initial[0].kind",
    ),
    (
        "a selector that does not parse",
        {"initial": [{**SELECTOR, "spec": {"selector": {"matchExpressions": [{"key": "a", "operator": "Foo"}]}}}]},
        "E0209",
        "spec.initial[0].spec.selector.matchExpressions[0].operator",
    ),
    ("a duration that is none", {"duration": "soon"}, "E0303", "spec.duration"),
    ("a run of no length", {"duration": 0}, "E0303", "spec.duration"),
    ("a negative count", {"generate": [{"count": -1, "namePrefix": "p-", "object": pod()}]}, "E0302", "spec.generate[0].count"),
    (
        "a window that ends before it starts",
        {"faults": [{"match": "delete pods", "between": ["2s", "1s"]}]},
        "E0302",
        "spec.faults[0].between",
    ),
    ("a call that is none", {"faults": [{"match": "explode pods"}]}, "E0302", "spec.faults[0].match"),
    ("a version that is not modelled", {"kubernetesVersion": "1.20"}, "E0305", "spec.kubernetesVersion"),
    ("a version that YAML made a number", {"kubernetesVersion": 1.36}, "E0302", "spec.kubernetesVersion"),
    ("a gate that is not modelled", {"featureGates": {"Magic": True}}, "E0306", "spec.featureGates.Magic"),
    ("a descheduler without a policy", {"descheduler": {"interval": "5m"}}, "E0302", "spec.descheduler.policy"),
    ("a failure mode that is none", {"asyncPreemptionFailure": "kpe"}, "E0302", "spec.asyncPreemptionFailure"),
    (
        "an operation that does not exist",
        {"operations": [{"at": 1, "explodeOperation": {"name": "p"}}]},
        "E0308",
        "spec.operations[0]",
    ),
    (
        "an operation of two",
        {"operations": [{"at": 1, "createOperation": {}, "deleteOperation": {}}]},
        "E0308",
        "spec.operations[0]",
    ),
    (
        "an unknown plugin",
        {"schedulers": [{"profiles": [{"pluginConfig": [{"name": "Nope"}]}]}]},
        "E0402",
        "spec.schedulers[0].profiles[0]",
    ),
    ("a preset that is none", {"costs": {"preset": "moon"}}, "E0302", "spec.costs.preset"),
    ("an end that is none", {"until": "Bored"}, "E0302", "spec.until"),
    ("a negative seed", {"seed": -1}, "E0302", "spec.seed"),
]


@pytest.mark.parametrize("spec, code, path", [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_what_is_wrong_is_refused_by_code_and_field(spec, code, path):
    with pytest.raises(ScenarioErrors) as found:
        parse_scenario(document(**spec))
    assert any(error.code == code and error.path.startswith(path) for error in found.value.errors), found.value


def test_all_findings_come_at_once():
    with pytest.raises(ScenarioErrors) as found:
        parse_scenario(document(colour="red", duration="soon", seed=-1))
    assert sorted(error.code for error in found.value.errors) == ["E0301", "E0302", "E0303"]


def test_a_finding_names_file_and_line():
    text = b"apiVersion: schedscope/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  seed: 1\n  duration: soon\n"
    with pytest.raises(ScenarioErrors) as found:
        scenario_of_text(text, "mine.yaml")
    assert str(found.value).startswith("mine.yaml:6: E0303: spec.duration: ")


def test_generated_objects_share_their_spec_and_count_up():
    scenario = parse_scenario(document(generate=[{"count": 3, "namePrefix": "p-", "object": pod()}]))
    assert [o["metadata"]["name"] for o in scenario.initial] == ["p-0", "p-1", "p-2"]
    assert len({id(o["spec"]) for o in scenario.initial}) == 1


def test_a_name_of_253_characters_and_an_empty_cluster_are_fine():
    assert parse_scenario(document(initial=[pod("a" * 253)])).initial
    assert parse_scenario(document()).initial == ()
