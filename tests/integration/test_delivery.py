"""Spans by socket: in order, none lost, whatever drops."""

import asyncio
import json

import pytest
import websockets

from tests.integration.test_pipeline import started, state
from tests.services import wait_until


async def follow(site, run, *, drop_every: int = 0):
    """Follow a run to its end as the page does; with `drop_every` the socket is cut after so many messages."""
    spans, cursor, received = {}, 0, 0
    while True:
        async with websockets.connect(f"ws://127.0.0.1:{site.port}/ws/runs/{run}/?after={cursor}", origin=site.url) as socket:
            while True:
                message = json.loads(await socket.recv())
                assert message["from"] <= cursor, "a gap"
                spans.update({span[0]: span for span in message["spans"]})
                cursor = max(cursor, message["to"])
                received += 1
                if message["state"] in ("succeeded", "cancelled", "failed") and not message["more"]:
                    return spans
                if drop_every and received % drop_every == 0:
                    break


async def test_twenty_clients_with_drops_get_every_span_once(embedded):
    run = await asyncio.to_thread(started, embedded, "async-preemption")
    followers = [follow(embedded, run, drop_every=i % 4) for i in range(20)]
    answers = await asyncio.gather(*followers)
    stored = {span[0]: span for span in (await asyncio.to_thread(state, embedded, run))["spans"]}
    assert all(answer == stored for answer in answers)


async def test_a_socket_that_idles_for_twelve_seconds_lives_on(embedded):
    run = await asyncio.to_thread(started, embedded, "race-higher-takes")
    await asyncio.to_thread(wait_until, lambda: state(embedded, run)["state"] == "succeeded", 120)
    async with websockets.connect(f"ws://127.0.0.1:{embedded.port}/ws/runs/{run}/?after=0", origin=embedded.url) as socket:
        await socket.recv()
        await asyncio.sleep(12)
        await (await socket.ping())


async def test_a_foreign_page_gets_no_socket(embedded):
    with pytest.raises(websockets.InvalidStatus) as refused:
        async with websockets.connect(f"ws://127.0.0.1:{embedded.port}/ws/runs/1/?after=0", origin="http://evil.example"):
            pass
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("path, code", [("/ws/runs/1/?after=x", 4400), ("/ws/runs/999999/?after=0", 4404)])
async def test_a_forged_cursor_or_run_is_answered_with_a_code(embedded, path, code):
    async with websockets.connect(f"ws://127.0.0.1:{embedded.port}{path}", origin=embedded.url) as socket:
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd.code == code
