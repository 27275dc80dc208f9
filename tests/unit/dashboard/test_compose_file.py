"""What docker-compose.yml promises, held to the settings."""

from pathlib import Path

import pytest
import yaml
from django.conf import settings

SERVICES = yaml.safe_load((Path(__file__).parents[3] / "docker-compose.yml").read_text())["services"]


def after(words: list[str], flag: str) -> list[str]:
    return words[words.index(flag) + 1].split(",") if flag in words else []


@pytest.mark.parametrize("name", [name for name in SERVICES if name != "migrate"])
def test_a_service_that_stays_has_a_health_check_and_comes_back(name):
    assert SERVICES[name]["healthcheck"]["test"]
    assert SERVICES[name]["restart"] == "unless-stopped"


def test_every_queue_that_a_task_goes_to_has_a_worker():
    served = {queue for service in SERVICES.values() for queue in after(service.get("command", []), "--queues")}
    assert served == {"runs", "sweeps", "live"}
    assert {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()} | {settings.CELERY_TASK_DEFAULT_QUEUE} <= served


def test_the_broker_forgets_nothing():
    words = SERVICES["valkey"]["command"]
    assert after(words, "--appendonly") == ["yes"]
    assert after(words, "--maxmemory-policy") == ["noeviction"]


def test_only_the_web_server_has_a_port_and_that_on_loopback():
    ports = {name: service.get("ports") for name, service in SERVICES.items() if service.get("ports")}
    assert ports == {"web": ["127.0.0.1:8000:8000"]}
