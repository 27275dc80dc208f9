"""Live endpoints: a socket that sends what follows its cursor.

The group's message only wakes the one task that reads by cursor, so a message that is lost costs at most a second.
"""

import asyncio
import contextlib
import logging
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import Error as DatabaseError
from redis import RedisError

from dashboard.access import viewer_of
from simulations import access, queries
from simulations.events import group_of

logger = logging.getLogger(__name__)
LOOK_EVERY = 1.0
LOOK_WHEN_FINISHED = 5.0
NO_SUCH_RUN = 4404
WRONG_CURSOR = 4400
TRY_AGAIN_LATER = 1013


class RunConsumer(AsyncWebsocketConsumer):
    """Sends the span changes of one run after `?after=S`, then waits for more."""

    async def connect(self) -> None:
        """Join the run's group and start sending."""
        self.run_id = int(self.scope["url_route"]["kwargs"]["run_id"])
        self.sender: asyncio.Task[None] | None = None
        self.woken = asyncio.Event()
        after = self._cursor()
        self.viewer = viewer_of(self.scope.get("user"), self.scope.get("session"))
        try:
            known = await database_sync_to_async(access.may_see_run)(self.viewer, self.run_id)
        except DatabaseError:
            await self.accept()
            await self.close(code=TRY_AGAIN_LATER)
            return
        await self.accept()
        if after is None or not known:
            await self.close(code=WRONG_CURSOR if after is None else NO_SUCH_RUN)
            return
        with contextlib.suppress(RedisError, OSError):  # without a broker the look each second does it
            await self.channel_layer.group_add(group_of(self.run_id), self.channel_name)
        self.sender = asyncio.create_task(self._send(after))

    def _cursor(self) -> int | None:
        text = parse_qs(self.scope["query_string"].decode("latin-1")).get("after", ["0"])[0]
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None

    async def disconnect(self, code: int) -> None:
        """Leave, and stop sending."""
        if self.sender is not None:
            self.sender.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.sender
            with contextlib.suppress(RedisError, OSError):
                await self.channel_layer.group_discard(group_of(self.run_id), self.channel_name)

    async def run_advanced(self, _message: dict[str, Any]) -> None:
        """The run has more records."""
        self.woken.set()

    async def _send(self, cursor: int) -> None:
        """Send until the client leaves; without a database it is told to come back."""
        try:
            await self._send_after(cursor)
        except DatabaseError:
            logger.warning("run %s: the database does not answer; a client is sent away", self.run_id)
            await self.close(code=TRY_AGAIN_LATER)

    def _batch_after(self, cursor: int) -> queries.SpanBatch | None:
        """What follows, while the viewer may see it: a link may have been revoked meanwhile."""
        return queries.spans_after(self.run_id, cursor) if access.may_see_run(self.viewer, self.run_id) else None

    async def _send_after(self, cursor: int) -> None:
        state = attempt = None
        while True:
            self.woken.clear()
            batch = await database_sync_to_async(self._batch_after)(cursor)
            if batch is None:
                await self.close(code=NO_SUCH_RUN)
                return
            if attempt not in (None, batch.attempt):
                cursor, attempt = 0, batch.attempt
                continue
            attempt = batch.attempt
            if batch.to_seq > cursor or (batch.state, batch.attempt) != state:
                await self.send(text_data=batch.as_json().decode())
                cursor, state = batch.to_seq, (batch.state, batch.attempt)
            if not batch.more:
                finished = batch.state in ("succeeded", "failed", "cancelled")
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.woken.wait(), LOOK_WHEN_FINISHED if finished else LOOK_EVERY)
