"""One Schedscope and one Chromium for all journeys."""

import pytest

from tests.services import browser_arguments, running_site


@pytest.fixture(scope="session")
def site():
    """A running Schedscope: broker, worker, web server, SQLite."""
    with running_site() as running:
        yield running


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    """The system's Chromium with quiet flags."""
    return {**browser_type_launch_args, **browser_arguments()}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args):
    """A laptop's window."""
    return {**browser_context_args, "viewport": {"width": 1440, "height": 900}, "accept_downloads": True}


@pytest.fixture(autouse=True)
def no_script_errors(page):
    """A page that throws, or that breaks its own content security policy, fails the journey."""
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda line: problems.append(line.text) if "Content Security Policy" in line.text else None)
    yield
    assert not problems
