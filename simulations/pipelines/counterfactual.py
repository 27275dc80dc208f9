"""Answers "what would have had to be different?" for one attempt of a run, and tries the answers out.

The run is made again from its scenario and seed up to the instant of the attempt; there the scheduler is asked (`engine.counterfactual`).
Each answer is then a what-if, and the first few are run, to see that the Pod finds its place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from simulations.engine.api.pod import Pod
from simulations.engine.cluster.answers import DELETED, WatchEvent
from simulations.engine.counterfactual import Answer, Fit, smallest_changes
from simulations.engine.counterfactual.changes import Target, target_of, what_if_of
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.scenario import is_recorded
from simulations.engine.scheduler.schedule_one import Cycle
from simulations.engine.simulation import Simulation
from simulations.engine.whatif import WhatIf, apply_what_if, compose, write_changes
from simulations.engine.whatif.objects import written
from simulations.pipelines.collector import few_collections
from simulations.pipelines.prepare import scenario_of_document

Document = Mapping[str, Any]
TRIED: Final = 6
"""How many of the answers are run."""


@dataclass(frozen=True, slots=True)
class Question:
    """An attempt of a run: the scenario document, the objects of its snapshot, the seed, the Pod's uid, when the cycle began."""

    document: Document
    objects: Sequence[Document]
    seed: int
    uid: str
    started: SimTime


@dataclass(frozen=True, slots=True)
class TriedOut:
    """What became of the Pod in a run: on which Node it was and when that was seen, or that it got none.

    Where a workload was changed, its Pods have other names: then `time` is when none of them (`pods`) waited for a Node any more, and
    `pending` are those that did at the end.
    """

    placed: bool
    node: str = ""
    time: SimTime | None = None
    pods: int = 1
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Changes with which the Pod fits on `node`; `changes` is the what-if as YAML, empty where the base cannot be changed so."""

    parts: tuple[dict[str, Any], ...]
    node: str
    victims: tuple[str, ...]
    rule: str
    target: str
    changes: str
    tried: TriedOut | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The suggestions, smallest first, how often the scheduler was asked, how many suggestions were run, and the run without any."""

    suggestions: tuple[Suggestion, ...]
    asked: int
    tried: int
    without: TriedOut

    def as_dict(self) -> dict[str, Any]:
        """As it is stored and sent."""
        return asdict(self)


@dataclass(slots=True)
class _Found:
    """What was found at the instant of the attempt, and who waits for the Pod to be placed."""

    answer: Answer
    pod: Pod
    target: Target
    what_ifs: tuple[WhatIf, ...]
    waiting: "_Waiting"


class _Waiting:
    """Watches the Pods of a target from now on, until none of them waits for a Node at or after an instant."""

    def __init__(self, simulation: Simulation, target: Target, since: SimTime) -> None:
        self._simulation = simulation
        self._target = target
        self._since = since
        self._waits: dict[tuple[str, str], bool] = {}
        self._node = ""
        self.placed_at: SimTime | None = None
        simulation.api.watch("Pod", self._hear)

    def _hear(self, event: WatchEvent) -> None:
        pod: Pod = event.object
        if (
            target_of(pod, frozenset() if self._target.template else frozenset({self._target.object}), self._simulation.api.get)
            != self._target
        ):
            return
        if event.type == DELETED or pod.terminal or pod.terminating:
            self._waits.pop(pod.key, None)
        else:
            self._waits[pod.key] = not pod.node_name
            self._node = pod.node_name
        self._look()

    def _look(self) -> None:
        now = self._simulation.loop.now
        if self.placed_at is None and now >= self._since and self._waits and not any(self._waits.values()):
            self.placed_at = now

    def outcome(self) -> TriedOut:
        """How it stands."""
        self._look()
        pods, pending = len(self._waits), sum(self._waits.values())
        placed = self.placed_at is not None
        return TriedOut(placed, "" if self._target.template else self._node, self.placed_at, pods, pending)


Stop = Callable[[], bool]


def answer(question: Question, *, tried: int = TRIED, should_stop: Stop | None = None) -> Answered | None:
    """Answer the question; None: the run has no such attempt, or it was asked to stop before it came there.

    Raises:
        ScenarioErrors: the document cannot be read.
    """
    stop = should_stop or (lambda: False)
    with few_collections():
        found = _at_the_attempt(question, stop)
        if found is None:
            return None
        suggestions = []
        left = tried
        for fit, what_if in zip(found.answer.fits, found.what_ifs, strict=True):
            changes, outcome = _as_what_if(question, what_if), None
            if changes is not None and left and not stop():
                left -= 1
                outcome = _try_out(question, changes, found, stop)
            suggestions.append(_suggestion(fit, found.target, write_changes(what_if) if changes is not None else "", outcome))
    return Answered(tuple(suggestions), found.answer.asked, tried - left, found.waiting.outcome())


def _suggestion(fit: Fit, target: Target, changes: str, tried: TriedOut | None) -> Suggestion:
    parts = tuple(asdict(part) for part in fit.parts)
    return Suggestion(parts, fit.landing.node, fit.landing.victims, fit.landing.rule, target.object, changes, tried)


def _at_the_attempt(question: Question, should_stop: Stop) -> _Found | None:
    """Run to the cycle, ask, and run on to see what became of the Pod: asking changes nothing."""
    found: list[_Found] = []
    spec = question.document if is_recorded(question.document) else question.document.get("spec") or {}

    def on_cycle(cycle: Cycle) -> None:
        if found or cycle.pod.uid != question.uid or cycle.now != question.started:
            return
        answered = smallest_changes(cycle)
        api = simulation.api
        target = target_of(cycle.pod, written(spec, question.objects), api.get)
        what_ifs = tuple(what_if_of(fit, cycle.pod, target, cycle.now, api.list("PriorityClass")) for fit in answered.fits)
        found.append(_Found(answered, cycle.pod, target, what_ifs, _Waiting(simulation, target, cycle.now)))

    scenario = scenario_of_document(compose(question.document, question.objects) if question.objects else question.document)
    simulation = Simulation(scenario, question.seed, on_cycle=on_cycle)
    simulation.run(lambda: bool(found and found[0].waiting.placed_at is not None) or should_stop())
    return found[0] if found else None


def _as_what_if(question: Question, what_if: WhatIf) -> Document | None:
    """The changed document, whole; None where the base does not take the change."""
    if is_recorded(question.document):
        return None
    try:
        changed = apply_what_if(question.document, what_if, question.objects).document
    except ScenarioErrors:
        return None
    return compose(changed, question.objects) if question.objects else changed


def _try_out(question: Question, document: Document, found: _Found, should_stop: Stop) -> TriedOut | None:
    """Run it, until the Pod is bound or to the end; None where even the scenario does not read."""
    try:
        scenario = scenario_of_document(document)
    except ScenarioErrors:
        return None
    simulation = Simulation(scenario, question.seed)
    waiting: list[_Waiting] = []
    since = question.started if found.target.template else min(0, -scenario.warmup)
    simulation.loop.after(0, lambda: waiting.append(_Waiting(simulation, found.target, since)))
    simulation.run(lambda: should_stop() or (bool(waiting) and waiting[0].placed_at is not None))
    return waiting[0].outcome() if waiting else None
