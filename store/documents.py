"""What is stored as JSON documents: one form for the command line and for HTTP. Non-finite numbers become null as they
are written (orjson).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gate.identity import SeriesIdentity
from store.operations import Epoch, TrustEvent
from store.stored import Attempt, RunValues, SeriesSummary, SeriesValues, StoredRun

SCHEMA = 1


def series_json(summary: SeriesSummary) -> dict[str, Any]:
    facts = asdict(summary)
    return {"series": facts.pop("identity"), **facts, "last_run_at": _time(summary.last_run_at)}


def run_json(run: StoredRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "series": asdict(run.identity),
        "created_at": run.created_at.isoformat(),
        "trusted": run.trusted,
        "gate_trusted": run.gate_trusted,
        "counting": run.counting,
        "marked": run.marked,
        "untrusted_reason": run.untrusted_reason,
        "superseded_by": run.superseded_by,
        "provenance": {"commit_sha": run.provenance.commit_sha, **asdict(run.provenance)},
    }


def run_list_json(runs: Iterable[StoredRun]) -> dict[str, Any]:
    return {"schema": SCHEMA, "runs": [run_json(run) for run in runs]}


def run_page_json(found: RunValues, events: Sequence[TrustEvent]) -> dict[str, Any]:
    """One run with its values and who changed its trust, the newest change first."""
    values = [values_json(series) for series in found.series]
    log = [event_json(event) for event in events]
    return {"schema": SCHEMA, **run_json(found.run), "series_values": values, "trust_events": log}


def values_json(series: SeriesValues) -> dict[str, Any]:
    return {
        **asdict(series.key),
        "steps": list(series.steps),
        "at_step": series.at_step,
        "values": list(series.values),
        "trusted": series.trusted,
        "points": series.points,
    }


def event_json(event: TrustEvent) -> dict[str, Any]:
    return asdict(event) | {"at": _time(event.at)}


def epoch_json(epoch: Epoch) -> dict[str, Any]:
    facts = asdict(epoch)
    times = {name: _time(facts[name]) for name in ("begins_at", "started_at", "undone_at")}
    return {"epoch_id": facts.pop("epoch_id"), "series": facts.pop("identity"), **facts, **times}


def epoch_list_json(epochs: Iterable[Epoch]) -> dict[str, Any]:
    return {"schema": SCHEMA, "epochs": [epoch_json(epoch) for epoch in epochs]}


def attempt_json(attempt: Attempt) -> dict[str, Any]:
    facts = asdict(attempt)
    return {"series": facts.pop("identity"), **facts, "started_at": _time(attempt.started_at)}


def history_json(identity: SeriesIdentity, metric_key: str, values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``values``: one record per value, with the columns of `metric_history`."""
    rows = [{**record, "created_at": _time(record["created_at"])} for record in values]
    return {"schema": SCHEMA, "series": asdict(identity), "metric_key": metric_key, "values": rows}


def _time(at: Any) -> str | None:
    return None if at is None else str(at.isoformat())
