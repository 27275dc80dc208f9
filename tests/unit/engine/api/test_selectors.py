"""Selectors match as Kubernetes' do."""

import pytest

from simulations.engine.api.labels import intern_labels
from simulations.engine.api.selectors import parse_node_term, parse_selector
from simulations.engine.kernel.errors import ScenarioError
from tests.builders import make_pod


def expression(operator, *values, key="app"):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    "selector, labels, matches",
    [
        ({}, {}, True),
        ({"matchLabels": {"app": "web"}}, {"app": "web", "x": "y"}, True),
        ({"matchLabels": {"app": "web"}}, {}, False),
        (expression("In", "web", "db"), {"app": "db"}, True),
        (expression("In", "web"), {}, False),
        (expression("NotIn", "web"), {"app": "db"}, True),
        (expression("NotIn", "web"), {}, True),
        (expression("Exists"), {"app": ""}, True),
        (expression("DoesNotExist"), {"other": "1"}, True),
        ({"matchLabels": {"a": "1"}, **expression("Exists")}, {"a": "1"}, False),
    ],
)
def test_a_label_selector_matches(selector, labels, matches):
    parsed = parse_selector(selector, "selector")
    assert parsed is not None
    assert parsed.matches(intern_labels(labels)) is matches


@pytest.mark.parametrize(
    "term, matches",
    [
        ({}, False),
        (expression("Gt", "5", key="gen"), True),
        (expression("Lt", "7", key="gen"), False),
        (expression("Gt", "x", key="gen"), False),
        (expression("Gt", "5", key="missing"), False),
        (expression("Gt", "5", key="text"), False),
        ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}, True),
        ({"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}, False),
        (
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}], **expression("Exists", key="nope")},
            False,
        ),
    ],
)
def test_a_node_selector_term_matches(term, matches):
    assert parse_node_term(term, "term").matches("n1", intern_labels({"gen": "7", "text": "a7"})) is matches


@pytest.mark.parametrize(
    "selector, path",
    [
        (expression("Foo"), "s.matchExpressions[0].operator"),
        (expression("In"), "s.matchExpressions[0].values"),
        (expression("Exists", "x"), "s.matchExpressions[0].values"),
        ({"matchLabels": {"a": 1}}, "s.matchLabels[a]"),
        ({"labels": {}}, "s"),
        ([], "s"),
    ],
)
def test_a_wrong_selector_is_refused_with_its_field(selector, path):
    with pytest.raises(ScenarioError) as caught:
        parse_selector(selector, "s")
    assert (caught.value.code, caught.value.path) == ("E0209", path)


def test_equal_selectors_written_differently_are_equal():
    one = parse_selector({"matchLabels": {"a": "1", "b": "2"}}, "s")
    other = parse_selector({"matchExpressions": [{"key": "b", "operator": "In", "values": ["2"]}], "matchLabels": {"a": "1"}}, "s")
    assert one == other
    assert hash(one) == hash(other)


def test_a_selector_survives_being_written_and_read():
    document = {"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["x", "y"]}]}
    parsed = parse_selector(document, "s")
    assert parsed is not None
    assert parsed.to_manifest() == document


def test_match_label_keys_become_requirements_with_the_pods_own_values():
    pod = (
        make_pod("p")
        .labels(app="web", version="v7")
        .spread("zone", match={"app": "web"}, matchLabelKeys=["version", "none"])
        .build()
    )
    selector = pod.spec.spread_constraints[0].selector
    assert selector is not None
    assert selector.matches(intern_labels({"app": "web", "version": "v7"}))
    assert not selector.matches(intern_labels({"app": "web", "version": "v8"}))


def test_pods_with_the_same_content_share_their_spec():
    one, other = make_pod("a").request(cpu="1").on("n1").build(), make_pod("b").request(cpu="1").build()
    assert one.spec is other.spec
    assert make_pod("c").request(cpu="2").build().spec is not one.spec
