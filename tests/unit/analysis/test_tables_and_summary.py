"""Tables, summary and findings, from hand-made records."""

import pytest
from analysis_story import LACKS_CPU, VERDICTS, Story, descheduler_story, preemption_story

from simulations.analysis.catalogue import TABLES
from simulations.analysis.summary import SummaryFold, waits_of
from simulations.analysis.tables import table_rows

SECOND = 1_000_000_000


def rows(name, story):
    table = TABLES[name]()
    return [dict(zip([column.name for column in table.COLUMNS], row, strict=True)) for row in table_rows(table, story.records)]


def summed(story):
    fold = SummaryFold()
    for record in story.records:
        fold.feed(record)
    return fold


class TestTables:
    def test_preemptions_have_a_row_per_victim_naming_both(self):
        [row] = rows("preemptions", preemption_story())
        assert list(row) == [
            "time_utc", "sim_seconds", "seq", "preemptor_namespace", "preemptor_name", "preemptor_priority", "victim_namespace",
            "victim_name", "victim_priority", "node", "pdb_violated", "rule", "executor",
        ]  # fmt: skip
        assert (row["time_utc"], row["sim_seconds"]) == ("2026-01-01T00:00:01.005Z", "1.005")
        assert (row["preemptor_name"], row["preemptor_priority"], row["victim_name"], row["victim_priority"]) == (
            "urgent-1",
            1000,
            "web-1",
            0,
        )
        assert (row["node"], row["pdb_violated"], row["executor"]) == ("node-1", True, "async")

    def test_attempts_have_a_row_per_cycle(self):
        first, *_, last = rows("attempts", preemption_story())
        assert (first["name"], first["result"], first["priority"], first["cycle_seconds"]) == (
            "urgent-1",
            "Unschedulable",
            1000,
            "0.002",
        )
        assert (last["result"], last["node"], last["attempt"], last["message"]) == ("Scheduled", "node-1", 2, None)

    def test_pods_have_a_row_each_with_what_became_of_them(self):
        table = {row["name"]: row for row in rows("pods", preemption_story(refuse=2))}
        assert list(table) == ["web-1", "urgent-1", "web-2"]
        assert (table["web-1"]["initial"], table["web-1"]["preempted_by"], table["web-1"]["gone_sim_seconds"]) == (
            True,
            "shop/urgent-1",
            "3",
        )
        assert (table["web-1"]["refused_calls"], table["web-1"]["wait_seconds"]) == (2, None)
        assert (table["urgent-1"]["wait_seconds"], table["urgent-1"]["attempts"], table["urgent-1"]["preemptions"]) == (
            "2.008",
            2,
            1,
        )
        assert (table["web-2"]["node"], table["web-2"]["phase"], table["web-2"]["owner"]) == ("node-2", "Running", "ReplicaSet/web")

    def test_nodes_have_their_amounts_and_what_went_on_there(self):
        first, second = rows("nodes", preemption_story())
        assert (first["name"], first["cpu_millicores"], first["memory_bytes"], first["zone"]) == ("node-1", 4000, 17179869184, "a")
        assert (first["pods"], first["bound"], first["victims"]) == (1, 1, 1)
        assert (second["pods"], second["bound"], second["victims"]) == (1, 1, 0)

    def test_events_name_what_they_are_about(self):
        [row] = rows("events", preemption_story())
        assert (row["reason"], row["regarding_kind"], row["regarding_name"], row["note"]) == (
            "FailedScheduling",
            "Pod",
            "urgent-1",
            LACKS_CPU,
        )

    def test_the_manifest_states_what_was_run_and_how_it_ended(self):
        table = [(row["key"], row["value"]) for row in rows("manifest", preemption_story())]
        assert ("scenario", "story") in table
        assert ("seed", "1") in table
        assert ("ended", "Duration") in table

    def test_spans_are_in_the_order_of_their_beginning(self):
        table = rows("spans", preemption_story())
        assert [float(row["sim_seconds"]) for row in table] == sorted(float(row["sim_seconds"]) for row in table)
        [ghost] = [row for row in table if row["kind"] == "nominated"]
        assert (ghost["name"], ghost["node"], ghost["duration_seconds"], ghost["reason"]) == (
            "urgent-1",
            "node-1",
            "2.003",
            "bound here",
        )

    @pytest.mark.parametrize("name", TABLES)
    def test_every_table_of_an_empty_trace_has_a_header_and_no_rows(self, name):
        table = TABLES[name]()
        assert table.COLUMNS
        assert list(table_rows(table, [])) == []

    @pytest.mark.parametrize("name", TABLES)
    def test_every_row_is_as_wide_as_the_header(self, name):
        table = TABLES[name]()
        found = list(table_rows(table, [*preemption_story(refuse=1).records, *descheduler_story().records]))
        assert found
        assert {len(row) for row in found} == {len(table.COLUMNS)}


