"""Real histories: a folder with ``manifest.json`` and one record per nightly run; no part of the repository."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

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
