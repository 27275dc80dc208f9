"""The folds over real runs: of the samples, and of an imported cluster with urgent pods. What must hold for every trace."""

from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from simulations.analysis.catalogue import TABLES
from simulations.analysis.reading import MemoryTrace, RunFacts
from simulations.analysis.span_types import MARKS, WAITING, GhostEnd, decode_span, encode_span
from simulations.analysis.spans import SpanFold
from simulations.analysis.summary import SummaryFold
from simulations.analysis.tables import table_rows
from simulations.analysis.why import explain
from simulations.engine.scenario import parse_scenario
from simulations.engine.simulation import Simulation
from simulations.engine.whatif import AddPods, WhatIf, apply_what_if, compose, import_document
from simulations.importers.kubectl import import_paths
from simulations.samples import sample, samples

IMPORT = "imported shop"
SLUGS = [*(entry.slug for entry in samples() if not entry.openb), IMPORT]
SHOP = Path(__file__).resolve().parents[2] / "data" / "clusters" / "shop-40-nodes.yaml"
LIVES = ("starting", "running", "terminating")


def document_of(slug):
    if slug != IMPORT:
        return sample(slug).document()
    dump = import_paths([SHOP])
    base = import_document("shop", f"{dump.newest:%Y-%m-%dT%H:%M:%SZ}")
    urgent = WhatIf(add_pods=AddPods(count=20, cpu="3", priority=1_000_000))
    return compose(apply_what_if(base, urgent, dump.objects).document, dump.objects)


@cache
def records_of(slug):
    records = []
    Simulation(parse_scenario(document_of(slug)), on_records=records.extend).run()
    return records


@cache
def spans_of(slug):
    fold, spans = SpanFold(), {}
    for record in records_of(slug):
        for span in fold.feed(record):
            spans[span.id] = decode_span(encode_span(span))
    return list(spans.values())


def by_uid(slug, kinds):
    found = defaultdict(list)
    for span in spans_of(slug):
        if span.kind in kinds:
            found[span.uid].append(span)
    return found


def living_pods(slug):
    """The last written state of each pod that is there at the end."""
    states = {}
    for record in records_of(slug):
        if record.resource.partition("/")[0] != "pods" or record.code >= 400:
            continue
        if record.verb == "gone":
            states.pop(record.uid, None)
        elif record.data and record.data.get("after"):
            states[record.uid] = record.data["after"]
    return states


def open_of(slug, uid):
    return sorted(span.kind for span in spans_of(slug) if span.uid == uid and span.end is None)


pytestmark = pytest.mark.parametrize("slug", SLUGS)


def test_every_cause_is_an_earlier_record(slug):
    assert [record.seq for record in records_of(slug)] == list(range(1, len(records_of(slug)) + 1))
    assert not [record for record in records_of(slug) if not 0 <= record.cause < record.seq]


def test_a_span_ends_after_it_begins_and_names_the_record_that_opened_it(slug):
    records = {record.seq: record for record in records_of(slug)}
    for span in spans_of(slug):
        assert span.end is None or span.start <= span.end
        opener = records[span.cause]
        assert span.cause <= span.seq
        assert span.start <= opener.t
        if span.kind != "event" and span.pod:
            assert span.pod == f"{opener.namespace}/{opener.name}"


def test_arrows_point_at_spans_that_exist(slug):
    kinds = {span.id: span.kind for span in spans_of(slug)}
    for span in spans_of(slug):
        for kind, target in span.links:
            assert target in kinds
            assert kind != "preempts" or kinds[target] == "terminating"


@pytest.mark.parametrize(
    "kinds", [tuple(WAITING), LIVES, ("nominated",), ("binding",)], ids=["queues", "life", "ghosts", "bindings"]
)
def test_spans_of_one_sort_never_overlap_for_a_pod(slug, kinds):
    for spans in by_uid(slug, kinds).values():
        ordered = sorted(spans, key=lambda span: (span.start, span.id))
        for before, after in pairwise(ordered):
            assert before.end is not None
            assert before.end <= after.start


def test_a_ghost_that_has_ended_states_how(slug):
    endings = {end.value for end in GhostEnd}
    for span in spans_of(slug):
        if span.kind == "nominated":
            assert span.reason in (endings if span.end is not None else {"victims", "binding"})


