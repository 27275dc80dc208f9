"""LowNodeUtilization and HighNodeUtilization: arguments, usage, thresholds, the loop that evicts, and the two plugins."""

from simulations.engine.descheduler.plugins.node_utilization.args import (
    HighNodeUtilizationArgs,
    LowNodeUtilizationArgs,
    read_high,
    read_low,
)
from simulations.engine.descheduler.plugins.node_utilization.high import HighNodeUtilization
from simulations.engine.descheduler.plugins.node_utilization.low import LowNodeUtilization

__all__ = [
    "HighNodeUtilization",
    "HighNodeUtilizationArgs",
    "LowNodeUtilization",
    "LowNodeUtilizationArgs",
    "read_high",
    "read_low",
]
