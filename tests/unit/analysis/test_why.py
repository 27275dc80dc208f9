"""The answer to "why?", from hand-made records."""

import pytest
from analysis_story import LACKS_CPU, VERDICTS, Story, preemption_story

from simulations.analysis.reading import DEFAULT_FILTERS, MemoryTrace, RunFacts, subject_of
from simulations.analysis.why import explain
from simulations.engine.scheduler.registry import REGISTRY


def why(story, pod, at=None, limit=200):
    records = story.records
    return explain(f"shop/{pod}", MemoryTrace(records), RunFacts.of(records), at, limit)


def seq(story, verb, name, number=0):
    return [record.seq for record in story.records if record.verb == verb and record.name == name][number]


def tried(*, nodes=3, **data):
    """A pod after one attempt on some nodes."""
    story = Story()
    for row in range(nodes):
        story.node(0, f"node-{row + 1}", row)
    created = story.create(1000, "web-1", priority=5)
    woken = story.enqueue(1002, "web-1", cause=created)
    attempt = story.attempt(1004, "web-1", woken, nodes=nodes, evaluated=nodes, **data)
    return story, attempt


class TestFirstSentence:
    @pytest.mark.parametrize("executor", ["async", "sync"])
    def test_a_preemptor_that_runs_says_how_it_got_there(self, executor):
        sentence = why(preemption_story(executor), "urgent-1").sentence
        assert sentence == "Runs on node-1: bound 2.008 s after it was created, at attempt 2, having preempted shop/web-1."

    def test_a_preemptor_at_its_attempt_says_whom_it_preempts(self):
        story = preemption_story()
        sentence = why(story, "urgent-1", seq(story, "attempt", "urgent-1")).sentence
        assert sentence == "Pending 5 ms: 2 of 2 nodes lack cpu; preempts shop/web-1 on node-1."

    def test_a_nominated_pod_says_for_whom_it_waits_and_what_holds_it(self):
        story = preemption_story()
        sentence = why(story, "urgent-1", seq(story, "enqueue", "urgent-1", 1)).sentence
        assert (
            sentence
            == "Pending 6 ms: nominated to node-1, waits for shop/web-1 to leave; DefaultPreemption holds it back until then."
        )

    def test_a_nominated_pod_that_is_tried_again_still_says_for_whom_it_waits(self):
        story = preemption_story()
        cut = [record for record in story.records if record.t < 3_000_000_000]
        last = cut[-1].seq
        again = Story()
        attempt = again.attempt(2500, "urgent-1", 0, message=LACKS_CPU, verdicts=VERDICTS)
        message = "not eligible due to a terminating pod on the nominated node."
        again.of_pod(2500, "scheduler", "nopreempt", "urgent-1", cause=attempt, message=message, data={"none": []})
        for record in again.records[1:]:
            record.seq += last
            record.cause += last if record.cause else 0
            cut.append(record)
        sentence = explain("shop/urgent-1", MemoryTrace(cut), RunFacts.of(cut)).sentence
        assert sentence == "Pending 1.5 s: 2 of 2 nodes lack cpu; nominated to node-1, waits for shop/web-1 to leave."

    def test_a_pod_still_pending_counts_to_the_end_of_the_run(self):
        story, _ = tried(nodes=1, verdicts=VERDICTS, message=LACKS_CPU)
        story.add(9000, "schedscope", "end", resource="runs", reason="Duration")
        assert why(story, "web-1").sentence.startswith("Pending 8 s: ")

    def test_a_victim_says_by_whom_with_both_priorities_and_where_its_replacement_went(self):
        sentence = why(preemption_story(refuse=2), "web-1").sentence
        assert sentence == (
            "Preempted by shop/urgent-1 (priority 1000 over 0) to make room on node-1, against its disruption budget;"
            " its deletion was refused 2 times before; its replacement shop/web-2 runs on node-2."
        )

    def test_a_victim_whose_deletion_is_refused_still_runs(self):
        story = preemption_story(refuse=5)
        sentence = why(story, "web-1", seq(story, "delete", "web-1", 4)).sentence
        assert sentence.startswith("To be preempted by shop/urgent-1")
        assert sentence.endswith("but the API server refused its deletion 5 times; it still runs.")

    def test_rejections_are_counted_in_plain_words_and_preemption_is_answered_for(self):
        verdicts = [
            ["NodeResourcesFit", "Unschedulable", ["Insufficient cpu"], [[0, 3]]],
            ["TaintToleration", "UnschedulableAndUnresolvable", ["node(s) had untolerated taint {dedicated: db}"], [[3, 2]]],
        ]
        story, attempt = tried(nodes=5, verdicts=verdicts, message="0/5 nodes are available: ...")
        message = (
            "0/5 nodes are available: 3 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."
        )
        story.of_pod(1005, "scheduler", "nopreempt", "web-1", cause=attempt, message=message, data={"none": []})
        story.enqueue(43_000, "web-1", "unschedulable", "ScheduleAttemptFailure", cause=attempt)
        assert why(story, "web-1").sentence == (
            "Pending 42 s: 3 of 5 nodes lack cpu, 2 have the taint {dedicated: db}; preemption cannot help because no pods of"
            " lower priority stand in its way, and on the other nodes removing pods changes nothing."
        )

    @pytest.mark.parametrize(
        ("reason", "words"),
        [
            ("Insufficient memory", "1 of 1 node lacks memory"),
            ("Too many pods", "1 of 1 node has no pod slot left"),
            ("node(s) were unschedulable", "1 of 1 node is cordoned"),
            ("node(s) didn't match Pod's node affinity/selector", "1 of 1 node does not match its node selector or affinity"),
            ("node(s) didn't match pod anti-affinity rules", "1 of 1 node holds pods that it must stay away from"),
            ("node(s) had untolerated taint(s)", "1 of 1 node is tainted"),
            ("node(s) didn't match pod topology spread constraints", "1 of 1 node would break its topology spread"),
            ("node(s) didn't satisfy plugin(s) [NodeAffinity]", "1 of 1 node is ruled out beforehand by NodeAffinity"),
            ("something new", "1 of 1 node says “something new”"),
        ],
    )
    def test_one_node_is_spoken_of_in_the_singular(self, reason, words):
        story, _ = tried(nodes=1, verdicts=[["P", "Unschedulable", [reason], [[0, 1]]]], message="m")
        assert words in why(story, "web-1").sentence

    def test_a_cleared_nomination_is_told(self):
        story, attempt = tried(nodes=1, verdicts=[["NodeResourcesFit", "Unschedulable", ["Insufficient cpu"], [[0, 1]]]])
        story.preempt(1005, "web-1", attempt, "node-1", "old-1")
        story.nominate(1005, "web-1", "Set", "node-1")
        story.nominate(1500, "web-1", "Cleared")
        assert why(story, "web-1").sentence.endswith("preemption on node-1 was begun, but the nomination is gone again.")

    @pytest.mark.parametrize(
        ("steps", "sentence"),
        [
            (lambda s: None, "Pending 0 ms: the scheduler has not tried it yet."),
            (
                lambda s: s.enqueue(500, "a", "gated", plugin="SchedulingGates"),
                "Held back for 500 ms by SchedulingGates; the scheduler does not try it meanwhile.",
            ),
            (lambda s: s.gone(2500, "a"), "Deleted 2.5 s after it was created."),
        ],
        ids=["new", "gated", "deleted"],
    )
    def test_pods_that_were_never_tried(self, steps, sentence):
        story = Story()
        story.create(0, "a")
        steps(story)
        assert why(story, "a").sentence == sentence

    def test_a_pod_from_before_the_run_says_so(self):
        story = Story()
        story.running(0, "a", "node-1")
        assert why(story, "a").sentence == "Runs on node-1 since before the run began."


