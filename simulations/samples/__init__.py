"""The gallery: scenarios that need no input, each with its story, what to look at and what to change."""

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from simulations.engine.documents import load_documents
from simulations.engine.kernel.errors import InvariantError
from simulations.pipelines.openb import bundled_trace, openb_document


@dataclass(frozen=True, slots=True)
class Sample:
    """A scenario of the gallery.

    `pace` is in virtual seconds per real second (0: as fast as it goes); `pair` names the sample that it is best compared with, if
    any; `openb` is the mode of the openb trace that it is made of, where it has no file of its own.
    """

    slug: str
    title: str
    story: str
    look_at: tuple[str, ...]
    change: tuple[str, ...]
    references: tuple[str, ...]
    pace: float = 1.0
    pair: str = ""
    openb: str = ""

    @property
    def text(self) -> str:
        """The scenario as it is written; empty where it is made of a trace."""
        if self.openb:
            return ""
        return (files(__name__) / f"{self.slug}.yaml").read_text(encoding="utf-8")

    def document(self) -> dict[str, Any]:
        """The scenario as a mapping of its own, which the caller may change."""
        if self.openb:
            return openb_document(bundled_trace(), self.openb)
        return deepcopy(load_documents(self.text, f"{self.slug}.yaml")[0].value)


@cache
def samples() -> tuple[Sample, ...]:
    """All samples, in the order of the gallery."""
    entries = yaml.safe_load((files(__name__) / "catalogue.yaml").read_text(encoding="utf-8"))
    return tuple(_sample(entry) for entry in entries)


def _sample(entry: dict[str, Any]) -> Sample:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Sample(**values)


def sample(slug: str) -> Sample | None:
    """The sample of this name."""
    return next((entry for entry in samples() if entry.slug == slug), None)


def first_sample() -> Sample:
    """The one that the landing page starts.

    Raises: InvariantError, the gallery is empty.
    """
    if not samples():
        raise InvariantError("the gallery is empty")
    return samples()[0]
