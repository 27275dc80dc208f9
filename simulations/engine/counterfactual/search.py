"""Finds the smallest changes that let a Pod fit, by asking the scheduler.

Each is tried alone, then in pairs, then all together less what is not needed.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from simulations.engine.counterfactual.model import Fit, Landing
from simulations.engine.counterfactual.node_edits import node_edits
from simulations.engine.counterfactual.parts import forced_part, part_of
from simulations.engine.counterfactual.pod_edits import pod_edits
from simulations.engine.counterfactual.trial import Choice, Trial
from simulations.engine.scheduler.schedule_one import Cycle

MOST_FITS: Final = 12
MOST_PAIRS: Final = 300
_FEW: Final = {"addNode": 1, "uncordon": 3, "recover": 3, "label": 3}
_LAST_RESORT: Final = ("addNode", "free")
"""What helps nearly always: with nothing else, combinations are tried too."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The changes, smallest first, and how often the scheduler was asked. `fits` is empty where nothing helps."""

    fits: tuple[Fit, ...]
    asked: int


def smallest_changes(cycle: Cycle) -> Answer:
    """The changes, each of which would let the Pod of this cycle fit now.

    Fewer parts come before more, and among as many the smaller before the larger (docs/explanations.md has the sizes).
    """
    return _Search(Trial(cycle)).answer()


class _Search:
    """One cycle's search."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        cache = trial.cycle.framework.cache
        self.loose: list[Choice] = [
            (edit, edit.dial.loosest if edit.dial is not None else 0)
            for edit in (*pod_edits(trial.pod, cache), *node_edits(trial.pod, cache))
        ]  # fmt: skip
        self.fits: list[Fit] = []

    def answer(self) -> Answer:
        """All of it."""
        if len(self.trial.cycle.framework.cache.infos):
            self._alone()
            if all(fit.parts[0].kind in _LAST_RESORT for fit in self.fits):
                self._combined()
        ranked = sorted(self.fits, key=lambda fit: (len(fit.parts), fit.size, [(p.kind, p.target) for p in fit.parts]))
        return Answer(tuple(_few_of_each(ranked)[:MOST_FITS]), self.trial.asked)

    def _alone(self) -> None:
        for choice in self.loose:
            self._keep_if_it_fits([choice])
        forced = self.trial.room_by_force()
        if forced is not None:
            self.fits.append(Fit((forced_part(forced),), forced))

    def _combined(self) -> None:
        several = [choice for choice in self.loose if choice[0].kind != "addNode"]
        for pair in itertools.islice(itertools.combinations(several, 2), MOST_PAIRS):
            self._keep_if_it_fits(list(pair))
        if any(len(fit.parts) > 1 for fit in self.fits):
            return
        found = self._all_but_what_is_not_needed(several)
        if found:
            self._keep_if_it_fits(found)

    def _all_but_what_is_not_needed(self, choices: Sequence[Choice]) -> list[Choice]:
        """From all changes together, leave out one after the other while it still fits; empty: not even all of them help."""
        kept = _without_rivals(choices)
        if self.trial.land(kept) is None:
            return []
        for choice in sorted(kept, key=lambda c: -_weight(c)):
            rest = [other for other in kept if other is not choice]
            if rest and self.trial.land(rest) is not None:
                kept = rest
        return kept

    def _keep_if_it_fits(self, choices: list[Choice]) -> None:
        landing = self.trial.land(choices)
        if landing is None:
            return
        for i in range(len(choices)):
            landing = self._tighten(choices, i, landing)
        parts = tuple(part_of(self.trial, choice, landing) for choice in choices)
        self.fits.append(Fit(parts, landing, self.trial.spec_with(choices)))

    def _tighten(self, choices: list[Choice], i: int, landing: Landing) -> Landing:
        """Turn a dial back as far as the Pod still fits, by halving what is left."""
        edit, fits = choices[i]
        if edit.dial is None:
            return landing
        too_tight = edit.dial.present
        while abs(fits - too_tight) > 1:
            middle = (fits + too_tight) // 2
            choices[i] = (edit, middle)
            found = self.trial.land(choices)
            if found is None:
                too_tight = middle
            else:
                fits, landing = middle, found
        choices[i] = (edit, fits)
        return landing


def _without_rivals(choices: Iterable[Choice]) -> list[Choice]:
    """Of changes of the same thing the more thorough one: no constraint instead of a larger skew, all terms instead of one."""
    kept = [choice for choice in choices if choice[0].kind != "maxSkew"]
    whole = any(edit.kind == "nodeAffinity" and edit.target == "all required terms" for edit, _degree in kept)
    if whole:
        kept = [c for c in kept if c[0].kind != "nodeAffinity" or c[0].target == "all required terms"]
    return kept


def _weight(choice: Choice) -> int:
    """What is left out first."""
    order = ("label", "priority", "recover", "podAntiAffinity", "podAffinity", "spread", "nodeAffinity", "hostPort", "uncordon")
    kind = choice[0].kind
    return len(order) - order.index(kind) if kind in order else 0


def _few_of_each(fits: Iterable[Fit]) -> list[Fit]:
    """Of Nodes that could come the first shape that helps, of Nodes that could be changed alike the first three."""
    counts: Counter[str] = Counter()
    kept = []
    for fit in fits:
        kind = "+".join(sorted(part.kind for part in fit.parts))
        most = min((_FEW[part.kind] for part in fit.parts if part.kind in _FEW), default=MOST_FITS)
        counts[kind] += 1
        if counts[kind] <= most:
            kept.append(fit)
    return kept