class TestFilters:
    def test_a_plugin_after_the_one_that_rejected_was_not_run(self):
        story, _ = tried(
            nodes=2,
            feasible=1,
            skipped=["NodePorts"],
            verdicts=[["NodeResourcesFit", "Unschedulable", ["Insufficient cpu"], [[1, 1]]]],
        )
        table = why(story, "web-1").filters
        cells = {row.node: dict(zip(table.plugins, row.cells, strict=True)) for row in table.rows}
        assert cells["node-1"]["NodeResourcesFit"].outcome == "passed"
        assert cells["node-2"]["NodeAffinity"].outcome == "passed"
        assert cells["node-2"]["NodePorts"].outcome == "skipped"
        assert (cells["node-2"]["NodeResourcesFit"].outcome, cells["node-2"]["NodeResourcesFit"].reasons) == (
            "rejected",
            ("Insufficient cpu",),
        )
        assert cells["node-2"]["InterPodAffinity"].outcome == "not run"

    def test_nodes_that_were_not_looked_at_are_told_apart(self):
        story, _ = tried(nodes=4, feasible=2, notRun=[[2, 2]])
        table = why(story, "web-1").filters
        assert [(row.node, row.outcome) for row in table.rows] == [
            ("node-1", "passed"),
            ("node-2", "passed"),
            ("node-3", "not run"),
            ("node-4", "not run"),
        ]
        assert table.not_evaluated == 2

    def test_the_columns_are_the_modelled_filter_plugins_in_their_order(self):
        modelled = tuple(name for name, entry in REGISTRY.items() if "filter" in entry.points and entry.modelled)
        assert modelled == DEFAULT_FILTERS

    def test_nodes_that_had_left_or_came_later_are_not_in_the_table(self):
        story = Story()
        story.node(0, "old", 0)
        story.node(0, "node-1", 1)
        story.add(5, "kube-apiserver", "gone", resource="nodes", name="old", uid="uid-old")
        woken = story.enqueue(10, "web-1", cause=story.create(10, "web-1"))
        story.attempt(12, "web-1", woken, nodes=1, evaluated=1, feasible=1, node="node-1", reason="Scheduled")
        story.node(20, "new", 2)
        assert [row.node for row in why(story, "web-1").filters.rows] == ["node-1"]

    def test_a_plugin_that_no_profile_lists_gets_a_column_of_its_own(self):
        story, _ = tried(nodes=1, verdicts=[["MyPlugin", "Unschedulable", ["no"], [[0, 1]]]])
        assert why(story, "web-1").filters.plugins[-1] == "MyPlugin"

    def test_a_limit_hides_rows_but_never_a_kind_of_rejection(self):
        verdicts = [
            ["TaintToleration", "Unschedulable", ["tainted"], [[0, 40], [45, 5]]],
            ["NodeResourcesFit", "Unschedulable", ["Insufficient cpu"], [[40, 5]]],
        ]
        story, _ = tried(nodes=50, verdicts=verdicts)
        table = why(story, "web-1", limit=10).filters
        assert (len(table.rows), table.hidden) == (10, 40)
        assert {cell.reasons for row in table.rows for cell in row.cells if cell.reasons} == {("tainted",), ("Insufficient cpu",)}
        assert [(group.plugin, group.nodes) for group in table.groups] == [("TaintToleration", 45), ("NodeResourcesFit", 5)]


