"""The supervisor: one command starts all, one signal stops all."""

import os
import shutil
import signal

from tests.services import Site, running_site, short_folder, wait_until


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_sigterm_stops_everything():
    folder = short_folder()
    site = Site(folder)
    children = site.children()
    assert len(children) == 4
    assert b"Schedscope" in site.get("/")
    assert site.stop() == 0
    assert not any(alive(pid) for pid in children)
    shutil.rmtree(folder)


def test_nothing_survives_a_killed_supervisor():
    with running_site() as site:
        children = site.children()
        os.kill(site.process.pid, signal.SIGKILL)
        wait_until(lambda: not any(alive(pid) for pid in children), 20)


def test_a_child_that_ends_stops_the_rest():
    with running_site() as site:
        children = site.children()
        os.kill(children[0], signal.SIGKILL)
        wait_until(lambda: site.process.poll() is not None, 40)
        assert site.process.returncode == 1
        assert not any(alive(pid) for pid in children)


def test_a_second_one_with_the_same_data_is_refused():
    with running_site() as site:
        done = site.manage("serve", check=False)
        assert done.returncode == 2
        assert "E0614" in done.stderr


def test_production_refuses_to_start_without_a_secret():
    folder = short_folder()
    from tests.services import manage

    done = manage("check", env={"SCHEDSCOPE_DATA": str(folder), "SCHEDSCOPE_MODE": "production"}, check=False)
    assert done.returncode != 0
    assert "schedscope.E001" in done.stderr
    assert "schedscope.E002" in done.stderr
    shutil.rmtree(folder)
