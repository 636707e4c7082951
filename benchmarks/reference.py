"""A stand-in for the reference design, written for comparison: what it does per call, not how it is written.

The collector keeps every series in memory and rewrites its whole file at each ``log``. The store keeps one row per
value without an index on values, and asks for one coordinate at a time, on a connection of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, text

CREATE_RUNS = (
    "CREATE TABLE reference_runs (id {serial} PRIMARY KEY, test_path TEXT, backend TEXT, suite TEXT, created_at TEXT,"
    " trusted BOOLEAN, commit_sha TEXT, github_run_id BIGINT)"
)
CREATE_VALUES = (
    "CREATE TABLE reference_values (id {serial} PRIMARY KEY, run_id BIGINT REFERENCES reference_runs(id),"
    " metric_key TEXT, steps_key TEXT, constraint_key TEXT, step BIGINT, value DOUBLE PRECISION)"
)
RECENT = text(
    "SELECT v.value FROM reference_values v JOIN reference_runs r ON r.id = v.run_id"
    " WHERE r.trusted AND r.test_path = :test_path AND r.backend = :backend AND r.suite = :suite"
    " AND v.metric_key = :metric_key AND v.steps_key = :steps_key AND v.constraint_key = :constraint_key"
    " AND v.step = :step ORDER BY r.created_at DESC, r.id DESC LIMIT 20"
)
INSERT_RUN = text(
    "INSERT INTO reference_runs (test_path, backend, suite, created_at, trusted) VALUES (:test_path, :backend, :suite,"
    " :created_at, :trusted) RETURNING id"
)
INSERT_VALUE = text(
    "INSERT INTO reference_values (run_id, metric_key, steps_key, constraint_key, step, value)"
    " VALUES (:run_id, :metric_key, :steps_key, :constraint_key, :step, :value)"
)


class RewritingCollector:
    """One line per metric with its whole series; the file is replaced atomically at each call."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "record.jsonl"
        self._series: dict[str, list[tuple[int, float]]] = {}

    def preload(self, metrics: Mapping[str, float], calls: int) -> None:
        """As if ``calls`` calls had been made, without their cost."""
        for metric, value in metrics.items():
            self._series[metric] = [(step, value) for step in range(calls)]

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        for metric, value in metrics.items():
            self._series.setdefault(metric, []).append((step, value))
        temporary = self._path.with_suffix(".tmp")
        with temporary.open("w", encoding="utf-8") as file:
            for metric, points in self._series.items():
                file.write(json.dumps({"metric": metric, "series": points}) + "\n")
        os.replace(temporary, self._path)  # noqa: PTH105 - as cheap as it gets, to be fair


@dataclass(frozen=True, slots=True)
class Value:
    metric_key: str
    step: int
    value: float


class RowPerValueStore:
    """Two tables, a row per value, one query and one connection per coordinate."""

    def __init__(self, engine: Engine, identity: Mapping[str, str]) -> None:
        """``engine`` should not pool, as the reference design opens a connection per call."""
        self._engine = engine
        self._identity = dict(identity)

    def create(self) -> None:
        serial = "INTEGER" if self._engine.dialect.name == "sqlite" else "BIGSERIAL"
        with self._engine.begin() as connection:
            for statement in (CREATE_RUNS, CREATE_VALUES):
                connection.execute(text(statement.format(serial=serial)))

    def fill(self, history: NDArray[np.float64], metrics: Sequence[str]) -> None:
        """Trusted runs from ``history`` (runs, metrics, steps), a day apart."""
        for number, run in enumerate(history):
            values = [
                Value(metric, step, value)
                for metric, series in zip(metrics, run.tolist(), strict=True)
                for step, value in enumerate(series)
            ]
            self.write_run(values, f"{number:06d}")

    def write_run(self, values: Sequence[Value], created_at: str) -> None:
        """A trusted run with its values, one row each."""
        with self._engine.begin() as connection:
            self._insert(connection, values, created_at)

    def recent(self, coordinates: Iterable[tuple[str, int]]) -> list[list[float]]:
        """The newest 20 values of each (metric, step)."""
        found = []
        for metric_key, step in coordinates:
            with self._engine.connect() as connection:
                where = {**self._identity, **_keys(metric_key), "step": step}
                found.append(list(connection.execute(RECENT, where).scalars()))
        return found

    def _insert(self, connection: Connection, values: Sequence[Value], created_at: str) -> None:
        run = {**self._identity, "created_at": created_at, "trusted": True}
        run_id = connection.execute(INSERT_RUN, run).scalar_one()
        rows = [{"run_id": run_id, **_keys(v.metric_key), "step": v.step, "value": v.value} for v in values]
        connection.execute(INSERT_VALUE, rows)


def _keys(metric_key: str) -> dict[str, str]:
    return {"metric_key": metric_key, "steps_key": '"all"', "constraint_key": '{"rel_down":0.8,"rel_up":0.5}'}
