"""Scenarios: what a run starts from, parsed and checked."""

from simulations.engine.scenario.model import Operation, Scenario, SchedulerSpec
from simulations.engine.scenario.parse import parse_scenario
from simulations.engine.scenario.recorded import from_recorded, is_recorded

__all__ = ["Operation", "Scenario", "SchedulerSpec", "from_recorded", "is_recorded", "parse_scenario"]
