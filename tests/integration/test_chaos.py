"""Processes die every few seconds, and every run is still stored once, whole, and as if nothing had happened."""

import asyncio
import hashlib
import json
import random
import sys
import time
from collections import Counter

import pytest
import websockets

from simulations.engine.trace_format import encode
from simulations.pipelines.prepare import scenario_of_document
from simulations.pipelines.simulate import Hooks, simulate
from tests.crowd import crowd
from tests.person import Browser, create_accounts
from tests.services import manage, wait_until
from tests.topology import production

RUNS = 20
SEEDS = 5
KILL_EVERY = 2.0
QUIET_AFTER = 300.0
CREATE = """
import json, sys
from simulations import services
base = services.base_of_text(sys.stdin.buffer.read(), "crowd.json")
make = lambda seed: services.create_run(base, services.RunRequest(services.WhatIf(seed=seed), owner={owner})).pk
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


def create_runs(topology, runs: int, *, scale: int = 1, owner: int | None = None) -> list[int]:
    """Runs of the crowd, queued, with the seeds in turn."""
    code = CREATE.format(runs=runs, seeds=SEEDS, owner=owner)
    done = topology.manage("shell", "-v", "0", "-c", code, given=json.dumps(crowd(scale)))
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


def signed_in(topology) -> Browser:
    """The browser of somebody who has an account."""
    manage("collectstatic", "--noinput", env=topology.env)
    create_accounts(topology, "ann")
    person = Browser(f"http://127.0.0.1:{topology.ports[0]}")
    wait_until(lambda: answers(person))
    assert person.sign_in("ann") == 302
    return person


def answers(person: Browser) -> bool:
    """Whether the web server is up."""
    try:
        return person.get("/healthz") == 200
    except OSError:
        return False


async def follow(topology, run: int, number: int, cookie: str) -> tuple[dict[int, list], int]:
    """Follow a run to its end as the page does; some cut their own socket, the first one reads slowly. Returns spans and reconnects."""
    headers = {"Cookie": cookie}
    spans, cursor, attempt, connects = {}, 0, None, 0
    while True:
        port = topology.ports[(number + connects) % len(topology.ports)]
        address = f"ws://127.0.0.1:{port}/ws/runs/{run}/?after={cursor}"
        connects += 1
        try:
            async with websockets.connect(
                address, origin=f"https://127.0.0.1:{port}", additional_headers=headers, max_size=None
            ) as socket:
                async for received in socket:
                    message = json.loads(received)
                    if attempt not in (None, message["attempt"]):
                        spans, cursor = {}, 0
                        assert message["from"] == 0
                    attempt = message["attempt"]
                    assert message["from"] == cursor, "a gap, or something twice"
                    assert message["to"] >= cursor
                    spans.update({span[0]: span for span in message["spans"]})
                    cursor = message["to"]
                    if message["state"] == "succeeded" and not message["more"]:
                        return spans, connects
                    if number == 0:
                        await asyncio.sleep(0.1)
                    elif number % 3 == 0 and len(spans) % 7 == 0:
                        break
        except (OSError, websockets.WebSocketException) as error:
            code = getattr(getattr(error, "rcvd", None), "code", None)
            assert code not in (4400, 4404), f"sent away for good: {code}"
            await asyncio.sleep(0.2)


async def test_twenty_clients_get_every_span_of_a_long_run_whoever_dies(topology):
    person = await asyncio.to_thread(signed_in, topology)
    owner = topology.ask("SELECT id FROM auth_user")[0][0]
    run = (await asyncio.to_thread(create_runs, topology, 1, scale=3, owner=owner))[0]
    begun = time.monotonic()
    followers = asyncio.gather(*(follow(topology, run, number, person.cookie_header()) for number in range(20)))
    for what in ("web-0", "valkey", "web-1"):
        await asyncio.sleep(1.0)
        await asyncio.to_thread(topology.kill, what)
    answers = await followers
    seconds = time.monotonic() - begun
    rows = topology.ask("SELECT body FROM simulations_span WHERE run_id = %s", run)
    stored = {span[0]: span for span in (json.loads(bytes(body)) for (body,) in rows)}
    records = topology.ask("SELECT seq FROM simulations_run WHERE id = %s", run)[0][0]
    connects = sum(count for _spans, count in answers)
    sys.stdout.write(f"\n{records} records, {len(stored)} spans to 20 clients in {seconds:.1f} s, {connects} connections\n")
    assert records >= 20_000
    assert connects > 20, "nobody had to come back"
    assert all(spans == stored for spans, _count in answers)
