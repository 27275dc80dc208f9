"""What all Nodes offer to a Pod's claims, over columns: it must answer as `finding.find` does for each Node (a test holds it to that).

One step for each volume that may be bound, whatever the number of Nodes. Which Nodes a volume can be reached from is remembered until
a Node changes.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from simulations.engine.api.scheduling import NodeAffinity
from simulations.engine.api.selectors import Requirement
from simulations.engine.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from simulations.engine.api.volume_matching import has_modes, is_bound_to, is_free_for, may_serve
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.cache.columns import Bools, Columns, Ints
from simulations.engine.scheduler.framework.label_masks import requirement_mask, term_mask
from simulations.engine.scheduler.plugins.volume_binding.finding import (
    BIND_CONFLICT,
    NO_VOLUME,
    NODE_CONFLICT,
    NOT_ENOUGH_SPACE,
    PodClaims,
    PodVolumes,
    capacities,
    class_of,
    provisions,
)

NOTHING: Final = -1
_KEY: Final = "volume affinity"
_MAX_CELLS: Final = 20_000_000
REASONS: Final = (NODE_CONFLICT, BIND_CONFLICT, NOT_ENOUGH_SPACE, NO_VOLUME)


@dataclass(slots=True)
class Offers:
    """Per row: which reasons speak against the Node (bit i for REASONS[i]), which volume each claim gets, which are provisioned for."""

    reasons: Ints
    chosen: list[tuple[PersistentVolumeClaim, list[PersistentVolume], Ints]] = field(default_factory=list)
    provisioned: list[tuple[PersistentVolumeClaim, Bools]] = field(default_factory=list)
    error: str = ""

    def on(self, row: int) -> PodVolumes:
        """What is to be done for the Pod on the Node of a row that passed."""
        bindings = [(volumes[best[row]], claim) for claim, volumes, best in self.chosen if best[row] != NOTHING]
        return PodVolumes(bindings, [claim for claim, rows in self.provisioned if rows[row]])


def find_all(claims: PodClaims, cache: SchedulerCache, columns: Columns) -> Offers:
    """What the Nodes of all rows offer; rows without a Node may hold anything."""
    offers = Offers(np.zeros(len(columns.valid), dtype=np.int64))
    _bound_elsewhere(offers, claims, cache, columns)
    open_rows = columns.valid.copy()
    for claim in claims.to_provision:
        info = cache.infos.get(claim.selected_node or "")
        kept = np.zeros(len(columns.valid), dtype=np.bool_)
        if info is not None:
            kept[info.row] = True
        open_rows &= kept
    offers.reasons[columns.valid & ~open_rows] |= _bit(BIND_CONFLICT)
    for claim in claims.to_match:
        _match(offers, claim, claims.candidates[claim.storage_class], cache, columns, open_rows)
    still_open = open_rows.copy()
    for claim in claims.to_provision:
        _provision(offers, claim, open_rows, still_open, cache, columns)
    for claim, _volumes, best in list(offers.chosen):
        _provision(offers, claim, open_rows & (best == NOTHING), still_open, cache, columns)
    return offers


def _bound_elsewhere(offers: Offers, claims: PodClaims, cache: SchedulerCache, columns: Columns) -> None:
    """The first bound claim that speaks against a Node decides."""
    open_rows = columns.valid.copy()
    for claim in claims.bound:
        volume = cache.volumes.volumes.get(("", claim.volume_name))
        if volume is None:
            offers.reasons[open_rows] |= _bit(NO_VOLUME)
            return
        out = open_rows & ~_reachable(volume, cache, columns)
        offers.reasons[out] |= _bit(NODE_CONFLICT)
        open_rows &= ~out


def _match(
    offers: Offers,
    claim: PersistentVolumeClaim,
    candidates: list[PersistentVolume],
    cache: SchedulerCache,
    columns: Columns,
    rows: Bools,
) -> None:
    """The volume of the claim's own, or for each Node the smallest free one that no claim before it took there."""
    best = np.full(len(columns.valid), NOTHING, dtype=np.int64)
    fitting = [(i, volume) for i, volume in enumerate(candidates) if may_serve(volume, claim)]
    own = next((pair for pair in fitting if is_bound_to(pair[1], claim)), None)
    if own is not None:
        best[rows & _reachable(own[1], cache, columns)] = own[0]
    else:
        free = [(i, volume) for i, volume in fitting if is_free_for(volume, claim) and has_modes(volume, claim)]
        left = rows.copy()
        for i, volume in sorted(free, key=lambda pair: pair[1].capacity):
            given = left & _reachable(volume, cache, columns)
            for _claim, others, theirs in offers.chosen:
                if others is candidates:
                    given &= theirs != i
            best[given] = i
            left &= ~given
            if not left.any():
                break
    offers.chosen.append((claim, candidates, best))


def _provision(
    offers: Offers, claim: PersistentVolumeClaim, wanted: Bools, still_open: Bools, cache: SchedulerCache, columns: Columns
) -> None:
    """Can a volume be made where the claim got none? The first claim that cannot have one decides."""
    rows = wanted & still_open
    if not rows.any():
        return
    found = class_of(claim, cache.volumes)
    if isinstance(found, str):
        offers.error = offers.error or found
        return
    allowed = rows & _allowed(found, columns) if provisions(found) else np.zeros(len(rows), dtype=np.bool_)
    offers.reasons[rows & ~allowed] |= _bit(BIND_CONFLICT)
    room = capacities(claim, found, cache.volumes)
    served = allowed
    if room is not None:
        near = np.zeros(len(rows), dtype=np.bool_)
        for item in room:
            near |= _all(tuple(item.topology.requirements) if item.topology is not None else (), columns)
        served = allowed & near
        offers.reasons[allowed & ~near] |= _bit(NOT_ENOUGH_SPACE)
    still_open &= ~rows | served
    offers.provisioned.append((claim, served))


def _allowed(found: StorageClass, columns: Columns) -> Bools:
    if not found.allowed_topologies:
        return columns.valid
    allowed = np.zeros(len(columns.valid), dtype=np.bool_)
    for term in found.allowed_topologies:
        if term:
            allowed |= _all(tuple(Requirement(key, "In", values) for key, values in term), columns)
    return allowed


def _all(requirements: tuple[Requirement, ...], columns: Columns) -> Bools:
    mask = columns.valid.copy()
    for requirement in requirements:
        mask &= requirement_mask(columns, requirement)
    return mask


def _bit(reason: str) -> int:
    return 1 << REASONS.index(reason)


def _reachable(volume: PersistentVolume, cache: SchedulerCache, columns: Columns) -> Bools:
    """The rows of Nodes that a volume can be reached from."""
    affinity = volume.node_affinity
    if affinity is None or affinity.required is None:
        return columns.valid
    version, masks = cache.derived.get(_KEY, (-1, {}))
    if version != columns.version or len(masks) * len(columns.valid) > _MAX_CELLS:
        version, masks = cache.derived[_KEY] = (columns.version, {})
    mask: Bools | None = masks.get(affinity)
    if mask is None:
        mask = masks[affinity] = _affinity_mask(affinity, cache, columns)
    return mask


def _affinity_mask(affinity: NodeAffinity, cache: SchedulerCache, columns: Columns) -> Bools:
    mask = np.zeros(len(columns.valid), dtype=np.bool_)
    for term in affinity.required or ():
        if term.fields:  # a Node's name counts for nothing here, which columns do not know
            for info in cache.infos.values():
                mask[info.row] |= term.matches("", info.node.labels)
        else:
            mask |= term_mask(columns, term)
    return mask
