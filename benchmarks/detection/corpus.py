"""Real histories: a folder with ``manifest.json`` and one record per nightly run; no part of the repository."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.detection.simulate import Floats
from gate.record import Record, load_record

WALL_TIME = "perf/step_time"
"""Measured on a shared machine: judged apart from what the training computes."""


class CorpusMissingError(Exception):
    """There are no real histories at the path; the message says so in one line."""


@dataclass(frozen=True, slots=True, eq=False)
class RealHistory:
    """``records`` in chronological order, all of one training task ``env``. ``change``: the first run after a lasting
    change, None where there is none; ``special``: runs that are known to be broken, with what was done to them.
    """

    name: str
    what: str
    env: str
    records: tuple[Record, ...]
    change: int | None
    special: dict[int, str]


def real_histories(folder: Path) -> list[RealHistory]:
    """Every history that the manifest lists. Raises CorpusMissingError."""
    manifest = folder / "manifest.json"
    try:
        told = json.loads(manifest.read_text(encoding="utf-8"))
        return [_history(folder, entry) for entry in told["scenarios"]]
    except (OSError, ValueError, KeyError) as error:
        raise CorpusMissingError(f"no real histories at {folder}: {error}; give their folder as --corpus") from error


def matrix(records: Sequence[Record], metric: str) -> Floats:
    """The metric's finite values as float64 (runs, steps up to the highest), NaN elsewhere."""
    points = [dict(_finite(record, metric)) for record in records]
    highest = max((step for run in points for step in run), default=-1)
    values = np.full((len(points), highest + 1), np.nan)
    for row, run in zip(values, points, strict=True):
        row[list(run)] = list(run.values())
    return values


def metrics_of(history: RealHistory) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for record in history.records for name in record.metrics))


def _history(folder: Path, entry: dict[str, object]) -> RealHistory:
    runs = [load_record((folder / str(path)).read_bytes()) for path in entry["runs"]]  # type: ignore[attr-defined]
    change, special = entry["change_index"], dict(entry["special_runs"])  # type: ignore[call-overload]
    return RealHistory(
        name=str(entry["scenario"]),
        what=str(entry["description"]),
        env=str(entry["env"]),
        records=tuple(runs),
        change=None if change is None else int(str(change)),
        special={int(index): str(text) for index, text in special.items()},
    )


def _finite(record: Record, metric: str) -> Iterator[tuple[int, float]]:
    series = record.metrics.get(metric)
    pairs = zip(series.steps, series.values, strict=True) if series else ()
    return ((step, value) for step, value in pairs if step is not None and np.isfinite(value))
