"""Runs and their values as documents, see `store.wire`. Names are those of ``driftgate runs show --json``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC
from typing import Any

from store.documents import run_json, values_json
from store.stored import NewRun, RunValues, SeriesValues, StoredRun
from store.wire import (
    SCHEMA,
    Document,
    facts_from,
    identity_from,
    key_from,
    promised,
    provenance_from,
    provenance_json,
    time_json,
)


def new_run_json(run: NewRun) -> dict[str, Any]:
    """What `POST /v1/runs` takes. An aware ``created_at`` goes as UTC, a naive one as it is: the service refuses it."""
    at = run.created_at
    return {
        "schema": SCHEMA,
        "series": asdict(run.identity),
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
    """What everybody sees of a run, and what only a store's reader needs: among it the verdict as it is stored."""
    return {**run_json(run), "has_error": run.has_error, "repeat": run.repeat, "stored_verdict": run.verdict}


def stored_run_from(document: Document) -> StoredRun:
    """Raises NotAsPromised."""
    with promised():
        return facts_from(
            StoredRun,
            document,
            identity=identity_from(document["series"]),
            provenance=provenance_from(document["provenance"]),
            verdict=dict(document["stored_verdict"]),
        )


def run_values_json(found: RunValues) -> dict[str, Any]:
    return {**stored_run_json(found.run), "series_values": [values_json(one) for one in found.series]}


def run_values_from(document: Document) -> RunValues:
    """Raises NotAsPromised."""
    with promised():
        return RunValues(stored_run_from(document), tuple(map(values_from, document["series_values"])))
