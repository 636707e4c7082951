"""No route reads more than it should: a longer body is refused by what it announces, or as soon as it is too long."""

from __future__ import annotations

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import problem

MAX_BODY_BYTES = 8 * 2**20


class BodyLimit:
    """ASGI middleware: 413 for a body above ``limit`` bytes, before the application has seen any of it.

    What is left unread goes with the connection, which is closed.
    """

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = None if self._announces_too_much(scope) else await self._body(receive)
        if body is None:
            text = f"the body is longer than {self._limit} bytes; send less at a time"
            answer = problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text, headers={"Connection": "close"})
            await answer(scope, receive, send)
            return
        await self._app(scope, _replayed(body, receive), send)

    def _announces_too_much(self, scope: Scope) -> bool:
        length = Headers(scope=scope).get("content-length", "")
        return length.isdecimal() and int(length[:20]) > self._limit

    async def _body(self, receive: Receive) -> list[Message] | None:
        """Every message of the body, None where together they are too long."""
        messages: list[Message] = []
        size = 0
        while True:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if size > self._limit:
                return None
            if message["type"] != "http.request" or not message.get("more_body", False):
                return messages


def _replayed(messages: list[Message], receive: Receive) -> Receive:
    async def replay() -> Message:
        return messages.pop(0) if messages else await receive()

    return replay
