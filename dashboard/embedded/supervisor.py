"""Starts broker, worker, web server and clock, watches them, and stops all of them together."""

import contextlib
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError

from dashboard import environment
from dashboard.embedded.broker import broker_answers, start_broker
from dashboard.embedded.processes import Child

PAGE_SECONDS = 60.0
Say = Callable[[str], Any]


def migrate() -> None:
    """Bring the database up to date; the folder of a SQLite file is made first."""
    from django.conf import settings

    database = settings.DATABASES["default"]
    if str(database["ENGINE"]).endswith("sqlite3"):
        Path(str(database["NAME"])).parent.mkdir(parents=True, exist_ok=True)
    call_command("migrate", interactive=False, verbosity=0)


def worker_command(concurrency: int = 2) -> list[str]:
    """The command of a worker that takes from all queues."""
    return [
        sys.executable, "-m", "celery", "-A", "dashboard", "worker", "--queues", "runs,sweeps,live", "--concurrency", str(concurrency),
        "--loglevel", "warning", "--without-mingle", "--without-gossip",
    ]  # fmt: skip


def clock_command() -> list[str]:
    """The command of the clock of the periodic tasks: a process of its own, since a worker does not start its own again."""
    return [sys.executable, "-m", "celery", "-A", "dashboard", "beat", "--loglevel", "warning", "--pidfile", ""]


def web_command(host: str, port: int) -> list[str]:
    """The command of the web server."""
    return [
        sys.executable, "-m", "uvicorn", "dashboard.asgi:application", "--host", host, "--port", str(port), "--ws-max-size", "65536",
        "--timeout-graceful-shutdown", "3", "--log-level", "warning", "--lifespan", "off",
    ]  # fmt: skip


def start_services() -> list[Child]:
    """The broker, unless REDIS_URL names one or one answers already.

    Raises:
        CommandError: no broker.
    """
    if os.environ.get("REDIS_URL"):
        if not broker_answers():
            raise CommandError(f"E0613: no broker answers at {environment.redis_url()}", returncode=2)
        return []
    if broker_answers():
        raise CommandError(f"E0614: Schedscope runs already with the data in {environment.data_folder()}", returncode=2)
    return [start_broker()]


@contextlib.contextmanager
def services_for_a_command(*, wanted: bool) -> Iterator[None]:
    """While a command waits for a run: if no broker answers, a broker and a worker of its own, stopped with it.

    Raises:
        CommandError: no broker can be had.
    """
    if not wanted or broker_answers():
        yield
        return
    children = start_services()
    try:
        log = environment.run_folder()
        children.append(Child("worker", worker_command(1), log=log / "worker.log"))
        children.append(Child("clock", clock_command(), log=log / "clock.log"))
        yield
    finally:
        for child in reversed(children):
            child.stop()


class Supervisor:
    """Runs until a signal comes or one of its children ends."""

    def __init__(self, host: str, port: int, say: Say) -> None:
        self.host, self.port, self.say = host, port, say
        self.children: list[Child] = []
        self._stopped_by = ""

    def run(self) -> int:
        """Start everything, say when the page answers, and wait; the exit code is 1 when a child ended by itself."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        started = time.monotonic()
        try:
            self.children = start_services()
            migrate()
            log = environment.run_folder()
            log.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.children.append(Child("worker", worker_command(), log=log / "worker.log"))
            self.children.append(Child("web", web_command(self.host, self.port), log=log / "web.log"))
            if self._wait_for_page():
                self.children.append(Child("clock", clock_command(), log=log / "clock.log"))
                self.say(f"Schedscope is at http://{self.host}:{self.port}/ ({time.monotonic() - started:.1f} s to start)")
                self._wait()
        finally:
            for child in reversed(self.children):
                child.stop()
        ended = next((c.name for c in self.children if not self._stopped_by and c.process.returncode not in (0, None)), "")
        if not self._stopped_by:
            self.say(f"{ended or 'a part'} ended by itself; see the logs in {environment.run_folder()}")
            return 1
        return 0

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self._stopped_by = signal.Signals(number).name

    def _going(self) -> bool:
        return not self._stopped_by and all(child.running for child in self.children)

    def _wait_for_page(self) -> bool:
        deadline = time.monotonic() + PAGE_SECONDS
        while self._going() and time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://{self.host}:{self.port}/", timeout=5):  # our own loopback page
                    return True
            except urllib.error.HTTPError as error:
                self.say(f"the page answers with {error.code}; see {environment.run_folder() / 'web.log'}")
                return False
            except OSError:
                time.sleep(0.1)
        return False

    def _wait(self) -> None:
        while self._going():
            time.sleep(0.2)
