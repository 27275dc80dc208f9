"""Refuses a request body at the limit of uploads, before it is stored anywhere."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[..., Awaitable[None]]


class _TooLargeError(Exception):
    """The body went over the limit while it came."""


class UploadLimit:
    """An ASGI application in front of another: answers 413 to a body of more than `most` bytes, said or sent."""

    def __init__(self, app: App, most: int) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass the request on while it is within the limit."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        said = dict(scope["headers"]).get(b"content-length", b"0")
        if said.isdigit() and (len(said) > 15 or int(said) > self.most):
            await self._refuse(send)
            return
        began, taken = False, 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self.most:
                raise _TooLargeError
            return message

        async def noted(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            await self.app(scope, counted, noted)
        except _TooLargeError:
            if not began:
                await self._refuse(send)

    async def _refuse(self, send: Send) -> None:
        text = f"the upload is over the limit of {self.most // 1_000_000} MB"
        body = json.dumps({"errors": [{"code": "E0101", "message": text}]}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})
