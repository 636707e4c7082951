"""What people ask: which runs, one run with its values, which gate specs, who changed trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, literal, select, tuple_

from gate.identity import SeriesIdentity, SpecKey
from store.addressing import address, among, bound_list, this_series
from store.column_types import RowId, UtcDateTime
from store.contract import RunFilter, RunValues, SeriesValues, StoredRun, TrustEvent
from store.errors import NotFound
from store.paging import Page, Place, page_of, read_place
from store.run_rows import select_runs, stored_run
from store.schema import gate_specs, packed_series, runs, series, step_sets, trust_events


def runs_with_values(connection: Connection, project: str, run_ids: Sequence[str]) -> list[RunValues]:
    """In the order asked for. Raises NotFound naming the missing."""
    wanted = and_(runs.c.project == project, among(connection.dialect.name, runs.c.run_id, "run_ids"))
    parameters = {"run_ids": bound_list(connection, list(run_ids))}
    rows = {row.run_id: row for row in connection.execute(select_runs().where(wanted), parameters)}
    missing = [run_id for run_id in run_ids if run_id not in rows]
    if missing:
        raise NotFound(f"no run {', '.join(missing)} in project {project!r}; `driftgate runs list` shows what is")
    # Values never change once written, so a second statement sees what the first one saw.
    values: dict[int, list[SeriesValues]] = {row.seq: [] for row in rows.values()}
    for row in connection.execute(_select_values().where(wanted), parameters):
        values[row.run_seq].append(_series_values(row))
    return [RunValues(stored_run(rows[run_id]), tuple(values[rows[run_id].seq])) for run_id in run_ids]


def list_runs(connection: Connection, project: str, where: RunFilter) -> list[StoredRun]:
    chosen = _newest_first(project, where).limit(where.limit)
    return [stored_run(row) for row in connection.execute(chosen)]


def runs_page(
    connection: Connection, project: str, where: RunFilter, limit: int, after: Place | None
) -> Page[StoredRun]:
    chosen = _newest_first(project, where).limit(limit + 1)
    if after is not None:
        created_at, seq = read_place(after, datetime, int)
        chosen = chosen.where(
            tuple_(runs.c.created_at, runs.c.seq) < tuple_(literal(created_at, UtcDateTime), literal(seq, RowId))
        )
    rows = connection.execute(chosen).all()
    return page_of(rows, limit, stored_run, lambda row: (row.created_at, row.seq))


def list_specs(connection: Connection, identity: SeriesIdentity) -> list[SpecKey]:
    """Newest use first."""
    used = [
        select(column)
        .where(packed_series.c.gate_spec_id == gate_specs.c.id)
        .order_by(packed_series.c.created_at.desc(), packed_series.c.run_seq.desc())
        .limit(1)
        .correlate(gate_specs)
        .scalar_subquery()
        .desc()
        for column in (packed_series.c.created_at, packed_series.c.run_seq)
    ]
    rows = connection.execute(
        select(gate_specs.c.metric_key, gate_specs.c.steps_key, gate_specs.c.constraint_key)
        .where(gate_specs.c.series_id == this_series())
        .order_by(*used, gate_specs.c.id),
        address(identity),
    )
    return [SpecKey(row.metric_key, row.steps_key, row.constraint_key) for row in rows]


def list_trust_events(connection: Connection, project: str, limit: int, run_id: str | None) -> list[TrustEvent]:
    return [_trust_event(row) for row in connection.execute(_newest_events(project, run_id).limit(limit))]


def trust_events_page(
    connection: Connection, project: str, run_id: str | None, limit: int, after: Place | None
) -> Page[TrustEvent]:
    chosen = _newest_events(project, run_id).limit(limit + 1)
    if after is not None:
        chosen = chosen.where(trust_events.c.id < read_place(after, int)[0])
    return page_of(connection.execute(chosen).all(), limit, _trust_event, lambda row: (row.id,))


def _newest_first(project: str, where: RunFilter) -> Select[Any]:
    return (
        select_runs()
        .where(runs.c.project == project, *_conditions(where))
        .order_by(runs.c.created_at.desc(), runs.c.seq.desc())
    )


def _newest_events(project: str, run_id: str | None) -> Select[Any]:
    of_run = [] if run_id is None else [runs.c.run_id == run_id]
    return (
        select(trust_events, runs.c.run_id)
        .outerjoin(runs, runs.c.seq == trust_events.c.run_seq)
        .where(trust_events.c.project == project, *of_run)
        .order_by(trust_events.c.id.desc())
    )


def _trust_event(row: Any) -> TrustEvent:
    return TrustEvent(
        at=row.at,
        actor=row.actor,
        action=row.action,
        reason=row.reason,
        run_id=row.run_id,
        selector=row.selector,
        trusted_before=row.trusted_before,
        trusted_after=None if row.trusted_before is None else row.trusted_before != row.changed,
        verdict=(row.detail or {}).get("verdict"),
    )


def _conditions(where: RunFilter) -> list[ColumnElement[bool]]:
    commit = None if where.commit_sha is None else where.commit_sha.lower()
    given: Mapping[ColumnElement[Any], Any] = {
        series.c.test_path: where.test_path,
        series.c.backend: where.backend,
        series.c.suite: where.suite,
        runs.c.trusted: where.trusted,
        runs.c.ci_run_id: where.ci_run_id,
        runs.c.commit_sha: commit,
        runs.c.run_id: where.run_id,
    }
    return [column == value for column, value in given.items() if value is not None]


def _select_values() -> Select[Any]:
    return (
        select(
            packed_series.c.run_seq,
            gate_specs.c.metric_key,
            gate_specs.c.steps_key,
            gate_specs.c.constraint_key,
            step_sets.c.steps,
            packed_series.c["values"],
            packed_series.c.trusted,
            packed_series.c.points,
            packed_series.c.at_step,
        )
        .join(runs, runs.c.seq == packed_series.c.run_seq)
        .join(gate_specs, gate_specs.c.id == packed_series.c.gate_spec_id)
        .join(step_sets, step_sets.c.id == packed_series.c.step_set_id)
        .order_by(packed_series.c.run_seq, packed_series.c.gate_spec_id)
    )


def _series_values(row: Any) -> SeriesValues:
    return SeriesValues(
        key=SpecKey(row.metric_key, row.steps_key, row.constraint_key),
        steps=tuple(row.steps),
        values=tuple(row.values),
        trusted=row.trusted,
        points=row.points,
        at_step=row.at_step,
    )