class TestScores:
    SCORES = {
        "kept": "all",
        "rows": [0, 2],
        "plugins": [["NodeResourcesFit", 1, [70, 80], [70, 80]], ["TaintToleration", 3, [0, 1], [100, 0]]],
        "total": [370, 80],
    }

    def test_raw_normalised_weighted_and_total_stand_beside_each_other(self):
        story, _ = tried(feasible=2, node="node-1", reason="Scheduled", scores=self.SCORES, tie=1)
        table = why(story, "web-1").scores
        best, other = table.rows
        assert (best.node, best.total, best.chosen) == ("node-1", 370, True)
        assert [(cell.raw, cell.normalized, cell.weighted) for cell in best.cells] == [(70, 70, 70), (0, 100, 300)]
        assert (other.node, other.total, other.chosen) == ("node-3", 80, False)
        assert table.note == "node-1 has the highest total, 370; next is node-3 with 80."

    def test_a_tie_is_told(self):
        scores = self.SCORES | {"total": [100, 100]}
        story, _ = tried(feasible=2, node="node-3", reason="Scheduled", scores=scores, tie=2)
        table = why(story, "web-1").scores
        assert table.note == "2 nodes share the highest total, 100; node-3 came first of them in the scheduler's heap."
        assert table.rows[0].node == "node-3"

    def test_one_feasible_node_is_taken_unscored_and_the_table_says_so(self):
        story, _ = tried(nodes=1, feasible=1, node="node-1", reason="Scheduled")
        table = why(story, "web-1").scores
        assert [row.node for row in table.rows] == ["node-1"]
        assert table.note == "node-1 was the only feasible node: it is taken without being scored."

    def test_the_nominated_node_is_tried_first(self):
        table = why(preemption_story(), "urgent-1").scores
        assert table.note == "node-1 was tried first because the pod was nominated to it, and it fits: nothing was scored."

    def test_the_winner_stands_against_the_runner_up_plugin_by_plugin(self):
        story, _ = tried(feasible=2, node="node-1", reason="Scheduled", scores=self.SCORES, tie=1)
        duel = why(story, "web-1").scores.duel
        assert (duel.winner, duel.runner_up, duel.lead) == ("node-1", "node-3", 290)
        assert [(part.plugin, part.winner, part.runner_up, part.lead) for part in duel.parts] == [
            ("TaintToleration", 300, 0, 300),
            ("NodeResourcesFit", 70, 80, -10),
        ]

    def test_without_a_feasible_node_there_is_no_table(self):
        story, _ = tried(verdicts=VERDICTS)
        assert why(story, "web-1").scores is None