def test_marks_are_complete_and_none_is_left_out(slug):
    assert all(span.end is not None for span in spans_of(slug) if span.kind in MARKS)
    records = records_of(slug)
    count = {kind: sum(span.kind == kind for span in spans_of(slug)) for kind in MARKS}
    assert count["attempt"] == sum(record.verb == "attempt" for record in records)
    assert count["refused"] == sum(record.code >= 400 for record in records)


def test_what_is_open_at_the_end_is_what_is_there_at_the_end(slug):
    states = living_pods(slug)
    for span in spans_of(slug):
        assert span.end is not None or not span.pod or span.uid in states
    for uid, state in states.items():
        found = open_of(slug, uid)
        if state.get("deletion") is not None:
            assert found == ["terminating"]
        elif state["phase"] in ("Failed", "Succeeded"):
            assert not found
        elif state.get("node"):
            assert found == ["running" if state["phase"] == "Running" else "starting"]
        else:
            assert set(found) <= {*WAITING, "nominated", "binding"}
            assert found


def test_every_victim_that_leaves_has_an_arrow_from_its_preemptor(slug):
    spans = spans_of(slug)
    aimed = {target for span in spans for kind, target in span.links if kind == "preempts"}
    victims = {span.id for span in spans if span.kind == "terminating" and span.reason == "victim"}
    assert victims == aimed
    chosen = {victim["uid"] for record in records_of(slug) if record.verb == "preempt" for victim in record.data["victims"]}
    left = {span.uid for span in spans if span.kind == "terminating" and span.uid in chosen}
    assert left <= {span.uid for span in spans if span.id in aimed}


def test_replacements_are_pointed_at_by_the_pod_that_they_replace(slug):
    records = {record.seq: record for record in records_of(slug)}
    created = [record for record in records.values() if record.verb == "create" and record.resource == "pods" and record.t > 0]
    made = [record for record in created if record.actor == "controller-manager"]
    left = ("delete", "gone")  # a set that is made larger replaces nobody
    replaced = {r.uid for r in made if records[r.cause].verb in left or "Failed" in str((records[r.cause].data or {}).get("after"))}
    spans = {span.id: span for span in spans_of(slug)}
    pointed = {spans[target].uid for span in spans.values() for kind, target in span.links if kind == "replaced by"}
    assert replaced <= pointed


def test_every_pod_can_be_explained_at_its_attempts(slug):
    records = records_of(slug)
    trace, facts = MemoryTrace(records), RunFacts.of(records)
    pods = {f"{record.namespace}/{record.name}" for record in records if record.resource == "pods" and record.code < 400}
    for pod in pods:
        answer = explain(pod, trace, facts)
        assert answer.sentence.endswith(".")
        for attempt in answer.attempts[:: len(answer.attempts) // 20 + 1]:
            then = explain(pod, trace, facts, at=attempt.seq)
            assert then.attempt == attempt
            assert len(then.filters.rows) + then.filters.hidden == then.filters.nodes
            assert (then.scores is None) == (attempt.feasible == 0)
            assert attempt.reason == "Scheduled" or then.filters.groups or not then.filters.nodes


def test_a_victim_knows_by_whom(slug):
    records = records_of(slug)
    trace, facts = MemoryTrace(records), RunFacts.of(records)
    for span in spans_of(slug):
        if span.kind == "terminating" and span.reason == "victim":
            victim = explain(span.pod, trace, facts, at=span.cause).victim
            assert victim.preemptor_priority > victim.priority
            assert victim.preemptor in span.text


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_in_the_order_of_time(slug, name):
    table = TABLES[name]()
    rows = list(table_rows(table, records_of(slug)))
    assert {len(row) for row in rows} <= {len(table.COLUMNS)}
    if table.COLUMNS[0].name == "time_utc":
        order = [(float(row[1]), row[2]) for row in rows]
        assert order == sorted(order)


def test_the_summary_adds_up(slug):
    fold = SummaryFold()
    for record in records_of(slug):
        fold.feed(record)
    summary = fold.summary()
    assert summary.records == len(records_of(slug))
    assert summary.pending + summary.running + summary.gone <= summary.pods
    assert sum(summary.attempts.values()) == sum(record.verb == "attempt" for record in records_of(slug))
    chosen = {victim["uid"] for record in records_of(slug) if record.verb == "preempt" for victim in record.data["victims"]}
    assert summary.victims == len(chosen)
