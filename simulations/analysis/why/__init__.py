"""The answer to "why?": one pod, all that the trace says about it. Parts as in docs/samples.md and on the page."""

from simulations.analysis.why.explain import MOST_ROWS, explain
from simulations.analysis.why.types import Outcome, Why

__all__ = ["MOST_ROWS", "Outcome", "Why", "explain"]
