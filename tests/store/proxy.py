"""A TCP proxy that counts round trips and can cut the line."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class CountingProxy:
    """``round_trips``: how often the client spoke after the server had answered. ``connections``: how often it connected.

    ``lose_next_answer``: what the server says next never arrives, and the line is cut.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.round_trips = 0
        self.connections = 0
        self.lose_next_answer = False
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def reset(self) -> None:
        self.round_trips = self.connections = 0

    def cut(self) -> None:
        """End every connection now, as a failing network does."""
        while self._sockets:
            _shut(self._sockets.pop())

    def close(self) -> None:
        _shut(self._listener)
        self.cut()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                server = socket.create_connection(self._target)
                self._sockets += [client, server]
                answered = threading.Event()
                answered.set()
                for work in (self._forward, self._back):
                    thread = threading.Thread(target=work, args=(client, server, answered))
                    self._threads.append(thread)
                    thread.start()

    def _forward(self, client: socket.socket, server: socket.socket, answered: threading.Event) -> None:
        for data in _received(client):
            if answered.is_set():
                answered.clear()
                self.round_trips += 1
            with suppress(OSError):
                server.sendall(data)
        _shut(server)

    def _back(self, client: socket.socket, server: socket.socket, answered: threading.Event) -> None:
        for data in _received(server):
            if self.lose_next_answer:
                self.lose_next_answer = False
                break
            answered.set()
            with suppress(OSError):
                client.sendall(data)
        _shut(client)
        _shut(server)


def _received(source: socket.socket):
    with suppress(OSError):
        while data := source.recv(1 << 20):
            yield data


def _shut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
