"""The answer to "why?": one pod, and all that the trace says about it."""

from simulations.analysis.why.explain import MOST_ROWS, explain
from simulations.analysis.why.types import Outcome, Why

__all__ = ["MOST_ROWS", "Outcome", "Why", "explain"]
