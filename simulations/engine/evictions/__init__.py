"""How Pods are made to leave: the one interface by which drains, deschedulers and autoscalers evict, and what uses it."""

from simulations.engine.cluster.eviction import Eviction
from simulations.engine.evictions.evictor import EvictionCalls, Evictor

__all__ = ["Eviction", "EvictionCalls", "Evictor"]
