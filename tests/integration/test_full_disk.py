"""A full disk: the run says so, nothing else breaks, and with room again the next run succeeds."""

import contextlib
import json
import os
import shutil
import subprocess

import pytest

from tests.crowd import crowd
from tests.integration.test_pipeline import last_json
from tests.services import PostgresServer, manage, short_folder

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")


@pytest.fixture
def small_disk():
    """A function that gives a folder on a disk of so many megabytes."""
    with contextlib.ExitStack() as stack:

        def mount(megabytes: int):
            folder = short_folder()
            done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(folder)], check=False)
            if done.returncode:
                pytest.skip("this machine lets nobody mount a disk")
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            stack.callback(subprocess.run, ["umount", "-l", str(folder)], check=False)
            return folder

        yield mount


def fill(folder, leave: int):
    """Take all room but so many bytes; returns what to remove to give it back."""
    ballast = folder / "ballast"
    free = shutil.disk_usage(folder).free
    with ballast.open("wb") as file:
        file.write(b"\0" * max(0, free - leave))
    return ballast


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, small_disk):
    """An address of a database on a small disk, and the disk's folder."""
    if request.param == "sqlite":
        folder = small_disk(64)
        yield str(folder / "data.sqlite3"), folder
        return
    server = PostgresServer(small_disk(128))
    try:
        yield server.url, server.folder
    finally:
        server.crash()


def test_a_run_on_a_full_disk_fails_and_says_why_and_the_next_one_is_whole(database, tmp_path):
    url, disk = database
    data = short_folder()
    env = {"SCHEDSCOPE_DATA": str(data), "SCHEDSCOPE_DATABASE": url}
    scenario = tmp_path / "crowd.json"
    scenario.write_text(json.dumps(crowd()))
    try:
        manage("migrate", env=env)
        ballast = fill(disk, 3_000_000)
        failed = last_json(manage("run", str(scenario), "--wait", "--json", env=env, check=False).stdout)
        assert (failed["state"], failed["error_code"]) == ("failed", "E0604")
        assert "no room left" in failed["error_message"]
        ballast.unlink()
        whole = last_json(manage("run", str(scenario), "--wait", "--json", env=env).stdout)
        assert whole["state"] == "succeeded"
    finally:
        shutil.rmtree(data, ignore_errors=True)
