"""Rows of epochs: where one begins, which are stored, which one is meant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select, tuple_

from gate.identity import SeriesIdentity
from gate.wording import listed, nearest
from store.addressing import address, this_series
from store.contract import Epoch
from store.errors import NotFound, StoreConflict, no_epoch
from store.paging import Page, Place, page_of, read_place
from store.schema import epochs, gate_specs, runs, series
from store.series_listing import of_series
from store.stored import SeriesFilter

SERIES_COLUMNS = (series.c.project, series.c.test_path, series.c.backend, series.c.suite)


@dataclass(frozen=True, slots=True)
class NewEpoch:
    """An epoch to start: from a stored run on, or after the newest where ``from_run`` is None."""

    epoch_id: str
    identity: SeriesIdentity
    metric_key: str | None
    from_run: str | None


@dataclass(frozen=True, slots=True)
class Start:
    """The first place of an epoch: a run belongs to it whose (created_at, seq) is at least this."""

    created_at: datetime
    seq: int

    @property
    def place(self) -> tuple[datetime, int]:
        return (self.created_at, self.seq)


def from_start(created_at: Any, seq: Any) -> ColumnElement[bool]:
    """Whether a row of ``runs`` belongs to the epoch that begins there."""
    return tuple_(runs.c.created_at, runs.c.seq) >= tuple_(created_at, seq)


def find_start(connection: Connection, new: NewEpoch) -> Start:
    """Raises NotFound and StoreConflict as `start_epoch` promises."""
    newest = connection.execute(_select_newest(), address(new.identity)).one_or_none()
    if newest is None:
        raise NotFound(f"no run of {_named(new.identity)} is stored, so there is no level to leave")
    if new.metric_key is not None:
        _require_metric(connection, new.identity, new.metric_key)
    if new.from_run is None:
        return Start(newest.created_at, newest.seq + 1)
    return _start_at(connection, new.identity, new.from_run)


def _start_at(connection: Connection, identity: SeriesIdentity, run_id: str) -> Start:
    row = connection.execute(
        select(runs.c.created_at, runs.c.seq, *SERIES_COLUMNS)
        .join(series, series.c.id == runs.c.series_id)
        .where(runs.c.project == identity.project, runs.c.run_id == run_id)
    ).one_or_none()
    if row is None:
        raise NotFound(f"no run {run_id!r:.80} in project {identity.project!r}; `driftgate runs list` shows what is")
    found = identity_of(row)
    if found != identity:
        raise StoreConflict(f"run {run_id} belongs to {_named(found)}, not to {_named(identity)}; give a run of that")
    return Start(row.created_at, row.seq)


def begun_there(connection: Connection, new: NewEpoch, start: Start) -> str | None:
    """The epoch of the series that was started last and not undone, where it is this very one."""
    last = connection.execute(
        select(epochs.c.epoch_id, epochs.c.metric_key, epochs.c.start_created_at, epochs.c.start_seq)
        .where(epochs.c.series_id == this_series(), epochs.c.undone_at.is_(None))
        .order_by(epochs.c.position.desc())
        .limit(1),
        address(new.identity),
    ).one_or_none()
    if last is None or (last.metric_key, last.start_created_at, last.start_seq) != (new.metric_key, *start.place):
        return None
    return str(last.epoch_id)


def _select_newest() -> Select[Any]:
    place = (runs.c.created_at.desc(), runs.c.seq.desc())
    return select(runs.c.created_at, runs.c.seq).where(runs.c.series_id == this_series()).order_by(*place).limit(1)


def _require_metric(connection: Connection, identity: SeriesIdentity, metric_key: str) -> None:
    known = connection.scalars(
        select(gate_specs.c.metric_key)
        .where(gate_specs.c.series_id == this_series())
        .distinct()
        .order_by(gate_specs.c.metric_key),
        address(identity),
    ).all()
    if metric_key not in known:
        raise NotFound(
            f"{_named(identity)} has no metric {metric_key!r:.200}{nearest(metric_key, known)}; stored: {listed(known)}"
        )


def find_epoch(connection: Connection, project: str, epoch_id: str) -> Any:
    """The row of ``epochs`` with the names of its series. Raises NotFound."""
    row = connection.execute(
        select(epochs, *SERIES_COLUMNS)
        .join(series, series.c.id == epochs.c.series_id)
        .where(series.c.project == project, epochs.c.epoch_id == epoch_id)
    ).one_or_none()
    if row is None:
        raise no_epoch(project, epoch_id)
    return row


def list_epochs(connection: Connection, project: str, identity: SeriesIdentity | None) -> list[Epoch]:
    """Newest first."""
    chosen = _newest_epochs(project)
    if identity is None:
        return [_epoch(row) for row in connection.execute(chosen)]
    chosen = chosen.where(epochs.c.series_id == this_series())
    return [_epoch(row) for row in connection.execute(chosen, address(identity))]


def epochs_page(
    connection: Connection, project: str, where: SeriesFilter, limit: int, after: Place | None
) -> Page[Epoch]:
    chosen = _newest_epochs(project).where(*of_series(where)).limit(limit + 1)
    if after is not None:
        chosen = chosen.where(epochs.c.position < read_place(after, int)[0])
    return page_of(connection.execute(chosen).all(), limit, _epoch, lambda row: (row.position,))


def _newest_epochs(project: str) -> Select[Any]:
    first_run = (
        select(runs.c.run_id)
        .where(runs.c.series_id == epochs.c.series_id, from_start(epochs.c.start_created_at, epochs.c.start_seq))
        .order_by(runs.c.created_at, runs.c.seq)
        .limit(1)
        .correlate(epochs)
        .scalar_subquery()
    )
    later = epochs.alias("later")
    replaced = (
        select(later.c.position)
        .where(
            later.c.series_id == epochs.c.series_id,
            later.c.position > epochs.c.position,
            later.c.undone_at.is_(None),
            or_(later.c.metric_key.is_(None), later.c.metric_key == epochs.c.metric_key),
        )
        .correlate(epochs)
        .exists()
    )
    in_force = and_(epochs.c.undone_at.is_(None), ~replaced).label("in_force")
    return (
        select(epochs, first_run.label("first_run_id"), in_force, *SERIES_COLUMNS)
        .join(series, series.c.id == epochs.c.series_id)
        .where(series.c.project == project)
        .order_by(epochs.c.position.desc())
    )


def _epoch(row: Any) -> Epoch:
    return Epoch(
        epoch_id=row.epoch_id,
        identity=identity_of(row),
        metric_key=row.metric_key,
        first_run_id=row.first_run_id,
        begins_at=row.start_created_at,
        reason=row.reason,
        actor=row.actor,
        started_at=row.started_at,
        undone_at=row.undone_at,
        in_force=bool(row.in_force),
    )


def identity_of(row: Any) -> SeriesIdentity:
    return SeriesIdentity(row.project, row.test_path, row.backend, row.suite)


def _named(identity: SeriesIdentity) -> str:
    return f"{identity.test_path} on {identity.backend} in {identity.suite}"
