"""The order in which Nodes are looked at: round robin over zones.

Source: pkg/scheduler/backend/cache/node_tree.go, v1.36
"""

import itertools

from simulations.engine.api.node import Node

_ZONES = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
_REGIONS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")


def zone_of(node: Node) -> tuple[str, str]:
    """Region and zone of a Node, the legacy labels first; empty where it has none."""
    labels = node.labels
    region = next((labels[key] for key in _REGIONS if key in labels), "")
    zone = next((labels[key] for key in _ZONES if key in labels), "")
    return region, zone


class NodeTree:
    """Node names by zone: zones in order of first appearance, Nodes in order of addition."""

    def __init__(self) -> None:
        self._zones: dict[tuple[str, str], dict[str, None]] = {}

    def add(self, node: Node) -> None:
        """Put a Node last in its zone."""
        self._zones.setdefault(zone_of(node), {})[node.name] = None

    def remove(self, node: Node) -> None:
        """Take a Node out; an empty zone goes with it."""
        zone = zone_of(node)
        names = self._zones.get(zone, {})
        names.pop(node.name, None)
        if not names:
            self._zones.pop(zone, None)

    def update(self, old: Node, new: Node) -> None:
        """Move a Node whose zone changed to the end of its new zone."""
        if zone_of(old) != zone_of(new):
            self.remove(old)
            self.add(new)

    def names(self) -> list[str]:
        """All names: one of each zone per round."""
        rounds = itertools.zip_longest(*self._zones.values())
        return [name for names in rounds for name in names if name is not None]
