"""What would have had to be different: the smallest changes with which a Pod that found no Node would have found one.

Nothing is guessed: at the instant of the attempt, in the very state that the scheduler decided on, its own Filter, Score and PostFilter are
asked again with one thing changed.
"""

from simulations.engine.counterfactual.model import Fit, Landing, Part
from simulations.engine.counterfactual.search import Answer, smallest_changes

__all__ = ["Answer", "Fit", "Landing", "Part", "smallest_changes"]
