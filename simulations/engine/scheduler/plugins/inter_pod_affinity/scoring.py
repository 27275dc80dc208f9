"""PreScore, Score and NormalizeScore of InterPodAffinity.

Source: pkg/scheduler/framework/plugins/interpodaffinity/scoring.go, v1.36
"""

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.pod_counts import CountColumn
from simulations.engine.scheduler.plugins.inter_pod_affinity.common import matching_pods, terms_about

Weights = dict[str, Ints]
"""By topology key: the weight of each value id."""


def prepare(pod: Pod, cache: SchedulerCache, hard_weight: int, *, ignore_existing: bool) -> Weights | None:
    """Add up the weights of all pairs of the Pod's terms with Pods, and of Pods' terms with the Pod; None: no pair at all."""
    weights: Weights = {}
    affinity, anti = pod.spec.pod_affinity, pod.spec.pod_anti_affinity
    own = [(p.term, p.weight) for p in (affinity.preferred if affinity else ())]
    own += [(p.term, -p.weight) for p in (anti.preferred if anti else ())]
    if ignore_existing and not own:
        return None
    for term, weight in own:
        _add(weights, cache, term.topology_key, matching_pods(cache, (term,)), weight)
    for (kind, term, preferred_weight), counted in terms_about(pod, cache):
        weight = {"required": hard_weight, "preferred": preferred_weight, "preferred-anti": -preferred_weight}.get(kind, 0)
        if weight:
            _add(weights, cache, term.topology_key, counted, weight)
    return weights or None


def _add(weights: Weights, cache: SchedulerCache, key: str, counted: CountColumn, weight: int) -> None:
    counts = cache.counts_by_label(counted, key)
    if counts.any():
        weights[key] = weights[key] + counts * weight if key in weights else counts * weight


def score_row(weights: Weights, columns: Columns, row: int) -> int:
    """The sum of the weights of one Node's values."""
    return sum(int(by_id[columns.label(key).ids[row]]) for key, by_id in weights.items())


def score_rows(weights: Weights, columns: Columns, rows: Ints) -> Ints:
    """The sum of the weights of the Nodes' values."""
    total = np.zeros(len(rows), dtype=np.int64)
    for key, by_id in weights.items():
        total += by_id[columns.label(key).ids[rows]]
    return total


def normalize(scores: Ints) -> Ints:
    """Stretch from the lowest (0) to the highest (100); all equal: 0. The order of the float operations is upstream's."""
    lowest, highest = int(scores.min()), int(scores.max())
    if highest == lowest:
        return np.zeros_like(scores)
    scaled = 100.0 * ((scores - lowest).astype(np.float64) / float(highest - lowest))
    return scaled.astype(np.int64)
