"""Real services for the tests: PostgreSQL, Valkey, and a whole Schedscope, each in a folder of its own."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.install_services import chromium, postgres_folder

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM_FLAGS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
START_SECONDS = 60.0


def free_port() -> int:
    """A TCP port of the loopback that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def short_folder() -> Path:
    """A private folder whose path is short enough for a socket."""
    return Path(tempfile.mkdtemp(prefix="ss-", dir="/tmp" if Path("/tmp").is_dir() else None))


def wait_until(holds, seconds: float = START_SECONDS, every: float = 0.05):
    """Wait for a truthy answer and return it.

    Raises: AssertionError, it did not come.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = holds()
        if answer:
            return answer
        time.sleep(every)
    raise AssertionError(f"not within {seconds} s")


def outside(env: dict[str, str]) -> dict[str, str]:
    """The environment of a real Schedscope process: this one's, with the product's settings in place of the tests'."""
    return {**os.environ, "DJANGO_SETTINGS_MODULE": "dashboard.settings", **env}


def manage(*words: str, env: dict[str, str], check: bool = True, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command of manage.py to its end, with something on its standard input."""
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    return subprocess.run(
        command, env=outside(env), cwd=ROOT, input=given, capture_output=True, text=True, check=check, timeout=120
    )


class PostgresServer:
    """A private PostgreSQL on a Unix socket, with a size limit where asked. As root it runs as the user `nobody`."""

    def __init__(self, folder: Path | None = None) -> None:
        programs = postgres_folder()
        assert programs is not None, "PostgreSQL is missing: make services"
        self.folder = folder or short_folder()
        self.url = f"postgres://schedscope@{str(self.folder).replace('/', '%2F')}:5432/postgres"
        as_root = os.geteuid() == 0
        if as_root:
            shutil.chown(self.folder, "nobody")
        self.folder.chmod(0o700)
        self._program = programs / "postgres"
        user = "nobody" if as_root else None
        self._quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "user": user, "cwd": "/"}
        words = ["-D", str(self.folder / "data"), "-U", "schedscope", "--auth=trust", "-E", "UTF8", "--no-sync"]
        subprocess.run([str(programs / "initdb"), *words], check=True, **self._quiet)
        self.start()
        wait_until(lambda: _answers(self.folder))

    def start(self) -> None:
        """Start it over the data that are there."""
        words = ["-D", str(self.folder / "data"), "-k", str(self.folder), "-c", "listen_addresses=", "-c", "fsync=off"]
        self._server = subprocess.Popen([str(self._program), *words], **self._quiet)

    @property
    def running(self) -> bool:
        """Whether its first process lives."""
        return self._server.poll() is None

    def crash(self) -> None:
        """End all its processes at once; the next start recovers from the log."""
        self._server.send_signal(signal.SIGQUIT)
        self._server.wait(20)

    def close(self) -> None:
        """Stop it and remove its data."""
        self._server.terminate()
        try:
            self._server.wait(5)
        except subprocess.TimeoutExpired:
            self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def postgres() -> Iterator[str]:
    """A private PostgreSQL; yields its URL."""
    server = PostgresServer()
    try:
        yield server.url
    finally:
        server.close()


def _answers(folder: Path) -> bool:
    import psycopg

    try:
        with psycopg.connect(host=str(folder), user="schedscope", dbname="postgres", connect_timeout=2):
            return True
    except psycopg.OperationalError:
        return False


class Site:
    """A whole Schedscope that runs: its address, its data folder, its supervisor."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = {"SCHEDSCOPE_DATA": str(folder), "SCHEDSCOPE_PORT": str(self.port), "SCHEDSCOPE_HOST": "127.0.0.1", **env}
        self.log = (folder / "serve.log").open("wb")
        command = [sys.executable, str(ROOT / "manage.py"), "serve"]
        full = outside(self.env)
        self.process = subprocess.Popen(
            command, env=full, cwd=ROOT, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
        try:
            wait_until(self._serves)
        except AssertionError:
            self.stop()
            raise AssertionError((folder / "serve.log").read_text(errors="replace")) from None

    def _serves(self) -> bool:
        assert self.process.poll() is None, (self.folder / "serve.log").read_text(errors="replace")
        return b"Schedscope is at" in (self.folder / "serve.log").read_bytes()

    def get(self, path: str) -> bytes:
        """The body of a page."""
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read()

    def manage(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command against the same data and broker."""
        return manage(*words, env=self.env, check=check)

    def children(self) -> list[int]:
        """The process ids that the supervisor started."""
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    def stop(self) -> int:
        """Stop it as Ctrl+C does, and return the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        return self.process.returncode


@contextmanager
def running_site(**env: str) -> Iterator[Site]:
    """A Schedscope in a folder of its own, gone afterwards."""
    folder = short_folder()
    site = Site(folder, **env)
    try:
        yield site
    finally:
        site.stop()
        shutil.rmtree(folder, ignore_errors=True)


def browser_arguments() -> dict:
    """How to launch Chromium here.

    Raises: AssertionError, there is none.
    """
    program = chromium()
    assert program is not None, "Chromium is missing: make services"
    flags = [*CHROMIUM_FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    return {"executable_path": program, "args": flags}
