"""Rows 3 and 5: a gate call over a slow network, and the bytes a value takes on disk. On a real PostgreSQL server."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
from sqlalchemy import NullPool, create_engine
from sqlalchemy.engine import make_url

from benchmarks.measure import Row, progress
from benchmarks.reference import RowPerValueStore
from benchmarks.wire import Wire, delayed
from benchmarks.workload import IDENTITY, METRICS, Workload, judge, specs, stored_verdict
from store import migrate
from store.opening import open_store
from store.sql_store import SqlMetricHistoryStore

DELAY_S = 0.020
RUNS, STEPS = 20, 100
SIZE_RUNS = 1000
"""1000 runs of 500 values: half a million values."""
RIVAL_SAMPLE = 10


def rows() -> list[Row]:
    servers = test_servers()
    with servers.postgres_server() as server:
        with fresh_database(server) as url, delayed(make_url(url).port or 5432, round_trip_s=DELAY_S) as wire:
            found = _over_slow_network(url, wire)
        with fresh_database(server) as url:
            return [*found, *_sizes(url)]


def test_servers() -> ModuleType:
    """The tests' own module that starts servers."""
    path = Path(__file__).parents[1] / "tests" / "servers.py"
    spec = spec_from_file_location("servers", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def fresh_database(server: object) -> Iterator[str]:
    with server.database() as name:  # type: ignore[attr-defined] - loaded by path
        url = server.url_of(name)  # type: ignore[attr-defined] - as above
        migrate.upgrade(url)
        yield url


def _over_slow_network(url: str, wire: Wire) -> list[Row]:
    workload, gate_specs = Workload.of(RUNS + 1, STEPS), specs()
    with open_store(url) as near:
        for run in range(RUNS):
            near.write_run(workload.new_run(run, gate_specs))
    far = make_url(url).set(port=wire.port).render_as_string(hide_password=False)
    with open_store(far) as store:
        _gate_call(store, workload)  # the first call of a process also learns the schema's revision
        measured = _measured(store, wire, workload)
    seconds, trips, connecting, connections = measured
    what = f"gate on Postgres with {DELAY_S * 1e3:g} ms round trip, 5 x {STEPS} values, {RUNS} runs"
    rival_seconds, rival_connections = _rival(url, far, wire, workload)
    note = f"stand-in: reads alone, {rival_connections} connections"
    return [
        Row(f"{what}: round trips of read and write, connected", trips, "trips", "<= 4", trips <= 4),
        Row(f"{what}: connections", connections, "", "1", connections == 1, float(rival_connections)),
        Row(f"{what}: read, judge and write, connected", seconds * 1e3, "ms", "", None, rival_seconds * 1e3, note),
        Row("connection set-up over the same network", connecting * 1e3, "ms", "a row of its own", None),
    ]


def _measured(
    store: SqlMetricHistoryStore, wire: Wire, workload: Workload, repeat: int = 7
) -> tuple[float, float, float, float]:
    """Seconds and round trips of a connected gate call, seconds of connecting, connections of a call: medians, but of
    round trips and connections the worst.
    """
    seconds, trips, connecting, connections = [], [], [], []
    for _ in range(repeat):
        wire.connections = 0
        start = time.perf_counter()
        with store.pinned():
            connected = time.perf_counter()
            wire.round_trips = 0
            _judge_and_write(store, workload)
            trips.append(wire.round_trips)
            seconds.append(time.perf_counter() - connected)
        connecting.append(connected - start)
        connections.append(wire.connections)
    return statistics.median(seconds), float(max(trips)), statistics.median(connecting), float(max(connections))


def _gate_call(store: SqlMetricHistoryStore, workload: Workload) -> None:
    with store.pinned():
        _judge_and_write(store, workload)


def _judge_and_write(store: SqlMetricHistoryStore, workload: Workload) -> None:
    gate_specs = specs()
    verdict = judge(store, gate_specs, workload.record_bytes(RUNS))
    store.write_run(workload.new_run(RUNS, gate_specs, stored_verdict(verdict)))


def _rival(url: str, far: str, wire: Wire, workload: Workload) -> tuple[float, int]:
    """Seconds for all coordinates, scaled up from a sample, and how many connections that would be."""
    driver = "postgresql+psycopg"
    near_engine, far_engine = (
        create_engine(make_url(one).set(drivername=driver), poolclass=NullPool) for one in (url, far)
    )
    identity = {"test_path": IDENTITY.test_path, "backend": IDENTITY.backend, "suite": IDENTITY.suite}
    near = RowPerValueStore(near_engine, identity)
    near.create()
    near.fill(workload.values[:RUNS], METRICS)
    coordinates = [(metric, step) for metric in METRICS for step in range(workload.values.shape[2])]
    wire.reset()
    start = time.perf_counter()
    RowPerValueStore(far_engine, identity).recent(coordinates[:RIVAL_SAMPLE])
    scale = len(coordinates) / RIVAL_SAMPLE
    return (time.perf_counter() - start) * scale, round(wire.connections * scale)


def _sizes(url: str) -> list[Row]:
    progress(f"measuring: writing {SIZE_RUNS} runs for the size on disk ...")
    workload, gate_specs = Workload.of(RUNS + 1, STEPS), specs()
    with open_store(url, one_shot=False) as store:
        for run in range(RUNS):
            store.write_run(workload.new_run(run, gate_specs))
        verdict = stored_verdict(judge(store, gate_specs, workload.record_bytes(RUNS)))
    values = SIZE_RUNS * len(METRICS) * STEPS
    without = _written(url, None)
    with_verdicts = _written(url, verdict)
    per_value = without / values
    verdicts = (with_verdicts - without) / values
    return [
        Row("Postgres, bytes per stored value, indexes included", per_value, "B", "<= 20 B", per_value <= 20),
        Row("Postgres, verdict bytes per stored value", verdicts, "B", "<= 20 B", verdicts <= 20),
    ]


def _written(url: str, verdict: dict[str, Any] | None) -> int:
    """Bytes that `SIZE_RUNS` more runs take, tables and indexes, after a vacuum."""
    workload, gate_specs = Workload.of(SIZE_RUNS, STEPS), specs()
    before = _bytes(url)
    with open_store(url, one_shot=False) as store:
        for run in range(SIZE_RUNS):
            store.write_run(workload.new_run(run, gate_specs, verdict))
    return _bytes(url) - before


def _bytes(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM")
        found = connection.execute(
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'public' AND c.relkind = 'r'"
        ).fetchone()
    return int(found[0]) if found else 0
