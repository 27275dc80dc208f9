"""How much is tried: a little in every test run, all of it with SCHEDSCOPE_FUZZ (`make fuzz`)."""

import os
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings

TOO_SLOW = timedelta(seconds=5)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much]
settings.register_profile("some", max_examples=150, derandomize=True, deadline=TOO_SLOW, suppress_health_check=SLOW)
settings.register_profile("all", max_examples=1600, deadline=TOO_SLOW, suppress_health_check=SLOW, print_blob=True)
settings.load_profile("all" if os.environ.get("SCHEDSCOPE_FUZZ") else "some")


@pytest.fixture
def quiet(monkeypatch):
    """Runs and imports are made and never started: what is tried here is the way in."""
    monkeypatch.setattr("simulations.services._announce", lambda job, task: None)
