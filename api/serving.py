"""One process that listens: uvicorn, told to finish what it has begun and to leave its log to us."""

from __future__ import annotations

import os
import signal
import socket
from typing import Any

import uvicorn
from fastapi import FastAPI

from gate.errors import ConfigError

GRACE_S = 30
"""How long a request in flight may take after the service was asked to stop."""
BACKLOG = 2048
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what somebody chose, not what we choose


def listen(host: str, port: int) -> socket.socket:
    """A socket on which connections already wait. Port 0: any that is free. Raises ConfigError."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=BACKLOG)
        # Connections inherit it. asyncio sees to it only for sockets of its own making: else 40 ms more per request.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except (OSError, OverflowError, UnicodeError) as error:
        number = getattr(error, "errno", None) or 0
        reason = os.strerror(number) if number > 0 else getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"cannot listen on {host} port {port}: {reason}; choose another by --host, --port") from None
    return listening


def url_of(listening: socket.socket) -> str:
    """As a browser on this machine reaches it."""
    host, port = listening.getsockname()[:2]
    host = _EVERYWHERE.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class StopRequest:
    """Takes SIGTERM and SIGINT from its making on. Neither breaks into what runs, however early it comes: a server is
    told, or sees it when it starts.
    """

    def __init__(self) -> None:
        self._signal: int | None = None
        self._server: uvicorn.Server | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._note)

    def tell(self, server: uvicorn.Server) -> None:
        """From now on, and at once if it came already."""
        self._server = server
        if self._signal is not None:
            server.should_exit = True

    def end(self) -> None:
        """Raises what the signal stands for: SystemExit(0), KeyboardInterrupt; nothing where none came."""
        if self._signal == signal.SIGTERM:
            raise SystemExit(0)
        if self._signal == signal.SIGINT:
            raise KeyboardInterrupt

    def _note(self, number: int, _: Any) -> None:
        """Uvicorn has handlers of its own while it serves, and sends the signal once more when it is done."""
        self._signal = number
        if self._server is not None:
            self._server.should_exit = True


def run(app: FastAPI, listening: socket.socket, stop: StopRequest) -> None:
    """Answer until SIGTERM, which ends the process with 0, or SIGINT, which raises KeyboardInterrupt.

    Either way nobody comes in any more, and requests in flight get their answers, for at most `GRACE_S` seconds.
    """
    config = uvicorn.Config(
        app,
        http="httptools",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        timeout_graceful_shutdown=GRACE_S,
    )
    server = uvicorn.Server(config)
    stop.tell(server)
    server.run([listening])
    stop.end()
