"""A baseline as a file: what the gate would read from the store, for runs that may not reach it (forks).

Version 1, JSON. Runs and step lists of a series are written once; gate specs refer to them by their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import orjson

from gate.history import History, RunRef, StoredSeries
from gate.identity import SeriesIdentity
from gate.provenance import Provenance

KIND, SCHEMA = "driftgate baseline", 1
USES = ("baseline", "anchor", "valid")
COMPARED_FACTS = ("tested_sha", "ci_sha", "ref", "cadence", "host", "gpu_model", "gpu_driver", "image_digest")
"""Of the last trusted run's provenance, beside its packages: a file that forks may read tells no more."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where and when a baseline was exported. ``history`` and ``anchor_runs``: how many runs were asked for."""

    project: str
    exported_at: datetime
    history: int
    anchor_runs: int
    trust: str
    commit_sha: str | None = None
    ci_run_id: int | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class LastTrusted:
    """The newest counting run of a series, for what differs from it."""

    run_id: str
    provenance: Provenance


@dataclass(frozen=True, slots=True, eq=False)
class SeriesBaseline:
    """The past of one series under every declaration that has one. ``epoch_id`` is in force for metrics without."""

    history: History
    epoch_id: str | None = None
    last_trusted: LastTrusted | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BaselineFile:
    origin: Origin
    series: Mapping[SeriesIdentity, SeriesBaseline] = field(default_factory=dict)

    def dumped(self) -> bytes:
        """The file's content: the same for the same baseline. Doubles are written so that they read back exactly."""
        document = {
            "kind": KIND,
            "schema": SCHEMA,
            "origin": {**asdict(self.origin), "exported_at": self.origin.exported_at.isoformat()},
            "series": [_series_json(identity, self.series[identity]) for identity in sorted(self.series)],
        }
        return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)


class _Places:
    """Things in the order of their first mention, each with its place."""

    def __init__(self) -> None:
        self._places: dict[Any, int] = {}

    def of(self, thing: Any) -> int:
        return self._places.setdefault(thing, len(self._places))

    def all(self) -> list[Any]:
        return list(self._places)


def _series_json(identity: SeriesIdentity, series: SeriesBaseline) -> dict[str, Any]:
    runs, step_sets = _Places(), _Places()
    specs = []
    for key, history in sorted(series.history.specs.items()):
        rows: dict[str, StoredSeries] = {}
        uses = {use: [_row_id(row, rows) for row in getattr(history, use)] for use in USES}
        order = {run_id: place for place, run_id in enumerate(rows)}
        specs.append(
            {
                **asdict(key),
                "epoch_id": history.epoch_id,
                "anchor_ever": history.anchor_ever,
                "rows": [_row_json(row, runs, step_sets) for row in rows.values()],
                **{use: [order[run_id] for run_id in run_ids] for use, run_ids in uses.items()},
            }
        )
    recent = [runs.of(run) for run in series.history.recent_runs]
    last = series.last_trusted
    return {
        "test_path": identity.test_path,
        "backend": identity.backend,
        "suite": identity.suite,
        "epoch_id": series.epoch_id,
        "last_trusted": None
        if last is None
        else {"run_id": last.run_id, "provenance": _compared_facts(last.provenance)},
        "runs": [_run_json(run) for run in runs.all()],
        "recent": recent,
        "step_sets": step_sets.all(),
        "specs": specs,
    }


def _row_id(row: StoredSeries, rows: dict[str, StoredSeries]) -> str:
    """A run has one row of each gate spec, whatever it is used for."""
    rows.setdefault(row.run.run_id, row)
    return row.run.run_id


def _row_json(row: StoredSeries, runs: _Places, step_sets: _Places) -> dict[str, Any]:
    return {
        "run": runs.of(row.run),
        "steps": step_sets.of(tuple(row.steps.tolist())),
        "points": row.points,
        "values": row.values,
    }


def _run_json(run: RunRef) -> dict[str, Any]:
    return {**asdict(run), "created_at": run.created_at.isoformat()}


def _compared_facts(provenance: Provenance) -> dict[str, Any]:
    facts = {name: getattr(provenance, name) for name in COMPARED_FACTS}
    return {name: fact for name, fact in facts.items() if fact is not None} | {"packages": dict(provenance.packages)}
