"""What travels between the service and the store over HTTP: documents of plain JSON values, made and read here alone.

Doubles are exact, the sign of zero included, for JSON is written with the shortest digits that read back as the same
double. Reading a document that has not the promised form raises `NotAsPromised`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, cast

import numpy as np

from gate.history import History, RunRef, SpecHistory, StoredSeries
from gate.identity import SeriesIdentity, SpecKey
from gate.provenance import Provenance

T = TypeVar("T")
Document = Mapping[str, Any]

SCHEMA = 1
_ROWS = ("baseline", "anchor", "valid", "others")


class NotAsPromised(Exception):
    """A document of another schema, or one that is not what it says."""


@contextmanager
def promised() -> Iterator[None]:
    """Whatever goes wrong while a document is read is the document's fault."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise NotAsPromised(f"{type(error).__name__}: {error}") from error


def identity_from(document: Document) -> SeriesIdentity:
    return SeriesIdentity(*(str(document[field.name]) for field in fields(SeriesIdentity)))


def key_json(key: SpecKey) -> dict[str, str]:
    return {"metric_key": key.metric_key, "steps_key": key.steps_key, "constraint_key": key.constraint_key}


def key_from(document: Document) -> SpecKey:
    return SpecKey(document["metric_key"], document["steps_key"], document["constraint_key"])


def provenance_json(provenance: Provenance) -> dict[str, Any]:
    """With ``commit_sha``, which is derived, for those who look for a run by it."""
    return {"commit_sha": provenance.commit_sha, **asdict(provenance)}


def provenance_from(document: Document) -> Provenance:
    return Provenance(**{field.name: document[field.name] for field in fields(Provenance) if field.name in document})


def time_json(at: datetime) -> str:
    return at.isoformat()


def time_from(text: str) -> datetime:
    """In UTC. Raises ValueError for a text without a time zone."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{text!r:.80} has no time zone")
    return at.astimezone(UTC)


def facts_from(kind: type[T], document: Document, **given: Any) -> T:
    """A dataclass whose fields stand in the document under their own names; ``given`` are those that do not.

    A field named ``at`` or ``..._at`` is a time.
    """
    names = [field.name for field in fields(cast("Any", kind)) if field.name not in given]
    facts = {name: _time_or_none(document[name]) if _is_time(name) else document[name] for name in names}
    return kind(**facts, **given)


def _is_time(name: str) -> bool:
    return name == "at" or name.endswith("_at")


def _time_or_none(text: str | None) -> datetime | None:
    return None if text is None else time_from(text)


def history_json(history: History) -> dict[str, Any]:
    """Each run, each set of steps and each row once: rows name the first two by their place in the list.

    Arrays stay numpy arrays, which orjson writes.
    """
    runs, steps, rows = Once[RunRef](), Once[bytes](), _Rows()
    specs = [
        {
            **key_json(key),
            "epoch_id": spec.epoch_id,
            "anchor_ever": spec.anchor_ever,
            **{use: [rows.place(stored) for stored in getattr(spec, use)] for use in _ROWS},
        }
        for key, spec in history.specs.items()
    ]
    recent = [runs.place(run) for run in history.recent_runs]
    written = [
        {
            "run": runs.place(row.run),
            "steps": steps.place(row.steps.tobytes()),
            "values": np.ascontiguousarray(row.values),
            "points": row.points,
        }
        for row in rows.all
    ]
    return {
        "schema": SCHEMA,
        "specs": specs,
        "rows": written,
        "steps": [np.frombuffer(raw, np.int64) for raw in steps.all],
        "runs": [{**asdict(run), "created_at": time_json(run.created_at)} for run in runs.all],
        "recent_runs": recent,
    }


def history_from(document: Document) -> History:
    """Raises NotAsPromised."""
    with promised():
        check_schema(document)
        runs = [facts_from(RunRef, run) for run in document["runs"]]
        steps = [np.array(given, np.int64) for given in document["steps"]]
        rows = [
            StoredSeries(runs[row["run"]], steps[row["steps"]], np.array(row["values"], np.float64), int(row["points"]))
            for row in document["rows"]
        ]
        if any(row.values.shape != row.steps.shape for row in rows):
            raise ValueError("as many values as steps are needed")
        specs = {key_from(spec): _spec_from(spec, rows) for spec in document["specs"]}
        return History(specs, tuple(runs[place] for place in document["recent_runs"]))


def check_schema(document: Document) -> None:
    """Raises ValueError for a document of another schema."""
    found = document["schema"]
    if found != SCHEMA:
        raise ValueError(f"schema {found!r}, expected {SCHEMA}")


def _spec_from(document: Document, rows: Sequence[StoredSeries]) -> SpecHistory:
    return SpecHistory(
        **{use: tuple(rows[place] for place in document[use]) for use in _ROWS},
        epoch_id=document["epoch_id"],
        anchor_ever=int(document["anchor_ever"]),
    )


class Once(Generic[T]):
    """Equal things listed once."""

    def __init__(self) -> None:
        self.all: list[T] = []
        self._places: dict[T, int] = {}

    def place(self, thing: T) -> int:
        place = self._places.setdefault(thing, len(self.all))
        if place == len(self.all):
            self.all.append(thing)
        return place


class _Rows:
    """Rows listed once: the same row serves as baseline, anchor and valid run."""

    def __init__(self) -> None:
        self.all: list[StoredSeries] = []
        self._places: dict[int, int] = {}

    def place(self, row: StoredSeries) -> int:
        place = self._places.setdefault(id(row), len(self.all))
        if place == len(self.all):
            self.all.append(row)
        return place
