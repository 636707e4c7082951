"""The client that measures the service: it counts what was answered, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from time import perf_counter

import pytest

from benchmarks.http_load import Load

BODY = b"x" * 300_000


class Answering(StreamRequestHandler):
    """Every request of a connection, in order."""

    status = "200 OK"

    def handle(self):
        with suppress(ConnectionError):  # who has seen enough goes
            self._answer()

    def _answer(self):
        while line := self.rfile.readline():
            if line == b"\r\n":
                head = f"HTTP/1.1 {self.status}\r\nContent-Length: {len(BODY)}\r\n\r\n"
                self.wfile.write(head.encode() + BODY)


@pytest.fixture
def port(monkeypatch):
    monkeypatch.setenv("DRIFTGATE_TOKEN", "dg_x")
    with ThreadingTCPServer(("127.0.0.1", 0), Answering) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_with_a_rate_each_request_has_its_time(port):
    """As many as the rate says, however fast the answers come, on all connections together."""
    load = Load(port, "/", connections=2, seconds=0.19, rate=50)
    load.run()
    assert len(load.latencies_s) == 10
    assert min(load.latencies_s) > 0


def test_without_a_rate_it_asks_again_at_once(port):
    """Whole answers, larger than what one read gives."""
    load = Load(port, "/", connections=2, seconds=0.1)
    assert load.run() >= 0.1
    assert len(load.latencies_s) >= 2


def test_an_answer_that_is_none_is_not_counted(port, monkeypatch):
    """A refusal is fast; it would look like speed."""
    monkeypatch.setattr(Answering, "status", "503 Service Unavailable")
    load = Load(port, "/", connections=1, seconds=0.1)
    with pytest.raises(AssertionError):
        load._ask(0, perf_counter())
    assert load.latencies_s == []
