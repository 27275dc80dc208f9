"""InterPodAffinity: near or away from other Pods."""

from simulations.engine.scheduler.plugins.inter_pod_affinity.plugin import InterPodAffinity, InterPodAffinityArgs

__all__ = ["InterPodAffinity", "InterPodAffinityArgs"]
