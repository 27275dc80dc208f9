"""The spans of a timeline, from hand-made records."""

import pytest
from analysis_story import Story, preemption_story

from simulations.analysis.span_types import Span, decode_span, encode_span
from simulations.analysis.spans import SpanFold

MS = 1_000_000


def folded(story):
    """All spans of a story by id, as the last change left them."""
    fold, spans = SpanFold(), {}
    for record in story.records:
        for span in fold.feed(record):
            spans[span.id] = decode_span(encode_span(span))
    return spans


def of(spans, kind, pod="shop/urgent-1"):
    return [span for span in spans.values() if span.kind == kind and span.pod == pod]


@pytest.mark.parametrize("executor", ["async", "sync"])
class TestPreemption:
    def test_the_ghost_lasts_from_nomination_to_binding_and_says_how_it_ended(self, executor):
        [ghost] = of(folded(preemption_story(executor)), "nominated")
        assert (ghost.node, ghost.end, ghost.reason) == ("node-1", 3008 * MS, "bound here")
        assert ghost.start == (1005 if executor == "async" else 1052) * MS

    def test_the_arrow_goes_from_the_ghost_to_the_victims_grace_period(self, executor):
        spans = folded(preemption_story(executor))
        [ghost], [grace] = of(spans, "nominated"), of(spans, "terminating", "shop/web-1")
        assert ghost.links == [("preempts", grace.id)]
        assert (grace.start, grace.end, grace.reason) == (1050 * MS, 3000 * MS, "victim")
        assert grace.text == "preempted by shop/urgent-1 (priority 1000); grace 30 s"
        assert all(not span.links for span in of(spans, "attempt"))

    def test_the_victim_points_to_its_replacement(self, executor):
        spans = folded(preemption_story(executor))
        [grace] = of(spans, "terminating", "shop/web-1")
        first = min((span for span in spans.values() if span.pod == "shop/web-2"), key=lambda span: span.id)
        assert grace.links == [("replaced by", first.id)]

    def test_every_attempt_is_a_mark_with_its_length_and_message(self, executor):
        first, second = of(folded(preemption_story(executor)), "attempt")
        assert (first.start, first.end, first.reason) == (1003 * MS, 1005 * MS, "Unschedulable")
        assert first.text == "0/2 nodes are available: 2 Insufficient cpu."
        assert (second.reason, second.node) == ("Scheduled", "node-1")

    def test_a_pod_is_queued_bound_started_and_runs_without_gaps(self, executor):
        spans = folded(preemption_story(executor))
        [binding], [starting], [running] = (of(spans, kind) for kind in ("binding", "starting", "running"))
        assert (binding.end, binding.reason) == (starting.start, "bound")
        assert (starting.end, starting.reason) == (running.start, "started")
        assert running.end is None


def test_a_queue_span_ends_when_the_attempt_begins():
    spans = folded(preemption_story())
    first, second = of(spans, "queued")
    assert (first.start, first.end, first.reason) == (1002 * MS, 1003 * MS, "PodAdd")
    assert second.reason == "AssignedPodDelete"
    [gated] = of(spans, "gated")
    assert (gated.start, gated.end, gated.text) == (1006 * MS, 3002 * MS, "held by DefaultPreemption")


def test_each_refused_call_is_a_mark_of_its_own():
    refused = of(folded(preemption_story(refuse=3)), "refused", "shop/web-1")
    assert [span.start for span in refused] == [1010 * MS, 1011 * MS, 1012 * MS]
    assert refused[0].text == "kube-scheduler: delete pods answered 422: refused by policy"
    assert refused[0].node == "node-1"


def test_an_event_is_a_mark_on_the_pod_that_it_is_about():
    [event] = of(folded(preemption_story()), "event")
    assert (event.reason, event.start, event.end) == ("FailedScheduling", 1006 * MS, 1006 * MS)


def nominated(*steps):
    """The ghost of a pod that is nominated to node-1 at 10 ms and then lives through `steps`."""
    story = Story()
    story.node(0, "node-1", 0)
    story.node(0, "node-2", 1)
    story.create(1, "urgent-1")
    story.nominate(10, "urgent-1", "Set", "node-1")
    for step in steps:
        step(story)
    return of(folded(story), "nominated")


