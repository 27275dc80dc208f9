"""Quantities are exact, and the effective request of a Pod is what Kubernetes makes of its containers."""

import pytest

from simulations.engine.api.quantity import ceil_millis, ceil_units, format_quantity, parse_quantity, resource_value
from simulations.engine.api.requests import effective_request
from simulations.engine.kernel.errors import ScenarioError

MEBI = 1024 * 1024


@pytest.mark.parametrize(
    "resource, text, value",
    [
        ("cpu", "0.1", 100),
        ("cpu", "1500m", 1500),
        ("cpu", 2, 2000),
        ("cpu", "1u", 1),
        ("memory", "1.5Gi", 1610612736),
        ("memory", "100m", 1),
        ("memory", "1e3", 1000),
        ("memory", "2E3", 2000),
        ("memory", "12E", 9223372036854775807),
        ("memory", "128974848", 128974848),
        ("pods", "110", 110),
        ("memory", "0.0000000001", 1),
    ],
)
def test_a_quantity_becomes_the_integer_that_the_scheduler_counts_in(resource, text, value):
    assert resource_value(resource, parse_quantity(text)) == value


@pytest.mark.parametrize("text", ["", "1 Gi", "abc", "1ki", "--1", "1.2.3", True, None, [], "1e", "Gi"])
def test_what_is_no_quantity_is_refused_with_its_field(text):
    with pytest.raises(ScenarioError) as caught:
        parse_quantity(text, "spec.x")
    assert (caught.value.code, caught.value.path) == ("E0206", "spec.x")


def test_an_exponent_beyond_any_use_is_refused_quickly():
    with pytest.raises(ScenarioError) as caught:
        parse_quantity("1e999999999")
    assert caught.value.code == "E0208"


def test_sums_are_rounded_once_at_the_end():
    half = parse_quantity("0.5m")
    assert ceil_millis(half + half) == 1
    assert ceil_units(parse_quantity("0.4") + parse_quantity("0.4")) == 1


@pytest.mark.parametrize(
    "resource, value, text",
    [("cpu", 1500, "1500m"), ("cpu", 2000, "2"), ("memory", 16 * 1024**3, "16Gi"), ("memory", 1000, "1000"), ("pods", 110, "110")],
)
def test_a_value_is_written_as_kubernetes_writes_it(resource, value, text):
    assert format_quantity(resource, value) == text


def container(**requests):
    return {"name": "c", "resources": {"requests": requests}}


def test_sidecars_raise_the_request_and_the_init_containers_that_follow_them():
    spec = {
        "containers": [container(cpu="1"), container(cpu="1")],
        "initContainers": [{**container(cpu="0.5"), "restartPolicy": "Always"}, container(cpu="2.4")],
    }
    assert effective_request(spec).requests == {"cpu": 2900}


def test_an_init_container_before_the_sidecars_does_not_wait_for_them():
    spec = {
        "containers": [container(cpu="1")],
        "initContainers": [container(cpu="1.4"), {**container(cpu="0.5"), "restartPolicy": "Always"}],
    }
    assert effective_request(spec).requests == {"cpu": 1500}


def test_pod_level_requests_replace_those_of_the_containers_and_overhead_comes_on_top():
    spec = {
        "containers": [container(cpu="1", memory="1Mi")],
        "resources": {"requests": {"cpu": "3"}},
        "overhead": {"cpu": "100m"},
    }
    assert effective_request(spec).requests == {"cpu": 3100, "memory": MEBI}


def test_limits_stand_in_for_missing_requests():
    spec = {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2", "memory": "1Mi"}, "requests": {"cpu": "1"}}}]}
    assert effective_request(spec).requests == {"cpu": 1000, "memory": MEBI}


def test_scoring_counts_something_for_containers_that_ask_for_nothing_and_an_explicit_zero_stays():
    assert effective_request({"containers": [container(), container()]}).nonzero_cpu == 200
    assert effective_request({"containers": [container(), container()]}).nonzero_memory == 400 * MEBI
    assert effective_request({"containers": [container(cpu="0", memory="0")]}).nonzero_cpu == 0


def test_zeros_are_left_out_of_the_request():
    assert effective_request({"containers": [container(cpu="0", memory="1Mi")]}).requests == {"memory": MEBI}


def test_a_negative_request_is_refused_with_its_field():
    with pytest.raises(ScenarioError) as caught:
        effective_request({"containers": [container(cpu="-1")]})
    assert caught.value.code == "E0207"
    assert caught.value.path == "spec.containers[0].resources.requests[cpu]"
