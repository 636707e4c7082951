"""Every stored value of a metric, a row of the store (one gate spec of one run) at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Select, and_, any_, func, literal, select, tuple_

from gate.identity import SeriesIdentity
from store.addressing import address, this_series
from store.column_types import RowId, UtcDateTime
from store.paging import Page, Place, page_of, read_place
from store.schema import gate_specs, packed_series, runs, step_sets

MAX_PAGE_VALUES = 25_000
"""With so many values a page ends, unless a single row has more."""

COLUMNS = (
    "run_id",
    "created_at",
    "steps_key",
    "constraint_key",
    "step",
    "value",
    "trusted",
    "superseded",
    "commit_sha",
    "ci_run_id",
)
OF_ROW = tuple(name for name in COLUMNS if name not in ("step", "value"))


@dataclass(frozen=True, slots=True)
class MetricRow:
    """The values of one gate spec in one run, and what a reader of values wants to know of the run. ``trusted`` and
    ``superseded`` are the run's, as they stand now.
    """

    run_id: str
    created_at: datetime
    steps_key: str
    constraint_key: str
    trusted: bool
    superseded: bool
    commit_sha: str | None
    ci_run_id: int | None
    steps: Sequence[int]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class MetricQuery:
    """A metric of a series; at one step, and in runs created at or after ``since``, where these are given."""

    identity: SeriesIdentity
    metric_key: str
    step: int | None = None
    since: datetime | None = None


def metric_rows(connection: Connection, query: MetricQuery) -> list[MetricRow]:
    """Oldest first, by (created_at, order of arrival)."""
    rows = connection.execute(_select_rows(connection.dialect.name, query), address(query.identity))
    return [_metric_row(row) for row in rows]


def metric_page(connection: Connection, query: MetricQuery, limit: int, after: Place | None) -> Page[MetricRow]:
    """At most ``limit`` rows, and fewer where they hold `MAX_PAGE_VALUES` values."""
    chosen = _select_page(connection.dialect.name, query, limit, after)
    rows = connection.execute(chosen, address(query.identity)).all()
    total = rows[0].found if rows else 0
    return page_of(rows, limit, _metric_row, lambda row: (row.created_at, row.run_seq, row.gate_spec_id), total)


def value_records(rows: Iterable[MetricRow], step: int | None) -> Iterator[dict[str, Any]]:
    """One record per value, with the columns of `COLUMNS`; of ``step`` alone where one is given."""
    for row in rows:
        facts = {name: getattr(row, name) for name in OF_ROW}
        for at, value in zip(row.steps, row.values, strict=True):
            if step in (None, at):
                yield {name: at if name == "step" else value if name == "value" else facts[name] for name in COLUMNS}


def _metric_row(row: Any) -> MetricRow:
    return MetricRow(**{name: getattr(row, name) for name in (*OF_ROW, "steps", "values")})


def _select_rows(dialect: str, query: MetricQuery) -> Select[Any]:
    return _with_values(packed_series).where(*_conditions(dialect, query))


def _select_page(dialect: str, query: MetricQuery, limit: int, after: Place | None) -> Select[Any]:
    """Rows are chosen and weighed by the number of their values before any value is fetched."""
    length = func.cardinality if dialect == "postgresql" else func.json_array_length
    order = (packed_series.c.created_at, packed_series.c.run_seq, packed_series.c.gate_spec_id)
    chosen = (
        select(*order, (literal(1) if query.step is not None else length(step_sets.c.steps)).label("length"))
        .select_from(_joined(packed_series))
        .where(*_conditions(dialect, query))
        .order_by(*order)
        .limit(limit + 1)
    )
    if after is not None:
        created_at, seq, spec_id = read_place(after, datetime, int, int)
        place = (literal(created_at, UtcDateTime), literal(seq, RowId), literal(spec_id, RowId))
        chosen = chosen.where(tuple_(*order) > tuple_(*place))
    page = chosen.subquery("page")
    until = func.sum(page.c.length).over(order_by=(page.c.created_at, page.c.run_seq, page.c.gate_spec_id))
    weighed = select(
        page.c.run_seq, page.c.gate_spec_id, (until - page.c.length).label("before"), func.count().over().label("found")
    ).subquery("weighed")
    this_row = and_(
        packed_series.c.run_seq == weighed.c.run_seq, packed_series.c.gate_spec_id == weighed.c.gate_spec_id
    )
    return (
        _with_values(weighed.join(packed_series, this_row))
        .add_columns(packed_series.c.run_seq, packed_series.c.gate_spec_id, weighed.c.found)
        .where(weighed.c.before < MAX_PAGE_VALUES)
    )


def _with_values(source: FromClause) -> Select[Any]:
    columns = (
        runs.c.run_id,
        runs.c.created_at,
        gate_specs.c.steps_key,
        gate_specs.c.constraint_key,
        runs.c.trusted,
        runs.c.superseded_by.is_not(None).label("superseded"),
        runs.c.commit_sha,
        runs.c.ci_run_id,
        step_sets.c.steps,
        packed_series.c["values"],
    )
    order = (packed_series.c.created_at, packed_series.c.run_seq, packed_series.c.gate_spec_id)
    found = _joined(source).join(runs, runs.c.seq == packed_series.c.run_seq)
    return select(*columns).select_from(found).order_by(*order)


def _joined(source: FromClause) -> FromClause:
    return source.join(gate_specs, gate_specs.c.id == packed_series.c.gate_spec_id).join(
        step_sets, step_sets.c.id == packed_series.c.step_set_id
    )


def _conditions(dialect: str, query: MetricQuery) -> list[ColumnElement[bool]]:
    wanted = [gate_specs.c.series_id == this_series(), gate_specs.c.metric_key == query.metric_key]
    if query.since is not None:
        wanted.append(packed_series.c.created_at >= query.since)
    if query.step is not None:
        wanted.append(_has_step(dialect, query.step))
    return wanted


def _has_step(dialect: str, step: int) -> ColumnElement[bool]:
    if dialect == "postgresql":
        return literal(step, RowId) == any_(step_sets.c.steps)
    listed = func.json_each(step_sets.c.steps).table_valued("value")
    return select(listed.c.value).where(listed.c.value == step).exists()
