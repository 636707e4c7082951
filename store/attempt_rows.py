"""Attempts: every execution of a test file, passing or not, for durations and flakes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Any

from sqlalchemy import Connection, func, select

from gate.identity import SeriesIdentity
from store.addressing import address, this_series
from store.connections import queue
from store.contract import Attempt
from store.schema import attempts
from store.series_row import insert_new, lock_series


def record_attempts(connection: Connection, given: Sequence[Attempt]) -> int:
    """Returns how many were new."""
    by_series: dict[SeriesIdentity, dict[str, dict[str, Any]]] = {}
    for attempt in given:
        by_series.setdefault(attempt.identity, {}).setdefault(_attempt_key(attempt), _attempt_row(attempt))
    new = 0
    # Locks in one order for every writer: two that write the same series then never wait for each other in a circle.
    for identity in sorted(by_series):
        new += _record_series(connection, identity, list(by_series[identity].values()))
    return new


def _record_series(connection: Connection, identity: SeriesIdentity, rows: list[dict[str, Any]]) -> int:
    lock_series(connection, identity)
    at = address(identity)
    stored = select(func.count()).where(attempts.c.series_id == this_series())
    before = connection.scalar(stored, at)
    queue(connection, insert_new(connection, attempts).values(series_id=this_series()), [at | row for row in rows])
    return int(connection.scalar(stored, at) or 0) - int(before or 0)


def _attempt_key(attempt: Attempt) -> str:
    """Without a CI run the start tells attempts apart."""
    if attempt.ci_run_id is None:
        return f"{attempt.started_at.astimezone(UTC).isoformat()} {attempt.test_attempt}"
    return f"{attempt.ci_run_id} {attempt.ci_run_attempt} {attempt.test_attempt}"


def _attempt_row(attempt: Attempt) -> dict[str, Any]:
    return {
        "attempt_key": _attempt_key(attempt),
        "ci_run_id": attempt.ci_run_id,
        "ci_run_attempt": attempt.ci_run_attempt,
        "test_attempt": attempt.test_attempt,
        "attempt_class": attempt.attempt_class,
        "duration_s": attempt.duration_s,
        "started_at": attempt.started_at,
        "exit_code": attempt.exit_code,
    }
