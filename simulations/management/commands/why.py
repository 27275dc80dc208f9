"""`manage.py why RUN POD`: why a pod is where it is, and with --fit what would have let it fit."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from dashboard.embedded.supervisor import migrate
from simulations import fit, queries
from simulations.analysis.why.types import Preemption, ScoreTable, Why
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.management.output import CodedCommand, wrong


class Command(CodedCommand):
    """Explains a pod of a run."""

    help = "Says why a pod of a run is where it is; with --fit asks the scheduler what would have let it fit"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The run, the pod, and as of when."""
        parser.add_argument("run", type=int)
        parser.add_argument("pod", metavar="NAMESPACE/NAME")
        parser.add_argument("--seq", type=int, help="as of this record; default: as of now")
        parser.add_argument("--fit", action="store_true", help="search for the smallest changes that would have let it fit")
        parser.add_argument("--json", action="store_true")

    def handle(self, *_args: Any, run: int, pod: str, seq: int | None, **options: Any) -> None:
        """Explain.

        Raises:
            CommandError: exit code 2, there is no such run or pod, or with --fit the pod was not refused.
        """
        migrate()
        if queries.run(run) is None:
            raise wrong(f"E0622: there is no run {run}")
        found = queries.why(run, pod, seq)
        if found is None:
            raise wrong(f"E0625: run {run} has no record of a pod {pod!r}")
        try:
            searched = fit.find_now(run, pod, seq) if options["fit"] else None
        except ScenarioErrors as errors:
            raise wrong(errors) from None
        if options["json"]:
            self.print_json(json.loads(json.dumps({**asdict(found), "fit": asdict(searched) if searched else None}, default=str)))
            return
        self._tell(found)
        if searched is not None:
            self._tell_fit(searched)

    def _tell(self, why: Why) -> None:
        self.say(f"{why.pod}: {why.sentence}")
        if why.attempt is not None:
            attempt = why.attempt
            self.say(f"attempt {attempt.number} (record {attempt.seq}): {attempt.reason} {attempt.message}".rstrip())
        for group in why.filters.groups if why.filters is not None else ():
            self.say(f"  {group.nodes:>6} x {group.plugin}: {', '.join(group.reasons)} ({_names(group.names, group.nodes)})")
        if why.scores is not None:
            self._tell_scores(why.scores)
        if why.preemption is not None:
            self._tell_preemption(why.preemption)

    def _tell_scores(self, scores: ScoreTable) -> None:
        self.say(scores.note)
        for part in scores.duel.parts if scores.duel is not None else ():
            self.say(f"  {part.lead:>+6} {part.plugin} (x{part.weight}): {part.winner} against {part.runner_up}")

    def _tell_preemption(self, found: Preemption) -> None:
        if found.helped:
            self.say(f"preempts {', '.join(victim.pod for victim in found.victims)} on {found.node}: {found.rule}")
        for row in found.decision.rows if found.decision is not None else ():
            values = "the same" if row.winner is None else f"{row.winner} against {row.runner_up}"
            self.say(f"  {row.rule}: {values}, {row.left} left{'; this decided' if row.decided else ''}")
        for group in found.without:
            self.say(f"  {group.nodes:>6} x {group.answer}: {group.reason} ({_names(group.names, group.nodes)})")

    def _tell_fit(self, searched: fit.Fit) -> None:
        suggestions = searched.suggestions or ()
        self.say(
            f"what would have let it fit (the scheduler was asked {searched.asked} times):" if suggestions else "nothing helps"
        )
        for number, each in enumerate(suggestions, start=1):
            leave = f", once {', '.join(each.victims)} leave" if each.victims else ""
            self.say(f"  {number}. {each.text}: lands on {each.node}{leave}{_tried(each.tried)}")


def _names(names: tuple[str, ...], count: int) -> str:
    return ", ".join(names) + (", ..." if count > len(names) else "")


def _tried(tried: fit.Tried | None) -> str:
    if tried is None:
        return ""
    if not tried.placed:
        return "; tried: it did not hold" + (f", {tried.pending} of {tried.pods} pods pending" if tried.pending else "")
    return f"; tried: bound to {tried.node}" if tried.node else "; tried: no pod of it waits"