class TestPreemption:
    def test_candidates_carry_the_numbers_of_the_choice_and_the_rule(self):
        story = preemption_story()
        preemption = why(story, "urgent-1", seq(story, "attempt", "urgent-1")).preemption
        [candidate] = preemption.candidates
        assert (candidate.node, candidate.chosen, candidate.violations, candidate.victims) == ("node-1", True, 1, 1)
        assert (preemption.rule, preemption.executor) == ("only one candidate", "async")

    def test_the_fate_of_each_victim_is_told_to_its_end(self):
        story = preemption_story(refuse=2)
        [victim] = why(story, "urgent-1", seq(story, "attempt", "urgent-1")).preemption.victims
        assert (victim.pod, victim.refused, victim.deletion_asked, victim.gone) == ("shop/web-1", 2, 1_050_000_000, 3_000_000_000)

    def test_nodes_without_a_candidate_say_why(self):
        story, attempt = tried(verdicts=VERDICTS)
        none = [
            ["No preemption victims found for incoming pod.", [[0, 2]]],
            ["Preemption is not helpful for scheduling.", [[2, 1]]],
        ]
        story.of_pod(1005, "scheduler", "nopreempt", "web-1", cause=attempt, message="m", data={"none": none})
        first, second = why(story, "web-1").preemption.without
        assert (first.nodes, first.names) == (2, ("node-1", "node-2"))
        assert second.names == ("node-3",)

    def test_a_victim_knows_its_preemptor_budget_and_replacement(self):
        victim = why(preemption_story(), "web-1").victim
        assert (victim.preemptor, victim.preemptor_priority, victim.priority) == ("shop/urgent-1", 1000, 0)
        assert (victim.node, victim.pdb_violated) == ("node-1", True)
        assert (victim.replacement, victim.replacement_node) == ("shop/web-2", "node-2")
        assert (victim.terminating, victim.gone) == (1_050_000_000, 3_000_000_000)

    def test_a_pod_that_nobody_preempted_is_no_victim(self):
        assert why(preemption_story(), "web-2").victim is None


class TestHistory:
    def test_every_attempt_is_listed_with_what_woke_it(self):
        first, second = why(preemption_story(), "urgent-1").attempts
        assert (first.reason, first.message, first.woken_by) == ("Unschedulable", LACKS_CPU, "PodAdd")
        assert (second.reason, second.node, second.woken_by) == ("Scheduled", "node-1", "AssignedPodDelete")

    def test_the_state_is_that_of_the_record_asked_for(self):
        story = preemption_story()
        states = [
            why(story, "urgent-1", at).state
            for at in (seq(story, "create", "urgent-1"), seq(story, "enqueue", "urgent-1", 1), None)
        ]
        assert states == ["Pending", "SchedulingGated", "Running"]

    def test_conditions_are_told_when_they_change_with_their_messages(self):
        story = Story()
        story.create(0, "a")
        for ms in (10, 20):
            status = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": LACKS_CPU}]}
            after = {"phase": "Pending", "conditions": [["PodScheduled", "False", "Unschedulable"]]}
            story.of_pod(ms, "kube-scheduler", "patch", "a", "pods/status", code=200, data={"status": status, "after": after})
        [change] = why(story, "a").conditions
        assert (change.time, change.type, change.reason, change.message) == (10_000_000, "PodScheduled", "Unschedulable", LACKS_CPU)

    def test_refused_calls_are_counted(self):
        [refusal] = why(preemption_story(refuse=4), "web-1").refusals
        assert (refusal.count, refusal.code, refusal.call) == (4, 422, "delete pods")
        assert (refusal.first, refusal.last) == (1_010_000_000, 1_013_000_000)

    def test_a_patch_by_the_user_shows_what_it_changed(self):
        story = Story()
        before = {"metadata": {"name": "a"}, "spec": {"schedulingGates": [{"name": "wait"}]}}
        story.of_pod(0, "user", "create", "a", code=201, data={"object": before, "after": {"phase": "Pending"}})
        story.of_pod(
            10,
            "user",
            "patch",
            "a",
            code=200,
            data={"object": {"metadata": {"name": "a"}, "spec": {}}, "after": {"phase": "Pending"}},
        )
        first, second = why(story, "a").revisions
        assert first.diff == ()
        assert "-  - name: wait" in second.diff

    def test_an_event_is_about_the_pod_that_it_regards(self):
        [event] = why(preemption_story(), "urgent-1").events
        assert (event.reason, event.note) == ("FailedScheduling", LACKS_CPU)

    def test_of_two_pods_of_one_name_the_one_of_the_record_is_meant(self):
        story = Story()
        story.running(0, "db-0", "node-1")
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
            data={"after": {"phase": "Pending", "priority": 7}},
        )
        assert why(story, "db-0").priority == 7
        assert why(story, "db-0", at=2).node == "node-1"

    def test_an_unknown_pod_has_no_answer(self):
        assert why(preemption_story(), "nobody") is None


def test_subjects_leave_the_subresource_out_and_follow_events():
    story = preemption_story()
    subjects = {subject_of(record) for record in story.records if record.name.startswith("urgent-1")}
    assert subjects == {"pods/shop/urgent-1"}
    assert subject_of(story.records[1]) == "nodes//node-1"
