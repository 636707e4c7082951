"""Rows 2 and 4: one run judged on a SQLite file, short and long."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import NullPool, create_engine

from benchmarks.measure import Row, median_seconds
from benchmarks.reference import RowPerValueStore
from benchmarks.workload import IDENTITY, METRICS, Workload, judge, specs, stored_verdict
from store.opening import open_store


def rows() -> list[Row]:
    return [_row(runs=20, steps=100, target_ms=10.0), _row(runs=200, steps=1000, target_ms=250.0)]


def _row(*, runs: int, steps: int, target_ms: float) -> Row:
    workload = Workload.of(runs + 1, steps)
    with TemporaryDirectory() as folder:
        ours = _ours(Path(folder), workload, runs)
        rival = _rival(Path(folder), workload, runs)
    what = f"gate end to end, SQLite file: read, judge and write, 5 x {steps} values, {runs}-run history"
    return Row(what, ours, "ms", f"<= {target_ms:g} ms", ours <= target_ms, rival, "rival: its reads alone")


def _ours(folder: Path, workload: Workload, runs: int) -> float:
    gate_specs = specs()
    record = workload.record_bytes(runs)
    with open_store(f"sqlite:///{folder}/history.db") as store:
        for run in range(runs):
            store.write_run(workload.new_run(run, gate_specs))

        def gate_call() -> None:
            with store.pinned():
                verdict = judge(store, gate_specs, record)
                assert verdict.trusted, verdict.reason
                run = workload.new_run(runs, gate_specs, stored_verdict(verdict))
                store.write_run(run)

        return median_seconds(gate_call, repeat=15) * 1e3


def _rival(folder: Path, workload: Workload, runs: int) -> float:
    engine = create_engine(f"sqlite:///{folder}/rows.db", poolclass=NullPool)
    identity = {"test_path": IDENTITY.test_path, "backend": IDENTITY.backend, "suite": IDENTITY.suite}
    store = RowPerValueStore(engine, identity)
    store.create()
    store.fill(workload.values[:runs], METRICS)
    steps = workload.values.shape[2]
    # The cost per coordinate is constant, so a sample of them is measured and scaled up.
    sample = [(metric, step) for metric in METRICS for step in range(0, steps, max(1, steps // 4))]
    seconds = median_seconds(lambda: store.recent(sample), repeat=3, warm_up=1)
    return seconds * len(METRICS) * steps / len(sample) * 1e3
