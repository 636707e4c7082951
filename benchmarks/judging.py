"""Rows 2 and 4: one run judged on a SQLite file, short and long; and what the checks alone cost."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import NullPool, create_engine

from benchmarks.measure import Row, median_seconds
from benchmarks.reference import RowPerValueStore
from benchmarks.workload import IDENTITY, METRICS, POLICY, START, Workload, judge, specs, stored_verdict
from gate.case import Case
from gate.evaluate import judge_prepared
from gate.history import History, RunRef, SpecHistory, StoredSeries
from gate.selection import Selection
from gate.verdict import Verdict
from store.opening import open_store
from store.sql_store import SqlMetricHistoryStore


def rows() -> list[Row]:
    short, long = _gate_rows(runs=20, steps=100, target_ms=10.0), _gate_rows(runs=200, steps=1000, target_ms=250.0)
    return [*short, *long, _checks(metrics=1, target_ms=5.0), _checks(metrics=5)]


def _gate_rows(*, runs: int, steps: int, target_ms: float) -> list[Row]:
    workload = Workload.of(runs + 1, steps)
    with TemporaryDirectory() as folder:
        judged, written, reads = _ours(Path(folder), workload, runs)
        rival = _rival(Path(folder), workload, runs)
    size = f"SQLite file, 5 x {steps} values, {runs}-run history"
    target = f"<= {target_ms:g} ms"
    note = "stand-in: its reads alone"
    return [
        Row(
            f"gate end to end, {size}: from the record to the verdict",
            judged,
            "ms",
            target,
            judged <= target_ms,
            rival,
            note,
        ),
        Row(f"gate, {size}: store reads", float(reads), "reads", "1", reads == 1),
        Row(f"and the run written durably, {size}", written, "ms", "", None, note="one fsync included"),
    ]


def _checks(*, metrics: int, target_ms: float | None = None) -> Row:
    """All checks and warnings over 10,000 coordinates: anchor and baseline full, nothing read."""
    steps, runs = 10_000 // metrics, 45
    values = Workload.of(runs + 1, steps).values
    all_steps = np.arange(steps)
    prepared = []
    for index, spec in enumerate(specs()[:metrics]):
        stored = tuple(_stored(run, all_steps, values[run, index]) for run in range(runs))
        newest = stored[:-21:-1]
        history = SpecHistory(newest, stored[:20], newest)
        prepared.append((spec, Selection(all_steps, all_steps, values[runs, index], points=steps), history))

    def check() -> None:
        assert judge_prepared([Case.prepare(*one, POLICY) for one in prepared])[0]

    ours = median_seconds(check, repeat=31) * 1e3
    what = f"all checks and warnings, {metrics} x {steps} coordinates, full anchor, after the read"
    if target_ms is None:
        return Row(what, ours, "ms", "", None)
    return Row(what, ours, "ms", f"<= {target_ms:g} ms", ours <= target_ms)


def _stored(run: int, steps: NDArray[np.int64], values: NDArray[np.float64]) -> StoredSeries:
    at = START + timedelta(hours=run)
    return StoredSeries(RunRef(f"{run:032x}", at, trusted=True, counting=True, valid=True), steps, values, steps.size)


class _Counting:
    """Passes reads on and counts them."""

    def __init__(self, store: SqlMetricHistoryStore) -> None:
        self.store = store
        self.reads = 0

    def read_history(self, *request: Any) -> History:
        self.reads += 1
        return self.store.read_history(*request)


def _ours(folder: Path, workload: Workload, runs: int) -> tuple[float, float, int]:
    """Milliseconds to judge and to write, medians, and the most reads of one gate call."""
    gate_specs = specs()
    record = workload.record_bytes(runs)
    with open_store(f"sqlite:///{folder}/history.db") as store:
        for run in range(runs):
            store.write_run(workload.new_run(run, gate_specs))

        reads = []

        def gate_call() -> Verdict:
            counting = _Counting(store)
            verdict = judge(counting, gate_specs, record)
            reads.append(counting.reads)
            return verdict

        def write() -> None:
            store.write_run(workload.new_run(runs, gate_specs, stored))

        with store.pinned():
            judged = median_seconds(gate_call, repeat=31)
            stored = stored_verdict(gate_call())
            written = median_seconds(write, repeat=15)
    return judged * 1e3, written * 1e3, max(reads)


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
