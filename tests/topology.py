"""The production parts as plain processes, with the commands of docker-compose.yml, and a hand that starts again what ends."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import yaml

from dashboard.embedded.broker import server_program
from tests.services import ROOT, PostgresServer, free_port, manage, outside, short_folder, wait_until

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
RESTART_AFTER = 0.5


class Part:
    """One service of the compose file as a process group of its own."""

    def __init__(self, name: str, command: list[str], folder: Path, env: dict[str, str]) -> None:
        self.name, self.command, self.env = name, command, env
        self.log = folder / f"{name}.log"
        self.starts = 0
        self.start()

    def start(self) -> None:
        self.starts += 1
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                env=outside(self.env), cwd=ROOT,
            )  # fmt: skip

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def children(self) -> list[int]:
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    def kill(self) -> None:
        """End it, with all that it started, as a machine that loses power does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.kill()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


def command_of(service: str) -> list[str]:
    """The command of a service in the compose file, for this Python."""
    words = COMPOSE[service]["command"]
    words = shlex.split(words) if isinstance(words, str) else list(words)
    return [sys.executable, *words[1:]] if words[0] == "python" else words


class Topology:
    """PostgreSQL, Valkey, web servers, workers and the clock; each is started again when it ends."""

    def __init__(self, folder: Path, database: PostgresServer, **env: str) -> None:
        self.folder, self.database = folder, database
        broker = free_port()
        self.ports = [free_port(), free_port()]
        self.env = {
            "SCHEDSCOPE_MODE": "production", "SCHEDSCOPE_SECRET_KEY": "of-the-tests-" + "x" * 40,
            "SCHEDSCOPE_ALLOWED_HOSTS": "127.0.0.1", "SCHEDSCOPE_DATABASE": database.url, "SCHEDSCOPE_DATA": str(folder),
            "REDIS_URL": f"redis://127.0.0.1:{broker}/0", "TMPDIR": str(folder), **env,
        }  # fmt: skip
        options = [*command_of("valkey")[1:], "--bind", "127.0.0.1", "--port", str(broker), "--dir", str(folder), "--save", ""]
        self.parts = [Part("valkey", [server_program(), *options], folder, {})]
        manage("migrate", "--noinput", env=self.env)
        for number, port in enumerate(self.ports):
            address = {"UVICORN_HOST": "127.0.0.1", "UVICORN_PORT": str(port)}
            self.parts.append(Part(f"web-{number}", command_of("web"), folder, {**self.env, **address}))
        for number in range(2):
            self.parts.append(Part(f"worker-{number}", [*command_of("worker"), "-n", f"worker-{number}@%h"], folder, self.env))
        self.parts.append(Part("beat", command_of("beat"), folder, self.env))
        self._closing = threading.Event()
        self._hand = threading.Thread(target=self._start_again, daemon=True)
        self._hand.start()

    def _start_again(self) -> None:
        while not self._closing.wait(RESTART_AFTER):
            for part in self.parts:
                if not part.running and not self._closing.is_set():
                    part.start()
            if not self.database.running:
                self.database.start()

    def part(self, name: str) -> Part:
        return next(part for part in self.parts if part.name == name)

    def manage(self, *words: str, check: bool = True, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command of manage.py against this database and broker."""
        return manage(*words, env=self.env, check=check, given=given)

    def ask(self, sql: str, *values: object) -> list[tuple]:
        """Rows straight from the database; waits for one that is away."""

        def rows() -> list[list[tuple]]:
            try:
                with psycopg.connect(self.database.url, connect_timeout=2) as connection:
                    return [connection.execute(sql, values).fetchall()]
            except psycopg.OperationalError:
                return []

        return wait_until(rows, every=0.2)[0]

    def state(self, run: int) -> str:
        return self.ask("SELECT state FROM simulations_run WHERE id = %s", run)[0][0]

    def trace(self, run: int) -> bytes:
        """The stored trace of all attempts, byte for byte."""
        rows = self.ask("SELECT body FROM simulations_tracerecord WHERE run_id = %s ORDER BY attempt, seq", run)
        return b"".join(bytes(body) + b"\n" for (body,) in rows)

    def deck(self) -> list[str]:
        """Everything that `kill` can end."""
        return [*(part.name for part in self.parts), "child of worker-0", "child of worker-1", "postgres"]

    def kill(self, what: str) -> None:
        """End a part with all its children, one child of a worker, or the database."""
        if what == "postgres":
            self.database.crash()
        elif what.startswith("child of "):
            for pid in self.part(what.removeprefix("child of ")).children()[-1:]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        else:
            self.part(what).kill()

    def close(self) -> None:
        self._closing.set()
        self._hand.join()
        for part in reversed(self.parts):
            part.stop()

    def logs(self) -> str:
        """The ends of all logs, for a test that failed."""
        return "\n".join(f"--- {part.name}\n{part.log.read_text(errors='replace')[-3000:]}" for part in self.parts)


@contextlib.contextmanager
def production(**env: str) -> Iterator[Topology]:
    """The whole of it in a folder of its own, gone afterwards."""
    folder = short_folder()
    database = PostgresServer()
    try:
        topology = Topology(folder, database, **env)
        try:
            yield topology
        finally:
            topology.close()
    finally:
        database.close()
        shutil.rmtree(folder, ignore_errors=True)
