"""Row 8: baseline queries of 500 coordinates over HTTP, to one real `driftgate serve`, with a token; and its memory."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import numpy as np
import psutil

from benchmarks.measure import Row, median_seconds, progress
from benchmarks.postgres import fresh_database, test_servers
from benchmarks.workload import IDENTITY, Workload, specs
from store import migrate
from store.opening import open_database
from store.tokens import NewToken

RUNS, STEPS = 20, 100
CONNECTIONS = 4
SECONDS = 10.0
WARM_UP_S = 2.0
RATE = 50.0
LEAST_PER_SECOND = 300.0
MOST_P99_MS = 50.0
AFTER_WRITES = 15
QUERY = f"HTTP baseline query, 500 coordinates of {RUNS} runs"
_QUERY = {"test_path": IDENTITY.test_path, "backend": IDENTITY.backend, "suite": IDENTITY.suite}
POSTGRES = "Postgres on this machine"
PATH = f"/v1/baselines?{urlencode(_QUERY)}"


@dataclass(frozen=True, slots=True)
class Served:
    """A service that listens, and its store."""

    url: str
    port: int
    process: psutil.Process
    token: str

    def load(self, seconds: float, rate: float = 0.0) -> dict[str, Any]:
        """What `http_load` measured."""
        command = [sys.executable, "-m", "benchmarks.http_load", str(self.port), PATH, str(CONNECTIONS), str(seconds)]
        environment = os.environ | {"DRIFTGATE_TOKEN": self.token}
        done = subprocess.run([*command, str(rate)], env=environment, capture_output=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    @property
    def cpu_s(self) -> float:
        """Seconds that its processors have worked for it."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    @property
    def megabytes(self) -> float:
        return self.process.memory_info().rss / 2**20


def rows() -> list[Row]:
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/history.db"
        migrate.upgrade(url)
        found = _measured("SQLite file", url, Path(folder))
        with test_servers().postgres_server() as server, fresh_database(server) as postgres_url:
            return [
                *found,
                *_measured(POSTGRES, postgres_url, Path(folder)),
                _two_processes(postgres_url, Path(folder)),
            ]


def _measured(what: str, url: str, folder: Path) -> list[Row]:
    gate_specs = specs()
    _fill(url)
    with _service(url, folder) as served:
        idle = served.megabytes
        served.load(WARM_UP_S)
        progress(f"  {what}: as fast as answers come ...")
        worked = served.cpu_s
        fast = served.load(SECONDS)
        cpu_ms = 1e3 * (served.cpu_s - worked) / fast["answered"]
        progress(f"  {what}: {RATE:.0f} requests a second ...")
        steady = served.load(SECONDS, RATE)
        used = served.megabytes
        changed_ms = _after_a_write(url, served, gate_specs)
    per_second = fast["answered"] / fast["seconds"]
    p50_ms, p99_ms = 1e3 * np.percentile(steady["latencies_s"], [50, 99])
    query = f"{QUERY}, {what}"
    note = f"one process, with a token: {cpu_ms:.2g} ms of its processor for each"
    return [
        # One process of Python keeps one core busy, and a database beside it some of the other.
        _throughput(f"{query}, {CONNECTIONS} connections", per_second, note, held=what != POSTGRES),
        Row(
            f"{query}, {RATE:.0f} requests/s: p99",
            p99_ms,
            "ms",
            f"<= {MOST_P99_MS:.0f} ms",
            bool(p99_ms <= MOST_P99_MS),
            note=f"median {p50_ms:.2g} ms",
        ),
        Row(
            f"{query}: the first after a run was written", changed_ms, "ms", "", None, note="median; no answer is kept"
        ),
        Row(
            f"service process, {what}: memory when idle",
            idle,
            "MB",
            "a row of its own",
            None,
            note=f"{used:.0f} MB after",
        ),
    ]


def _throughput(what: str, per_second: float, note: str, *, held: bool) -> Row:
    target = f">= {LEAST_PER_SECOND:.0f} requests/s" if held else ""
    return Row(what, per_second, "requests/s", target, per_second >= LEAST_PER_SECOND if held else None, note=note)


def _two_processes(url: str, folder: Path) -> Row:
    """Both cores at work: two services on one database, each asked over as many connections as one alone was."""
    with _service(url, folder) as one, _service(url, folder) as other, ThreadPoolExecutor(2) as both:
        list(both.map(lambda served: served.load(WARM_UP_S), (one, other)))
        progress(f"  {POSTGRES}, two processes: as fast as answers come ...")
        loads = list(both.map(lambda served: served.load(SECONDS), (one, other)))
    per_second = sum(load["answered"] / load["seconds"] for load in loads)
    what = f"{QUERY}, {POSTGRES}, two processes"
    return _throughput(what, per_second, "database and client on the same two cores", held=True)


def _fill(url: str) -> None:
    with open_database(url) as store:
        Workload.of(RUNS, STEPS).fill(store, specs())


@contextmanager
def _service(url: str, folder: Path) -> Iterator[Served]:
    with open_database(url) as store:
        _, token = store.tokens.create(NewToken("default", "bench", "read", timedelta(hours=1)))
    environment = {"PATH": os.defpath, "PYTHONPATH": str(Path(__file__).parents[1]), "DRIFTGATE_DATABASE_URL": url}
    command = [sys.executable, "-m", "driftgate", "serve", "--port", "0", "--json"]
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log)
    try:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["url"]
        yield Served(address, int(address.rpartition(":")[2]), psutil.Process(process.pid), token)
    finally:
        process.terminate()
        process.wait(60)


def _after_a_write(url: str, served: Served, gate_specs: tuple[Any, ...]) -> float:
    """Milliseconds of the one query that finds a newer run than the answer that is kept."""
    more = Workload.of(RUNS + AFTER_WRITES + 3, STEPS)
    number = count(RUNS)
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    times = []
    with open_database(url, one_shot=False) as store:
        for _ in range(AFTER_WRITES):
            store.write_run(more.new_run(next(number), gate_specs))
            times.append(median_seconds(lambda: _asked(connection, served.token), repeat=1, warm_up=0))
    connection.close()
    return 1e3 * float(np.median(times))


def _asked(connection: Any, token: str) -> None:
    connection.request("GET", PATH, headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    answer.read()
