"""Runs through real broker, worker and database."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

import pytest

from tests.services import ROOT, outside, wait_until

SAMPLES = ROOT / "simulations" / "samples"
DUMP = ROOT / "tests" / "data" / "clusters" / "shop-40-nodes.yaml"


def last_json(output: str) -> dict:
    return json.loads(output.strip().splitlines()[-1])


def started(site, slug: str) -> int:
    """Start a sample through the page, as a browser does, and return the run's id."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    page = opener.open(site.url + "/").read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page).group(1)
    answer = opener.open(f"{site.url}/samples/{slug}/start", urllib.parse.urlencode({"csrfmiddlewaretoken": token}).encode())
    site.opener, site.token = opener, token
    return int(re.search(r"/runs/(\d+)/", answer.url).group(1))


def state(site, run: int) -> dict:
    return json.loads(site.get(f"/runs/{run}/spans.json?after=0"))


def trace_of(site, run: int) -> bytes:
    """The stored trace, byte for byte."""
    code = (
        "import sys; from simulations.models import TraceRecord as T; "
        f"rows = T.objects.filter(run_id={run}).order_by('seq').values_list('body', flat=True); "
        "sys.stdout.buffer.writelines(bytes(body) + b'\\n' for body in rows)"
    )
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v", "0", "-c", code],
        env=outside(site.env), cwd=ROOT, capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    return done.stdout


def test_a_run_is_stored_whole_and_equals_the_simulation_in_one_process(site, tmp_path):
    done = site.manage("run", str(SAMPLES / "async-preemption.yaml"), "--wait", "--json")
    answer = last_json(done.stdout)
    assert answer["state"] == "succeeded"
    site.manage("simulate", str(SAMPLES / "async-preemption.yaml"), "--out", str(tmp_path))
    assert trace_of(site, answer["run"]) == (tmp_path / "trace.jsonl").read_bytes()
    numbers = [json.loads(line)["seq"] for line in trace_of(site, answer["run"]).splitlines()]
    assert numbers == list(range(1, answer["records"] + 1))


def test_the_dump_and_twenty_urgent_pods_from_the_shell(site):
    imported = last_json(site.manage("import-cluster", "--json", str(DUMP)).stdout)
    assert (imported["counts"]["Node"], imported["counts"]["Pod"], imported["pending"]) == (40, 236, 30)
    assert imported["counts"]["PodDisruptionBudget"] == 4
    words = ["--set", "add_pods.count=20", "--set", "add_pods.cpu=3", "--set", "add_pods.priority=100000"]
    run = last_json(site.manage("run", "--cluster", str(imported["cluster"]), *words, "--wait", "--json").stdout)
    table = site.manage("export", str(run["run"]), "--table", "preemptions").stdout
    rows = list(csv.DictReader(io.StringIO(table)))
    assert len(rows) == run["victims"] > 0
    assert all(row["victim_name"] and row["preemptor_name"].startswith("urgent") for row in rows)


def test_cancel_ends_a_paced_run_within_a_second(site):
    run = started(site, "busy-shop")
    wait_until(lambda: state(site, run)["to"] > 0)
    data = urllib.parse.urlencode({"csrfmiddlewaretoken": site.token}).encode()
    asked = time.monotonic()
    site.opener.open(f"{site.url}/runs/{run}/cancel", data)
    wait_until(lambda: state(site, run)["state"] == "cancelled", 10)
    assert time.monotonic() - asked < 5, "by itself it takes a quarter of a second; machines are noisy"


def worker_children(site) -> list[int]:
    """The processes that run tasks: children of the worker."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    workers = {pid for pid, parent, words in rows if int(parent) == site.process.pid and "celery" in words}
    return [int(pid) for pid, parent, _words in rows if parent in workers]


def test_a_run_whose_worker_child_is_killed_is_done_again_with_the_same_records(embedded, tmp_path):
    run = started(embedded, "race-higher-takes")
    wait_until(lambda: state(embedded, run)["to"] > 5)
    for child in worker_children(embedded):
        os.kill(child, signal.SIGKILL)
    final = wait_until(lambda: (found := state(embedded, run))["state"] == "succeeded" and found, 120)
    assert final["attempt"] >= 2
    embedded.manage("simulate", str(SAMPLES / "race-higher-takes.yaml"), "--out", str(tmp_path))
    assert trace_of(embedded, run) == (tmp_path / "trace.jsonl").read_bytes()


@pytest.mark.parametrize(
    "words, code",
    [
        (["run"], 2),
        (["run", "nowhere.yaml"], 2),
        (["export", "999999", "--table", "pods"], 2),
        (["simulate", str(ROOT / "README.md")], 2),
        (["bench", "nothing"], 2),
        (["import-cluster", str(ROOT / "pyproject.toml")], 2),
    ],
)
def test_a_wrong_call_ends_with_its_exit_code_and_a_coded_message(embedded, words, code):
    done = embedded.manage(*words, check=False)
    assert done.returncode == code
    assert re.search(r"E\d{4}", done.stderr), done.stderr
    assert "Traceback" not in done.stderr
