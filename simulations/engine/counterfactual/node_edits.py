"""Changes of Nodes: one that is cordoned or silent takes Pods again, or one more comes."""

from collections.abc import Iterator
from typing import Final

from simulations.engine.api.labels import intern_labels
from simulations.engine.api.node import Node
from simulations.engine.api.scheduling import HOSTNAME_LABEL, UNSCHEDULABLE_TAINT_KEY
from simulations.engine.counterfactual.model import Edit
from simulations.engine.scheduler.cache.cache import SchedulerCache

MOST_OF_A_KIND: Final = 20
NEW_NODE: Final = "extra-1"
_SILENT: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def node_edits(cache: SchedulerCache) -> Iterator[Edit]:
    """The changes that are worth a question, each kind at most for twenty Nodes, in the order of Nodes."""
    nodes = [info.node for info in cache.infos.values()]
    cordoned = [node for node in nodes if node.unschedulable]
    for node in cordoned[:MOST_OF_A_KIND]:
        taints = tuple(taint for taint in node.taints if taint.key != UNSCHEDULABLE_TAINT_KEY)
        yield Edit("uncordon", node.name, node=node.replace(unschedulable=False, taints=taints))
    silent = [node for node in nodes if any(taint.key in _SILENT for taint in node.taints)]
    for node in silent[:MOST_OF_A_KIND]:
        taints = tuple(taint for taint in node.taints if taint.key not in _SILENT)
        yield Edit("recover", node.name, node=node.replace(taints=taints))
    for node in _shapes(nodes)[:MOST_OF_A_KIND]:
        yield Edit("addNode", NEW_NODE, node=_one_more(node), like=node.name)


def _shapes(nodes: list[Node]) -> list[Node]:
    """The first Node of each shape: what it offers, its labels but the hostname, its taints."""
    found: dict[object, Node] = {}
    for node in nodes:
        labels = tuple(sorted((k, v) for k, v in node.labels.items() if k != HOSTNAME_LABEL))
        found.setdefault((tuple(sorted(node.allocatable.items())), labels, _lasting(node)), node)
    return list(found.values())


def _lasting(node: Node) -> tuple[object, ...]:
    return tuple(taint for taint in node.taints if taint.key not in (*_SILENT, UNSCHEDULABLE_TAINT_KEY))


def _one_more(node: Node) -> Node:
    labels = intern_labels({**node.labels, HOSTNAME_LABEL: NEW_NODE})
    return node.replace(name=NEW_NODE, uid="", labels=labels, taints=_lasting(node), unschedulable=False, images={})
