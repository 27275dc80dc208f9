"""Processes die every few seconds, and every run is still stored once, whole, and as if nothing had happened."""

import hashlib
import json
import random
import sys
import time
from collections import Counter

import pytest

from simulations.engine.trace_format import encode
from simulations.pipelines.prepare import scenario_of_document
from simulations.pipelines.simulate import Hooks, simulate
from tests.crowd import crowd
from tests.services import wait_until
from tests.topology import production

RUNS = 20
SEEDS = 5
KILL_EVERY = 2.0
QUIET_AFTER = 300.0
CREATE = """
import json, sys
from simulations import services
base = services.base_of_text(sys.stdin.buffer.read(), "crowd.json")
make = lambda seed: services.create_run(base, services.RunRequest(services.WhatIf(seed=seed))).pk
print(json.dumps([make(1 + number % {seeds}) for number in range({runs})]))
"""


@pytest.fixture(scope="module")
def topology():
    with production() as found:
        yield found


def undisturbed(seed: int) -> str:
    """The digest of the trace as one quiet process makes it."""
    digest = hashlib.sha256()
    simulate(scenario_of_document(crowd()), seed, Hooks(lambda batch: [digest.update(encode(r)) for r in batch.records]))
    return digest.hexdigest()


def create_runs(topology, runs: int) -> list[int]:
    """Runs of the crowd, queued, with the seeds in turn."""
    code = CREATE.format(runs=runs, seeds=SEEDS)
    done = topology.manage("shell", "-v", "0", "-c", code, given=json.dumps(crowd()))
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_twenty_runs_survive_a_kill_every_two_seconds(topology):
    expected = {seed: undisturbed(seed) for seed in range(1, SEEDS + 1)}
    runs = create_runs(topology, RUNS)
    rng, killed, begun = random.Random(4832), Counter(), time.monotonic()

    def finished() -> bool:
        return topology.ask("SELECT count(*) FROM simulations_run WHERE state NOT IN ('queued', 'running')")[0][0] == RUNS

    deck: list[str] = []
    while not finished() and time.monotonic() - begun < QUIET_AFTER:
        deck = deck or rng.sample(topology.deck(), len(topology.deck()))
        what = deck.pop()
        topology.kill(what)
        killed[what] += 1
        time.sleep(KILL_EVERY)
    wait_until(finished, 300, every=0.5)
    seconds = time.monotonic() - begun
    found = topology.ask("SELECT id, state, attempt FROM simulations_run ORDER BY id")
    attempts = sorted(Counter(attempt for _run, _state, attempt in found).items())
    sys.stdout.write(
        f"\n{RUNS} runs in {seconds:.0f} s, {sum(killed.values())} kills {dict(killed)}; runs by attempts {attempts}\n"
    )
    assert {state for _run, state, _attempt in found} == {"succeeded"}, (found, topology.logs())
    assert attempts[-1][0] > 1, "nothing hit a run: too few kills"
    for number, run in enumerate(runs):
        assert hashlib.sha256(topology.trace(run)).hexdigest() == expected[1 + number % SEEDS], run
