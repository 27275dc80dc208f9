"""NodeResourcesFit and NodeResourcesBalancedAllocation: what Pods ask for against what Nodes have left."""

from simulations.engine.scheduler.plugins.node_resources.balanced_allocation import NodeResourcesBalancedAllocation
from simulations.engine.scheduler.plugins.node_resources.fit import NodeResourcesFit

__all__ = ["NodeResourcesBalancedAllocation", "NodeResourcesFit"]