@pytest.mark.parametrize(
    ("step", "end"),
    [
        (lambda s: s.nominate(20, "urgent-1", "Bound", "node-1"), "bound here"),
        (lambda s: s.bind(20, "urgent-1", "node-1", 0), "bound here"),
        (lambda s: s.bind(20, "urgent-1", "node-2", 0), "bound elsewhere"),
        (lambda s: s.nominate(20, "urgent-1", "Cleared"), "cleared"),
        (lambda s: s.nominate(20, "urgent-1", "Replaced", "node-2"), "replaced"),
        (lambda s: s.nominate(20, "urgent-1", "Set", "node-2"), "replaced"),
        (lambda s: s.add(20, "kube-apiserver", "gone", resource="nodes", name="node-1"), "node gone"),
        (lambda s: s.gone(20, "urgent-1"), "deleted"),
        (lambda s: s.nominate(20, "urgent-1", "Deleted"), "deleted"),
    ],
    ids=["bound", "bound by the call", "elsewhere", "cleared", "replaced", "set anew", "its node left", "pod gone", "pod deleted"],
)  # fmt: skip
def test_a_ghost_that_has_ended_states_how(step, end):
    ghost = nominated(step)[0]
    assert ghost.reason == end
    assert ghost.end is not None


def test_setting_the_same_nomination_again_draws_no_second_ghost():
    assert len(nominated(lambda s: s.nominate(20, "urgent-1", "Set", "node-1"))) == 1


def test_a_later_pod_of_the_same_name_gets_spans_of_its_own():
    story = Story()
    story.of_pod(0, "user", "create", "db-0", code=201, data={"after": {"phase": "Running", "node": "n"}})
    story.gone(10, "db-0")
    story.add(
        20,
        "user",
        "create",
        resource="pods",
        namespace="shop",
        name="db-0",
        uid="second",
        code=201,
        data={"after": {"phase": "Running", "node": "m"}},
    )
    story.event(30, "Preempted", "late", "db-0")
    spans = folded(story)
    assert [(span.uid, span.node, span.end) for span in of(spans, "running", "shop/db-0")] == [
        ("uid-db-0", "n", 10 * MS),
        ("second", "m", None),
    ]
    assert [(span.uid, span.node) for span in of(spans, "event", "shop/db-0")] == [("uid-db-0", "n")]


def test_a_pod_that_is_gone_is_queued_no_more():
    story = Story()
    story.create(0, "a")
    story.gone(10, "a")
    story.enqueue(11, "a", "unschedulable")
    assert of(folded(story), "unschedulable", "shop/a") == []


def test_a_failed_binding_is_forgotten_with_its_reason():
    story = Story()
    story.create(0, "a")
    story.of_pod(10, "scheduler", "assume", "a", data={"node": "node-1"})
    story.of_pod(20, "scheduler", "forget", "a", message="binding rejected", data={"node": "node-1"})
    [binding] = of(folded(story), "binding", "shop/a")
    assert (binding.node, binding.end, binding.reason, binding.text) == ("node-1", 20 * MS, "forgotten", "binding rejected")


def test_a_node_has_a_span_for_each_stretch_of_its_life():
    story = Story()
    story.node(0, "node-1", 0)
    for ms, after in (
        (10, {"ready": True, "unschedulable": True}),
        (20, {"ready": True, "unschedulable": True}),
        (30, {"ready": True}),
    ):
        story.add(ms, "user", "patch", resource="nodes", name="node-1", uid="uid-node-1", code=200, data={"after": after})
    story.add(40, "kube-apiserver", "gone", resource="nodes", name="node-1")
    spans = [span for span in folded(story).values() if span.kind == "node"]
    assert [(span.reason, span.start // MS, span.end // MS) for span in spans] == [("", 0, 10), ("cordoned", 10, 30), ("", 30, 40)]
    assert {span.node for span in spans} == {"node-1"}


def test_a_span_is_an_array_on_the_wire():
    span = Span(1, "queued", "shop/a", "u", "", 5, None, 3, 3, "PodAdd", "", 10, [("preempts", 2)])
    assert encode_span(span) == b'[1,"queued","shop/a","u","",5,null,3,3,"PodAdd","",10,[["preempts",2]]]'


def test_feeding_the_records_in_any_two_parts_gives_the_same_spans():
    records = preemption_story(refuse=2).records
    whole, parts = SpanFold(), SpanFold()
    seen = [encode_span(span) for record in records for span in whole.feed(record)]
    again = [encode_span(span) for record in records[:9] for span in parts.feed(record)]
    again += [encode_span(span) for record in records[9:] for span in parts.feed(record)]
    assert seen == again
