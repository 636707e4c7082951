"""Which series there are, how many runs each has, and how its last one went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import CTE, ColumnElement, Connection, ScalarSelect, Select, func, literal, select, tuple_

from gate.identity import SeriesIdentity
from gate.lint import starved_streak
from store.column_types import UtcDateTime
from store.contract import SeriesSummary
from store.paging import Page, Place, page_of, read_place
from store.reading import BEGINNING
from store.schema import runs, series
from store.stored import SeriesFilter

_NAMES = (series.c.test_path, series.c.backend, series.c.suite)


def list_series(connection: Connection, project: str) -> list[SeriesSummary]:
    return [_summary(row) for row in connection.execute(_summaries(_chosen(project, SeriesFilter())))]


def series_page(
    connection: Connection, project: str, where: SeriesFilter, limit: int, after: Place | None
) -> Page[SeriesSummary]:
    """Only the runs of the page's series are counted."""
    chosen = _chosen(project, where).limit(limit + 1)
    if after is not None:
        place = read_place(after, str, str, str)
        chosen = chosen.where(tuple_(*_NAMES) > tuple_(*map(literal, place)))
    rows = connection.execute(_summaries(chosen)).all()
    return page_of(rows, limit, _summary, lambda row: (row.test_path, row.backend, row.suite))


def of_series(where: SeriesFilter) -> list[ColumnElement[bool]]:
    """Conditions on rows of ``series``."""
    given = dict(zip(_NAMES, (where.test_path, where.backend, where.suite), strict=True))
    conditions: list[ColumnElement[bool]] = [name == value for name, value in given.items() if value is not None]
    if where.search is not None:
        conditions.append(series.c.test_path.icontains(where.search, autoescape=True))
    return conditions


def _chosen(project: str, where: SeriesFilter) -> Select[Any]:
    return select(series).where(series.c.project == project, *of_series(where)).order_by(*_NAMES)


def _summaries(chosen: Select[Any]) -> Select[Any]:
    """Of all runs of a series only the last one's verdict is read."""
    wanted = chosen.cte("wanted")
    last = runs.alias("last")
    newest = _newest_run(wanted, runs.c.seq)
    counting = _number_of_runs(wanted, runs.c.trusted, runs.c.superseded_by.is_(None))
    return (
        select(
            wanted,
            _number_of_runs(wanted).label("runs"),
            counting.label("counting"),
            _streak(wanted).label("streak"),
            *(last.c[name] for name in ("run_id", "created_at", "trusted")),
            last.c.verdict["verdict"].as_string().label("outcome"),
            last.c.verdict["warnings"].label("warnings"),
        )
        .select_from(wanted.outerjoin(last, last.c.seq == newest))
        .order_by(*(wanted.c[name.name] for name in _NAMES))
    )


def _number_of_runs(wanted: CTE, *which: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count()).where(runs.c.series_id == wanted.c.id, *which).correlate(wanted).scalar_subquery()


def _newest_run(wanted: CTE, column: ColumnElement[Any]) -> ScalarSelect[Any]:
    place = (runs.c.created_at.desc(), runs.c.seq.desc())
    found = select(column).where(runs.c.series_id == wanted.c.id).order_by(*place).limit(1)
    return found.correlate(wanted).scalar_subquery()


def _streak(wanted: CTE) -> ScalarSelect[int]:
    """How many runs are younger than every trusted one."""
    trusted = runs.alias("trusted_run")
    newest = (
        select(trusted.c.created_at)
        .where(trusted.c.series_id == wanted.c.id, trusted.c.trusted)
        .order_by(trusted.c.created_at.desc())
        .limit(1)
        .correlate(wanted)
        .scalar_subquery()
    )
    beginning = literal(BEGINNING, UtcDateTime)
    return _number_of_runs(wanted, runs.c.created_at > func.coalesce(newest, beginning))


def _summary(row: Any) -> SeriesSummary:
    return SeriesSummary(
        identity=SeriesIdentity(row.project, row.test_path, row.backend, row.suite),
        runs=row.runs,
        counting=row.counting,
        last_run_id=row.run_id,
        last_run_at=row.created_at,
        last_trusted=row.trusted,
        untrusted_streak=row.streak,
        last_verdict=row.outcome,
        warnings=tuple(_warnings(row)),
    )


def _warnings(row: Any) -> Iterator[Mapping[str, Any]]:
    """Whether a series starves is told as of today, not as its last run found it."""
    text = starved_streak(row.streak, row.runs)
    if text is not None:
        yield {"kind": "starved", "text": text, "metric_key": None}
    yield from (warning for warning in row.warnings or () if warning["kind"] != "starved")
