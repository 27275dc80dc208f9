"""DefaultEvictor: its arguments, what protects a pod, and the plugin."""

from simulations.engine.descheduler.plugins.default_evictor.args import DefaultEvictorArgs, read_args
from simulations.engine.descheduler.plugins.default_evictor.plugin import DefaultEvictor

__all__ = ["DefaultEvictor", "DefaultEvictorArgs", "read_args"]
