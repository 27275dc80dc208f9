"""Changes of Nodes: one that is cordoned or silent takes Pods again, one gets the labels that the Pod selects, or one more comes."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from simulations.engine.api.labels import intern_labels
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.scheduling import HOSTNAME_LABEL, UNSCHEDULABLE_TAINT_KEY
from simulations.engine.counterfactual.model import Edit
from simulations.engine.scheduler.cache.cache import SchedulerCache

MOST_OF_A_KIND: Final = 20
NEW_NODE: Final = "extra-1"
_SILENT: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def node_edits(pod: Pod, cache: SchedulerCache) -> Iterator[Edit]:
    """The changes that are worth a question, each kind at most for twenty Nodes, in the order of Nodes."""
    nodes = [info.node for info in cache.infos.values()]
    for node in [each for each in nodes if each.unschedulable][:MOST_OF_A_KIND]:
        yield Edit("uncordon", node.name, node=_uncordoned)
    for node in [each for each in nodes if any(taint.key in _SILENT for taint in each.taints)][:MOST_OF_A_KIND]:
        yield Edit("recover", node.name, node=_back)
    for node, missing in _unlabelled(pod, nodes)[:MOST_OF_A_KIND]:
        words = ", ".join(f"{key}={value}" for key, value in missing.items())
        yield Edit("label", node.name, node=partial(_labelled, missing), like=words)
    for node in _shapes(nodes)[:MOST_OF_A_KIND]:
        yield Edit("addNode", NEW_NODE, node=_one_more, like=node.name)


def _uncordoned(node: Node) -> Node:
    return node.replace(unschedulable=False, taints=tuple(taint for taint in node.taints if taint.key != UNSCHEDULABLE_TAINT_KEY))


def _back(node: Node) -> Node:
    return node.replace(taints=tuple(taint for taint in node.taints if taint.key not in _SILENT))


def _labelled(labels: dict[str, str], node: Node) -> Node:
    return node.replace(labels=intern_labels({**node.labels, **labels}))


def _unlabelled(pod: Pod, nodes: list[Node]) -> list[tuple[Node, dict[str, str]]]:
    """The Nodes that lack labels of the node selector, and which."""
    wanted = sorted(pod.spec.node_selector.items())
    lacking = ((node, {key: value for key, value in wanted if node.labels.get(key) != value}) for node in nodes)
    return [(node, missing) for node, missing in lacking if missing]


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
