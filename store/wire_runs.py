"""Runs and their values as documents, see `store.wire`. Names are those of ``driftgate runs show --json``."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from store.stored import NewRun, RunValues, SeriesValues, StoredRun
from store.wire import (
    SCHEMA,
    Document,
    identity_from,
    identity_json,
    key_from,
    key_json,
    promised,
    provenance_from,
    provenance_json,
    time_from,
    time_json,
)

_RUN_FACTS = ("trusted", "gate_trusted", "has_error", "superseded_by", "untrusted_reason", "marked")


def new_run_json(run: NewRun) -> dict[str, Any]:
    """What `POST /v1/runs` takes. An aware ``created_at`` goes as UTC, a naive one as it is: the service refuses it."""
    at = run.created_at
    return {
        "schema": SCHEMA,
        "series": identity_json(run.identity),
        "created_at": time_json(at if at.utcoffset() is None else at.astimezone(UTC)),
        "trusted": run.trusted,
        "has_error": run.has_error,
        "series_values": [values_json(one) for one in run.series],
        "provenance": provenance_json(run.provenance),
        "verdict": dict(run.verdict),
        "idempotency_key": run.idempotency_key,
        "epochs": None if run.epochs is None else dict(run.epochs),
        "beside_others": run.beside_others,
    }


def values_json(one: SeriesValues) -> dict[str, Any]:
    return {
        **key_json(one.key),
        "steps": list(one.steps),
        "at_step": one.at_step,
        "values": list(one.values),
        "trusted": one.trusted,
        "points": one.points,
    }


def values_from(document: Document) -> SeriesValues:
    return SeriesValues(
        key=key_from(document),
        steps=tuple(document["steps"]),
        values=tuple(map(float, document["values"])),
        trusted=document["trusted"],
        points=document["points"],
        at_step=document["at_step"],
    )


def stored_run_json(run: StoredRun) -> dict[str, Any]:
    """With the verdict as it is stored."""
    return {
        "run_id": run.run_id,
        "series": identity_json(run.identity),
        "created_at": time_json(run.created_at),
        **{name: getattr(run, name) for name in _RUN_FACTS},
        "counting": run.counting,
        "repeat": run.repeat,
        "provenance": provenance_json(run.provenance),
        "stored_verdict": run.verdict,
    }


def stored_run_from(document: Document) -> StoredRun:
    """Raises NotAsPromised."""
    with promised():
        return StoredRun(
            run_id=str(document["run_id"]),
            identity=identity_from(document["series"]),
            created_at=time_from(document["created_at"]),
            provenance=provenance_from(document["provenance"]),
            verdict=dict(document["stored_verdict"]),
            repeat=document.get("repeat", False),
            **{name: document[name] for name in _RUN_FACTS},
        )


def run_values_json(found: RunValues) -> dict[str, Any]:
    return {**stored_run_json(found.run), "series_values": [values_json(one) for one in found.series]}


def run_values_from(document: Document) -> RunValues:
    """Raises NotAsPromised."""
    with promised():
        return RunValues(stored_run_from(document), tuple(map(values_from, document["series_values"])))
