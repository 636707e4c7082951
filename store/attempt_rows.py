"""Attempts: every execution of a test file, passing or not, for durations and flakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Subquery, func, literal, select, tuple_

from gate.identity import SeriesIdentity
from store.addressing import address, this_series
from store.column_types import RowId, UtcDateTime
from store.connections import queue
from store.contract import Attempt, AttemptFilter
from store.paging import Page, Place, page_of, read_place
from store.schema import attempts, series
from store.series_row import insert_new, lock_series

_IDENTITY = (series.c.project, series.c.test_path, series.c.backend, series.c.suite)
_FACTS = (
    "ci_run_id",
    "ci_run_attempt",
    "test_attempt",
    "attempt_class",
    "duration_s",
    "started_at",
    "exit_code",
)


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


def list_attempts(connection: Connection, project: str, where: AttemptFilter) -> list[Attempt]:
    """By series, the newest start first, in one statement."""
    found = _found(project, where)
    newest_first = (found.c.started_at.desc(), found.c.id.desc())
    chosen = select(found).order_by(*(found.c[column.name] for column in _IDENTITY), *newest_first)
    return [_attempt(row) for row in connection.execute(chosen)]


def attempts_page(
    connection: Connection, project: str, where: AttemptFilter, limit: int, after: Place | None
) -> Page[Attempt]:
    """The newest start first, whatever the series."""
    found = _found(project, where)
    start = (found.c.started_at, found.c.id)
    chosen = select(found).order_by(*(column.desc() for column in start)).limit(limit + 1)
    if after is not None:
        started_at, row_id = read_place(after, datetime, int)
        chosen = chosen.where(tuple_(*start) < tuple_(literal(started_at, UtcDateTime), literal(row_id, RowId)))
    return page_of(connection.execute(chosen).all(), limit, _attempt, lambda row: (row.started_at, row.id))


def _found(project: str, where: AttemptFilter) -> Subquery:
    chosen = (
        select(*_IDENTITY, attempts.c.id, *(attempts.c[name] for name in _FACTS))
        .join(series, series.c.id == attempts.c.series_id)
        .where(series.c.project == project, *_conditions(where))
    )
    if where.newest is None:
        return chosen.subquery()
    newest_first = (attempts.c.started_at.desc(), attempts.c.id.desc())
    place = func.row_number().over(partition_by=attempts.c.series_id, order_by=newest_first)
    ranked = chosen.add_columns(place.label("place")).subquery()
    return select(ranked).where(ranked.c.place <= where.newest).subquery()


def _attempt(row: Any) -> Attempt:
    identity = SeriesIdentity(row.project, row.test_path, row.backend, row.suite)
    return Attempt(identity=identity, **{name: getattr(row, name) for name in _FACTS})


def _conditions(where: AttemptFilter) -> list[ColumnElement[bool]]:
    given: Mapping[ColumnElement[Any], Any] = {
        attempts.c.attempt_class: where.attempt_class,
        attempts.c.ci_run_id: where.ci_run_id,
        series.c.test_path: where.test_path,
        series.c.backend: where.backend,
        series.c.suite: where.suite,
    }
    since = [] if where.since is None else [attempts.c.started_at >= where.since]
    return since + [column == value for column, value in given.items() if value is not None]


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
