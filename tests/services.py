"""Real services for the tests: PostgreSQL, Valkey, and a whole Schedscope, each in a folder of its own."""

import os
import shutil
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


def manage(*words: str, env: dict[str, str], check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command of manage.py to its end."""
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    return subprocess.run(command, env={**os.environ, **env}, cwd=ROOT, capture_output=True, text=True, check=check, timeout=120)


@contextmanager
def postgres() -> Iterator[str]:
    """A private PostgreSQL on a Unix socket; yields its URL. As root it runs as the user `nobody`."""
    programs = postgres_folder()
    assert programs is not None, "PostgreSQL is missing: make services"
    folder = short_folder()
    as_root = os.geteuid() == 0
    user = "nobody" if as_root else None
    if as_root:
        shutil.chown(folder, "nobody")
    folder.chmod(0o700)
    data = folder / "data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "user": user, "cwd": "/"}
    try:
        subprocess.run(
            [str(programs / "initdb"), "-D", str(data), "-U", "schedscope", "--auth=trust", "-E", "UTF8", "--no-sync"],
            check=True, **quiet,
        )  # fmt: skip
        server = subprocess.Popen(
            [str(programs / "postgres"), "-D", str(data), "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"], **quiet
        )
        try:
            wait_until(lambda: (folder / ".s.PGSQL.5432").exists())
            wait_until(lambda: _answers(folder))
            yield f"postgres://schedscope@{str(folder).replace('/', '%2F')}:5432/postgres"
        finally:
            server.terminate()
            server.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
        full = {**os.environ, **self.env}
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
