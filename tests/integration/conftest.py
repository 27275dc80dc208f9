"""Sites over SQLite and over PostgreSQL, each with its own broker and worker."""

import pytest

from tests.services import postgres, running_site


@pytest.fixture(scope="module")
def embedded():
    """A Schedscope as `make run` starts it."""
    with running_site() as site:
        yield site


@pytest.fixture(scope="module")
def on_postgres():
    """A Schedscope over a real PostgreSQL."""
    with postgres() as url, running_site(SCHEDSCOPE_DATABASE=url) as site:
        yield site


@pytest.fixture(params=["embedded", "on_postgres"])
def site(request):
    """Both, one after the other."""
    return request.getfixturevalue(request.param)
