"""PodTopologySpread: keeps Pods of a kind spread over zones, Nodes or other domains."""

from simulations.engine.scheduler.plugins.pod_topology_spread.plugin import PodTopologySpread, PodTopologySpreadArgs

__all__ = ["PodTopologySpread", "PodTopologySpreadArgs"]
