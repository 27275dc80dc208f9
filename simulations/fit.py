"""What would have let a pod fit at one attempt: asked, searched for by a worker, answered."""

from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from simulations import leases, queries
from simulations.analysis.why.fit_words import part_text
from simulations.analysis.why.types import Why
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.models import FINISHED_STATES, FitSearch, JobState
from simulations.pipelines import counterfactual
from simulations.tasks import find_fit, question_of


@dataclass(frozen=True, slots=True)
class Part:
    """One change: its kind as docs/explanations.md has it, what is changed, the values, and in words."""

    kind: str
    target: str
    before: str
    after: str
    text: str


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of the pod when the change was tried out: where it was bound and when (virtual ns).

    Of a workload: how many of its pods have no node at the end.
    """

    placed: bool
    node: str
    time: int | None
    pods: int
    pending: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Changes that together let the pod fit, where it would go, who would leave for it, and the what-if as YAML."""

    text: str
    parts: tuple[Part, ...]
    node: str
    victims: tuple[str, ...]
    rule: str
    target: str
    changes: str
    tried: Tried | None
    sooner: bool = False
    """Whether it was placed when tried out, and sooner than in the run as it was."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A search: about which attempt, where it stands, and what it found (None: nothing yet).

    `asked` counts the questions that were put to the scheduler, `tried` the suggestions that were run; `without` is what
    became of the pod in the run as it was.
    """

    run: int
    pod: str
    seq: int
    state: str
    suggestions: tuple[Suggestion, ...] | None = None
    asked: int = 0
    tried: int = 0
    without: Tried | None = None
    error_code: str = ""
    error_message: str = ""

    @property
    def active(self) -> bool:
        """Whether it is still to come or going on."""
        return self.state not in FINISHED_STATES


def refused(why: Why) -> bool:
    """Whether there is something to ask: the attempt that the explanation is about found no node."""
    return why.attempt is not None and why.attempt.reason == "Unschedulable"


def _attempt(run_id: int, pod: str, at: int | None) -> Why:
    why = queries.why(run_id, pod, at)
    if why is None:
        raise ScenarioErrors([ScenarioError("E0625", f"run {run_id} has no record of a pod {pod!r}", "pod")])
    if not refused(why):
        raise ScenarioErrors([ScenarioError("E0626", f"{pod} was not refused at that attempt, or it had none yet", "seq")])
    return why


def ask(run_id: int, pod: str, at: int | None = None, owner: int | None = None) -> Fit:
    """Search for the smallest changes at the last attempt of the pod up to a record (or at all); the same attempt is searched once.

    Raises:
        ScenarioErrors: E0625, E0626.
    """
    job = _stored(run_id, _attempt(run_id, pod, at), owner)
    return _fit(job)


def _stored(run_id: int, why: Why, owner: int | None) -> FitSearch:
    attempt = why.attempt
    assert attempt is not None, "it was refused"
    FitSearch.objects.filter(run_id=run_id, seq=attempt.seq, state__in=(JobState.FAILED, JobState.CANCELLED)).delete()
    found = FitSearch.objects.filter(run_id=run_id, seq=attempt.seq).first()
    if found is not None:
        return found
    try:
        with transaction.atomic():
            job = FitSearch.objects.create(
                run_id=run_id, pod=why.pod, uid=why.uid, seq=attempt.seq, started_at=attempt.started, owner_id=owner
            )  # fmt: skip
            transaction.on_commit(lambda: leases.announce(job, find_fit))
    except IntegrityError:
        return FitSearch.objects.get(run_id=run_id, seq=attempt.seq)
    return job


def of_attempt(run_id: int, seq: int) -> Fit | None:
    """The search about the attempt with this record; None: nobody asked."""
    job = FitSearch.objects.filter(run_id=run_id, seq=seq).first()
    return None if job is None else _fit(job)


def find_now(run_id: int, pod: str, at: int | None = None) -> Fit:
    """Search here and now, without a worker; nothing is stored.

    Raises:
        ScenarioErrors: E0625, E0626.
    """
    why = _attempt(run_id, pod, at)
    attempt = why.attempt
    assert attempt is not None, "it was refused"
    job = FitSearch(run_id=run_id, pod=why.pod, uid=why.uid, seq=attempt.seq, started_at=attempt.started)
    found = counterfactual.answer(question_of(job))
    job.answer, job.state = found.as_dict() if found is not None else None, JobState.SUCCEEDED
    return _fit(job)


def _fit(job: FitSearch) -> Fit:
    head = (job.run_id, job.pod, job.seq, str(job.state))
    if job.answer is None:
        return Fit(*head, error_code=job.error_code, error_message=job.error_message)
    without = Tried(**job.answer["without"])
    found = tuple(_suggestion(each, without) for each in job.answer["suggestions"])
    return Fit(*head, found, job.answer["asked"], job.answer["tried"], without)


def _suggestion(stored: dict[str, Any], without: Tried) -> Suggestion:
    parts = tuple(_part(each) for each in stored["parts"])
    text = " and ".join(part.text for part in parts)
    tried = Tried(**stored["tried"]) if stored["tried"] is not None else None
    return Suggestion(
        text[:1].upper() + text[1:], parts, stored["node"], tuple(stored["victims"]), stored["rule"], stored["target"],
        stored["changes"], tried, tried is not None and _sooner(tried, without),
    )  # fmt: skip


def _sooner(tried: Tried, without: Tried) -> bool:
    return tried.time is not None and (without.time is None or tried.time < without.time)


def _part(stored: dict[str, Any]) -> Part:
    kind, target, before, after = (str(stored[name]) for name in ("kind", "target", "before", "after"))
    return Part(kind, target, before, after, part_text(kind, target, before, after))
