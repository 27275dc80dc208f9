"""Recorded timelines of the real components: the same calls, in the same order, with the same end.

Compared per actor and object: the sequence of calls and, apart from it, of events (immediate repeats folded); the first
FailedScheduling note of each Pod; the orders and counts that `timeline-expectations.json` names; the final state of every Pod.
Not compared: times, and what the expectations call free, a race between components.
"""

import json
from pathlib import Path

import pytest

from simulations.pipelines.replay_timelines import replay_timelines

CASES = Path(__file__).parent / "cases" / "v1.36.2"
FILES = sorted((CASES / "timelines").glob("*.json"))
EXPECTED = json.loads((CASES / "timeline-expectations.json").read_text())
HANDS = {"user", "kubelet"}


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def case(request):
    """A recording, our replay of it, and what is expected besides."""
    recorded = json.loads(request.param.read_text())
    return recorded, replay_timelines(recorded, request.param.stem), EXPECTED.get(request.param.stem, {})


def folded(items):
    kept = []
    for item in items:
        if not kept or kept[-1] != item:
            kept.append(item)
    return kept


def essence(call):
    status = call.get("status") or {}
    reasons = tuple(sorted(c["reason"] for c in status.get("conditions") or [] if c.get("reason")))
    nominated = status.get("nominatedNodeName", "-")
    return call["verb"], call["resource"], call["code"], call.get("node"), reasons, nominated


def calls_about(calls, actor, name):
    own = [c for c in calls if c["actor"] == actor]
    events = [c["reason"] for c in own if c["resource"] == "events" and c["verb"] == "create" and c["regarding"] == name]
    return folded([essence(c) for c in own if c["resource"] != "events" and c.get("name") == name]), folded(events)


def objects_of(calls):
    return {c.get("name") or c.get("regarding") for c in calls if c["resource"].startswith(("pods", "events"))} - {None}


def actors_of(calls):
    return {c["actor"] for c in calls} - HANDS


def test_nobody_acts_who_did_not_act(case):
    recorded, ours, _expected = case
    assert actors_of(ours["calls"]) <= actors_of(recorded["timeline"])


def test_each_actor_makes_the_same_calls_about_each_object(case):
    recorded, ours, expected = case
    if not expected.get("objects", True):  # a race between components decides: the orders and counts below are what must hold
        assert expected["counts"]
        return
    for actor in sorted(actors_of(recorded["timeline"])):
        for name in sorted((objects_of(recorded["timeline"]) | objects_of(ours["calls"])) - set(expected.get("free", []))):
            assert calls_about(ours["calls"], actor, name) == calls_about(recorded["timeline"], actor, name), (actor, name)


def first_notes(calls):
    notes = {}
    for call in calls:
        if call["resource"] == "events" and call["reason"] == "FailedScheduling":
            notes.setdefault(call["regarding"], call["note"])
    return notes


def test_each_pod_fails_first_with_the_same_words(case):
    recorded, ours, expected = case
    real = first_notes(recorded["timeline"]) if expected.get("objects", True) else {}
    assert first_notes(ours["calls"]).items() >= real.items()


def matches(call, pattern):
    return all(call.get(key) == value for key, value in pattern.items())


def test_what_must_come_first_comes_first(case):
    _recorded, ours, expected = case
    for before, after in expected.get("orders", []):
        places = [next(i for i, call in enumerate(ours["calls"]) if matches(call, pattern)) for pattern in (before, after)]
        assert places[0] < places[1], (before, after)


def test_calls_are_as_many_as_they_must_be(case):
    _recorded, ours, expected = case
    for pattern, least, most in expected.get("counts", []):
        assert least <= sum(matches(call, pattern) for call in ours["calls"]) <= most, pattern


def test_every_pod_ends_the_same(case):
    recorded, ours, expected = case
    if expected.get("finals", True):
        assert ours["final"] == recorded["final"]