class TestSummary:
    def test_counts(self):
        summary = summed(preemption_story()).summary()
        assert (summary.nodes, summary.pods, summary.placed, summary.pending, summary.running, summary.gone) == (2, 3, 2, 0, 2, 1)
        assert (summary.preemptions, summary.victims, summary.budget_violations) == (1, 1, 1)
        assert summary.attempts == {"Scheduled": 2, "Unschedulable": 1}
        assert summary.calls["user"] == {"201": 1}
        assert "setup" not in summary.calls
        assert summary.ended == "Duration"

    def test_waits_are_those_of_actual_pods(self):
        waits = waits_of([index * SECOND for index in range(1, 101)])
        assert (waits.p50_seconds, waits.p95_seconds, waits.max_seconds) == (50.0, 95.0, 100.0)
        assert waits_of([7 * SECOND]).p50_seconds == 7.0
        assert waits_of([]).max_seconds is None


class TestFindings:
    def kinds(self, story):
        return [finding.kind for finding in summed(story).findings()]

    def test_a_run_in_which_all_went_well_has_none(self):
        assert self.kinds(preemption_story()) == []

    def test_a_pod_that_was_never_scheduled_is_found_with_the_reason(self):
        story = Story()
        for index in range(5):
            woken = story.enqueue(1, f"a-{index}", cause=story.create(0, f"a-{index}"))
            story.attempt(2, f"a-{index}", woken, message=LACKS_CPU, verdicts=VERDICTS)
        [finding] = summed(story).findings()
        assert (finding.kind, finding.count, finding.title) == ("never scheduled", 5, "5 pods never scheduled")
        assert finding.text == f"shop/a-0, shop/a-1, shop/a-2 and 2 more have no node: {LACKS_CPU}"

    def test_calls_that_are_refused_again_and_again_are_found_with_their_count(self):
        [finding] = [finding for finding in summed(preemption_story(refuse=30)).findings() if finding.kind == "refused calls"]
        assert (finding.pod, finding.count) == ("shop/web-1", 30)
        assert finding.text == "kube-scheduler: delete pods shop/web-1 was answered 422 30 times in 29 ms: refused by policy"

    def test_two_refusals_are_no_finding(self):
        assert "refused calls" not in self.kinds(preemption_story(refuse=2))

    def stuck(self, wait_ms, refuse):
        story = Story()
        story.running(0, "web-1", "node-1")
        story.create(0, "urgent-1", priority=1000)
        chosen = story.preempt(5, "urgent-1", 0, "node-1", "web-1")
        story.nominate(5, "urgent-1", "Set", "node-1", cause=chosen)
        for index in range(refuse):
            story.delete(10 + index, "web-1", "node-1", chosen, code=422)
        story.add(wait_ms, "schedscope", "end", resource="runs", reason="Duration")
        return story

    def test_a_nomination_that_outlasts_every_grace_period_is_stuck(self):
        [finding] = summed(self.stuck(40_000, 0)).findings()
        assert finding.kind == "stuck nomination"
        assert "shop/urgent-1 has been nominated to node-1 for 40 s" in finding.text

    def test_a_nomination_whose_deletions_are_refused_is_stuck_at_once(self):
        assert self.kinds(self.stuck(1000, 3)) == ["stuck nomination", "refused calls"]

    def test_a_young_nomination_is_not_stuck(self):
        assert self.kinds(self.stuck(1000, 0)) == []

    def test_replacements_that_are_preempted_in_their_turn_are_a_loop(self):
        story = Story()
        left = story.create(0, "web-0", actor="controller-manager", owner="ReplicaSet/web")
        for index in range(4):
            story.create(index * 10, f"urgent-{index}", priority=1000)
            story.preempt(index * 10 + 5, f"urgent-{index}", 0, "node-1", f"web-{index}")
            left = story.gone(index * 10 + 6, f"web-{index}")
            story.gone(index * 10 + 7, f"urgent-{index}")
            story.create(index * 10 + 8, f"web-{index + 1}", actor="controller-manager", cause=left, owner="ReplicaSet/web")
        story.gone(50, "web-4")
        [finding] = summed(story).findings()
        assert (finding.kind, finding.count) == ("preemption loop", 3)
        assert "3 pods of shop/ReplicaSet/web that replaced preempted ones" in finding.text
