"""The default normalisation of scores.

Source: pkg/scheduler/framework/plugins/helper/normalize_score.go, v1.36
"""

import numpy as np

from simulations.engine.scheduler.cache.columns import Ints


def default_normalize(scores: Ints, *, reverse: bool, maximum: int = 100) -> Ints:
    """Scale scores (all >= 0) so that the highest becomes `maximum`; `reverse` turns them round."""
    highest = int(scores.max()) if len(scores) else 0
    if highest == 0:
        return np.full_like(scores, maximum) if reverse else scores
    scaled = scores * maximum // highest
    return maximum - scaled if reverse else scaled
