"""A TCP proxy on the loopback that delays what passes, and counts connections and round trips."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

CHUNK_BYTES = 65_536
_Heard = Callable[[], None]


@dataclass
class Wire:
    """``round_trips``: how often a client spoke after it had been answered (or for the first time)."""

    upstream_port: int
    one_way_s: float
    port: int = 0
    connections: int = 0
    round_trips: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def reset(self) -> None:
        self.connections = self.round_trips = 0

    async def serve(self, ready: threading.Event, stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.upstream_port)
        turn = _Turn(self)
        for source, target, heard in ((reader, up_writer, turn.client), (up_reader, writer, turn.server)):
            task = asyncio.create_task(self._pump(source, target, heard))
            self._tasks.add(task)

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, heard: _Heard) -> None:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, data = await queue.get()
                await asyncio.sleep(max(0.0, due - loop.time()))
                if not data:
                    target.close()
                    return
                target.write(data)
                await target.drain()

        delivery = asyncio.create_task(deliver())
        self._tasks.add(delivery)
        with suppress(ConnectionError):
            while data := await source.read(CHUNK_BYTES):
                heard()
                queue.put_nowait((loop.time() + self.one_way_s, data))
        queue.put_nowait((loop.time() + self.one_way_s, b""))
        with suppress(ConnectionError):
            await delivery


@dataclass
class _Turn:
    """Whose turn it was last on one connection."""

    wire: Wire
    answered: bool = True

    def client(self) -> None:
        self.wire.round_trips += self.answered
        self.answered = False

    def server(self) -> None:
        self.answered = True


@contextmanager
def delayed(upstream_port: int, *, round_trip_s: float) -> Iterator[Wire]:
    """A proxy in a thread of its own, in front of a port of this machine; it ends with the block."""
    wire = Wire(upstream_port, round_trip_s / 2)
    ready, loop, stop = threading.Event(), asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(wire.serve(ready, stop)), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield wire
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
