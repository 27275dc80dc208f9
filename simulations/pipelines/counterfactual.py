"""Answers "what would have had to be different?" for one attempt of a run, and tries the answers out.

The run is made again from its scenario and seed up to the instant of the attempt; there the scheduler is asked (`engine.counterfactual`).
Each answer is then a what-if, and the first few are run, to see that the Pod finds its place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from simulations.engine.api.pod import Pod
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
    """What became of the Pod when the scenario was run with the change: where it was bound and when, or that it was not.

    For a workload that makes its Pods anew it says how many of them have no Node at the end (`pending`) of how many (`pods`).
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
    """The suggestions, smallest first, how often the scheduler was asked, and how many suggestions were run."""

    suggestions: tuple[Suggestion, ...]
    asked: int
    tried: int

    def as_dict(self) -> dict[str, Any]:
        """As it is stored and sent."""
        return asdict(self)


@dataclass(slots=True)
class _Found:
    """What was found at the instant of the attempt."""

    answer: Answer
    pod: Pod
    target: Target
    what_ifs: tuple[WhatIf, ...]


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
    return Answered(tuple(suggestions), found.answer.asked, tried - left)


def _suggestion(fit: Fit, target: Target, changes: str, tried: TriedOut | None) -> Suggestion:
    parts = tuple(asdict(part) for part in fit.parts)
    return Suggestion(parts, fit.landing.node, fit.landing.victims, fit.landing.rule, target.object, changes, tried)


def _at_the_attempt(question: Question, should_stop: Stop) -> _Found | None:
    """Run to the cycle and ask."""
    found: list[_Found] = []
    spec = question.document if is_recorded(question.document) else question.document.get("spec") or {}

    def on_cycle(cycle: Cycle) -> None:
        if found or cycle.pod.uid != question.uid or cycle.now != question.started:
            return
        answered = smallest_changes(cycle)
        api = simulation.api
        target = target_of(cycle.pod, written(spec, question.objects), api.get)
        what_ifs = tuple(what_if_of(fit, cycle.pod, target, cycle.now, api.list("PriorityClass")) for fit in answered.fits)
        found.append(_Found(answered, cycle.pod, target, what_ifs))

    scenario = scenario_of_document(compose(question.document, question.objects) if question.objects else question.document)
    simulation = Simulation(scenario, question.seed, on_cycle=on_cycle)
    simulation.run(lambda: bool(found) or should_stop())
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
    pod = found.pod

    def bound() -> bool:
        now = simulation.api.get("Pod", pod.namespace, pod.name)
        return now is not None and bool(now.node_name)

    if found.target.template:
        simulation.run(should_stop)
        return _of_workload(simulation, found.target)
    simulation.run(lambda: should_stop() or bound())
    if not bound():
        return TriedOut(placed=False)
    return TriedOut(placed=True, node=simulation.api.get("Pod", pod.namespace, pod.name).node_name, time=simulation.loop.now)


def _of_workload(simulation: Simulation, target: Target) -> TriedOut:
    written_pods: frozenset[str] = frozenset()
    pods = [p for p in simulation.api.list("Pod") if target_of(p, written_pods, simulation.api.get) == target and not p.terminal]
    pending = sum(1 for p in pods if not p.node_name)
    return TriedOut(placed=bool(pods) and not pending, pods=len(pods), pending=pending)
