"""What every answer tells browsers and proxies on the way: it is for who asked, and of the type that it names."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_NO_SNIFFING = (b"x-content-type-options", b"nosniff")
_NOT_KEPT = (b"cache-control", b"no-store")


class SafeHeaders:
    """ASGI middleware. An answer that says itself how long it may be kept is left to that; a cache in front must not
    give to one caller what another was given.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def telling(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                headers.append(_NO_SNIFFING)
                if not any(name.lower() == _NOT_KEPT[0] for name, _ in headers):
                    headers.append(_NOT_KEPT)
                message["headers"] = headers
            await send(message)

        await self._app(scope, receive, telling)
