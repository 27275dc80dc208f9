"""Requirements and terms evaluated over label columns, for plugins that look at Node labels."""

import numpy as np

from simulations.engine.api.labels import Labels
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import NodeAffinity
from simulations.engine.api.selectors import NodeSelectorTerm, Requirement
from simulations.engine.scheduler.cache.columns import Bools, Columns


def requirement_mask(columns: Columns, requirement: Requirement) -> Bools:
    """The rows whose labels satisfy the requirement."""
    column = columns.label(requirement.key)
    if requirement.operator == "In" and len(requirement.values) == 1:
        only: Bools = column.ids == column.known_id(requirement.values[0])
        return only
    known = [
        requirement.holds({} if value is None else {requirement.key: value}) for value in column.values
    ]  # few values, many rows
    mask: Bools = np.array(known, dtype=np.bool_)[column.ids]
    return mask


def term_mask(columns: Columns, term: NodeSelectorTerm) -> Bools:
    """The rows that a node selector term matches."""
    mask = np.ones(len(columns.valid), dtype=np.bool_)
    if not term.valid or not (term.expressions or term.fields):
        return ~mask
    for requirement in term.expressions:
        mask &= requirement_mask(columns, requirement)
    for requirement in term.fields:
        named = np.fromiter(
            (requirement.holds({"metadata.name": name}) for name in columns.names), dtype=np.bool_, count=len(columns.names)
        )
        mask[: len(named)] &= named
        mask[len(named) :] = False
    return mask


def affinity_mask(affinity: NodeAffinity, columns: Columns) -> Bools:
    """The rows that the required terms allow; all where none are set."""
    mask = np.ones(len(columns.valid), dtype=np.bool_)
    if affinity.required is None:
        return mask
    mask[:] = False
    for term in affinity.required:
        mask |= term_mask(columns, term)
    return mask


def required_mask(pod: Pod, columns: Columns) -> Bools:
    """The rows that the Pod's nodeSelector and required node affinity allow."""
    mask = np.ones(len(columns.valid), dtype=np.bool_)
    for key, value in pod.spec.node_selector.items():
        mask &= requirement_mask(columns, Requirement(key, "In", (value,)))
    if pod.spec.node_affinity is not None:
        mask &= affinity_mask(pod.spec.node_affinity, columns)
    return mask


def node_matches(pod: Pod, name: str, labels: Labels) -> bool:
    """Whether the Pod's nodeSelector and required node affinity allow a Node of this name and these labels."""
    spec = pod.spec
    if any(labels.get(key) != value for key, value in spec.node_selector.items()):
        return False
    return spec.node_affinity is None or spec.node_affinity.required_matches(name, labels)
