"""A light client in a process of its own: bounded in count and time, over kept connections to this machine alone.

``python -m benchmarks.http_load PORT PATH CONNECTIONS SECONDS [RATE]``, with the token in ``DRIFTGATE_TOKEN``. Without
a rate each connection asks again as soon as it is answered. With one, requests per second of all connections together,
each request has its time, and a late one counts from when it should have been sent. Prints JSON: how many were
answered, in how many seconds, and the latencies in seconds.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from dataclasses import dataclass, field

HOST = "127.0.0.1"
MOST_REQUESTS = 50_000
"""However long it may take."""
_BUFFER_BYTES = 1 << 20


@dataclass(slots=True)
class Load:
    """What to ask, and how hard. ``rate`` 0: as fast as answers come."""

    port: int
    path: str
    connections: int
    seconds: float
    rate: float = 0.0
    latencies_s: list[float] = field(default_factory=list)

    def run(self) -> float:
        """Seconds from the first request to the last answer."""
        start = time.perf_counter()
        threads = [threading.Thread(target=self._ask, args=(index, start)) for index in range(self.connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - start

    def _ask(self, index: int, start: float) -> None:
        request = f"GET {self.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {_token()}\r\n\r\n".encode()
        with socket.create_connection((HOST, self.port), timeout=30) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            buffer = memoryview(bytearray(_BUFFER_BYTES))
            for number in range(MOST_REQUESTS // self.connections):
                due = self._due(index, number, start)
                if due - start > self.seconds:
                    return
                time.sleep(max(0.0, due - time.perf_counter()))
                connection.sendall(request)
                _receive(connection, buffer)
                self.latencies_s.append(time.perf_counter() - due)

    def _due(self, index: int, number: int, start: float) -> float:
        if not self.rate:
            return time.perf_counter()
        return start + (number * self.connections + index) / self.rate


def _receive(connection: socket.socket, buffer: memoryview) -> None:
    """One answer, to its last byte. Raises AssertionError for any but 200."""
    size = connection.recv_into(buffer)
    while (end := bytes(buffer[:size]).find(b"\r\n\r\n")) < 0:
        size += connection.recv_into(buffer[size:])
    head = bytes(buffer[:end]).lower()
    assert head.startswith(b"http/1.1 200"), head
    length = int(head.partition(b"content-length:")[2].split(None, 1)[0])
    missing = length - (size - end - 4)
    while missing > 0:
        got = connection.recv_into(buffer, min(missing, _BUFFER_BYTES))
        assert got, "the connection was cut"
        missing -= got


def _token() -> str:
    return os.environ["DRIFTGATE_TOKEN"]


def main() -> None:
    port, path, connections, seconds, *rate = sys.argv[1:]
    load = Load(int(port), path, int(connections), float(seconds), *map(float, rate))
    elapsed_s = load.run()
    print(json.dumps({"answered": len(load.latencies_s), "seconds": elapsed_s, "latencies_s": load.latencies_s}))


if __name__ == "__main__":
    main()
