"""Whatever comes in by whichever door is taken or refused with a code: no traceback, no 500, nothing that hangs."""

import json
from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.simulation import Simulation
from simulations.engine.whatif import apply_what_if, parse_settings, read_changes
from simulations.importers.kubectl import import_objects
from simulations.importers.openb import NODE_COLUMNS, read_nodes
from simulations.pipelines.prepare import scenario_of_text
from tests.fuzz.shapes import HOSTILE, PLAIN, TEXTS, as_text, base, scenarios

MOST_RECORDS = 3000
REFUSED = object()


def client():
    return Client(raise_request_exception=True)


def must_be_coded(errors):
    assert errors, "refused without a word"
    assert all(error.code[:1] == "E" and error.message for error in errors), errors


def tried(call):
    """What the call gives, or `REFUSED` where it refuses with codes; anything else fails the test."""
    try:
        return call()
    except ScenarioErrors as refused:
        must_be_coded(refused.errors)
        return REFUSED


def list_of(document):
    """A dump made of a scenario's initial objects."""
    spec = document.get("spec") if isinstance(document, dict) else None
    items = spec.get("initial") if isinstance(spec, dict) else 3
    return json.dumps({"kind": "List", "items": items}, default=str).encode()


@given(scenarios())
def test_a_wounded_scenario_is_refused_with_a_code_or_runs(document):
    parsed = tried(lambda: scenario_of_text(as_text(document).encode(), "wounded.json"))
    if parsed is REFUSED:
        return
    simulation = Simulation(parsed[0])
    result = tried(lambda: simulation.run(should_stop=lambda: len(simulation.trace) > MOST_RECORDS))
    assert result is REFUSED or result.reason in ("Settled", "Duration", "Cancelled", "Limit")


@given(TEXTS)
def test_any_text_is_no_scenario_with_a_code(text):
    assert tried(lambda: scenario_of_text(text, "any")) is REFUSED


@given(TEXTS | scenarios().map(list_of))
def test_any_dump_ends_in_a_receipt(text):
    found = import_objects([("dump.yaml", text)])
    if found.receipt.refused:
        must_be_coded(found.receipt.errors)
        assert not found.objects
    elif not found.objects:  # only an empty list has nothing to say
        assert not found.receipt.as_dict()["counts"]


CHANGES = ("addPods", "addNodes", "nodes", "workloads", "objects", "weights", "faults", "patch", "seed", "qps", "duration", "x")


@given(st.dictionaries(st.sampled_from(CHANGES), PLAIN, max_size=4))
def test_any_changes_are_refused_with_a_code_or_applied(changes):
    tried(lambda: apply_what_if(base("busy-shop"), read_changes(as_text(changes))))


OBJECTS = ("Pod/shop/web-1", "Node/node-01", "PriorityClass/urgent", "PriorityClass/new", "Deployment/shop/web", "x", "Node/a/b", 3)
OBJECT_CHANGE = st.fixed_dictionaries(
    {"object": st.sampled_from(OBJECTS)},
    optional={
        "patch": PLAIN | st.fixed_dictionaries({"spec": PLAIN}),
        "delete": PLAIN,
        "at": st.sampled_from(["5s", "", "soon", None, 3]),
    },
)


@given(st.lists(OBJECT_CHANGE, max_size=3))
def test_any_changes_of_objects_are_refused_with_a_code_or_their_scenario_is(changes):
    found = tried(lambda: apply_what_if(base("busy-shop"), read_changes(as_text({"objects": changes}))))
    if found is not REFUSED:
        tried(lambda: scenario_of_text(as_text(found.document).encode(), "changed.json"))


KEYS = st.sampled_from(["seed", "add_pods.count", "node.x", "workload.a.b", "qps", "weights.X", "add_nodes.like"])
PAIRS = st.tuples(KEYS, HOSTILE).map(lambda pair: f"{pair[0]}={pair[1]}")


@given(st.lists(st.text(max_size=30) | PAIRS, max_size=3))
def test_any_settings_are_refused_with_a_code_or_read(words):
    tried(lambda: parse_settings(words))


@given(st.lists(st.tuples(*[HOSTILE.map(str) | st.text(max_size=12)] * 5), max_size=4))
def test_any_node_list_of_openb_is_refused_with_a_code_or_read(rows):
    text = "\n".join([",".join(NODE_COLUMNS), *(",".join(row) for row in rows)])
    tried(lambda: read_nodes(text.encode("utf-8", "surrogatepass"), "nodes.csv"))


@pytest.mark.django_db
@given(body=scenarios())
def test_the_upload_and_paste_of_a_scenario_never_break(quiet, body):
    assert client().post("/runs/from-file/", {"paste": as_text(body)}).status_code in (302, 400)


@pytest.mark.django_db
@given(text=TEXTS)
def test_any_upload_is_answered(quiet, text):
    for path, field in (("/runs/from-file/", "scenario"), ("/clusters/import/", "files"), ("/api/clusters", "files")):
        answer = client().post(path, {field: SimpleUploadedFile("a.yaml", text)})
        assert answer.status_code < 500


FORM = (
    "count", "cpu", "memory", "priority", "name_prefix", "namespace", "at", "node", "node_action", "workload", "replicas", "seed",
    "duration", "pace", "qps", "yaml", "yaml_written", "only_in_yaml", "token", "name", "ends",
)  # fmt: skip
WORDS = HOSTILE.map(str) | st.text(max_size=30)


@pytest.mark.django_db
@given(values=st.dictionaries(st.sampled_from(FORM), WORDS, max_size=6), added=st.booleans())
def test_any_what_if_form_is_answered(quiet, values, added):
    data = {**values, **({"add_pods": "on"} if added else {})}
    assert client().post("/runs/new/?sample=race-higher-takes", data).status_code in (302, 400)
    assert client().post("/runs/new/preview?sample=race-higher-takes", data).status_code == 200


PATHS = (
    "/runs/{}/", "/runs/{}/why/?pod={}", "/runs/{}/fit/?pod={}&seq={}",
    "/runs/{}/spans.json?after={}", "/runs/{}/overview.json", "/runs/{}/export/{}.csv",
    "/clusters/{}/", "/shared/{}/", "/runs/new/?cluster={}", "/runs/new/?sample={}", "/runs/new/?sample=busy-shop&count={}", "/?{}",
)  # fmt: skip


@pytest.mark.django_db
@given(path=st.sampled_from(PATHS), word=WORDS)
def test_any_address_is_answered(path, word):
    safe = quote(word.encode("utf-8", "surrogatepass")[:2000], safe="")
    assert client().get(path.replace("{}", safe)).status_code < 500
