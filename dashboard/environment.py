"""What the environment says: the mode, where data is kept, and which broker and database to use.

`docs/settings.md` describes every variable; a test holds the two together.
"""

import os
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import environ

VARIABLES: Final = (
    "SCHEDSCOPE_MODE",
    "SCHEDSCOPE_DATABASE",
    "REDIS_URL",
    "SCHEDSCOPE_HOST",
    "SCHEDSCOPE_PORT",
    "SCHEDSCOPE_SECRET_KEY",
    "SCHEDSCOPE_ALLOWED_HOSTS",
    "SCHEDSCOPE_DATA",
    "SCHEDSCOPE_MAX_UPLOAD_MB",
    "SCHEDSCOPE_SIGN_UP",
)
EMBEDDED: Final = "embedded"
PRODUCTION: Final = "production"


def mode() -> str:
    """`embedded` (one machine, no sign-in, loopback) or `production`."""
    return os.environ.get("SCHEDSCOPE_MODE", EMBEDDED)


def data_folder() -> Path:
    """Where embedded mode keeps its database and its run folder."""
    given = os.environ.get("SCHEDSCOPE_DATA")
    if given:
        return Path(given)
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "schedscope"


def database() -> dict[str, object]:
    """Django's setting for the database: a URL, or a path for SQLite; by default a file in the data folder."""
    value = os.environ.get("SCHEDSCOPE_DATABASE") or str(data_folder() / "schedscope.sqlite3")
    if "://" in value:
        found = environ.Env.db_url_config(value)
        return {**found, "HOST": unquote(str(found.get("HOST") or "")), "CONN_MAX_AGE": 0}  # a socket's folder is written %2Frun
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": value,
        "OPTIONS": {
            "timeout": 10,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
        "TEST": {"NAME": f"{value}.test"},
    }


def run_folder() -> Path:
    """Where the embedded broker has its socket. Its path is short, since a socket's path must stay under 100 characters."""
    return data_folder() / "run"


def broker_socket() -> Path:
    """The embedded broker's socket."""
    return run_folder() / "v.sock"


def sign_up_is_open() -> bool:
    """Whether strangers may make themselves an account (production)."""
    return os.environ.get("SCHEDSCOPE_SIGN_UP", "closed") == "open"


def beat_file() -> Path:
    """Where the clock of the periodic tasks keeps when it ran them last."""
    return Path(tempfile.gettempdir()) / "schedscope-beat" if mode() == PRODUCTION else run_folder() / "beat"


def redis_url() -> str:
    """The broker's address for redis-py and Channels (database 0 for Celery, 1 for Channels)."""
    return os.environ.get("REDIS_URL") or f"unix://{broker_socket()}"


def celery_broker_url() -> str:
    """The broker's address for Celery."""
    url = redis_url()
    return f"redis+socket://{url.removeprefix('unix://')}?virtual_host=0" if url.startswith("unix://") else url


def channels_url() -> str:
    """The broker's address for the channel layer: database 1."""
    url = redis_url()
    return f"{url}?db=1" if url.startswith("unix://") else f"{url.rstrip('/').removesuffix('/0')}/1"
