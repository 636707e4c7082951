"""A real server on a port of its own, whose service is another in each test."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import uvicorn

from api.app import create_app
from api.callers import Caller
from api.settings import ServiceSettings

EVERYBODY = Caller(project=None, scope="operate", actor="the test", may_trust=True)


class Server:
    """Listens on loopback, in a thread. ``requests``: method and path of each, in order."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self._app: Any = None
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or each answer waits 40 ms for an ACK
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(
            self._pass_on, interface="asgi3", lifespan="off", log_level="critical", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    @property
    def store(self) -> Any:
        """That of the service."""
        return self._app.state.service.store

    @contextmanager
    def serving(self, database_url: str, **settings: Any) -> Iterator[str]:
        """The URL under which a database is served meanwhile."""
        given = {"verify_identity_token": lambda _: EVERYBODY} | settings
        with self.serving_app(create_app(ServiceSettings(database_url, **given))) as url:
            yield url

    @contextmanager
    def serving_app(self, app: Any) -> Iterator[str]:
        """The same of any ASGI application; one that has a store loses it at the end."""
        self.requests.clear()
        self._app = app
        try:
            yield self.url
        finally:
            self._app = None
            service = getattr(getattr(app, "state", None), "service", None)
            if service is not None:
                service.store.close()

    async def _pass_on(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests.append((scope["method"], scope["path"]))
        await self._app(scope, receive, send)

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))
