"""Epochs: a change of level is accepted from some run on, and the acceptance can be taken back.

What either changes is planned by reading alone, so that a dry run tells exactly what the call would do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, select, tuple_

from gate.new_epoch import judge_again
from gate.past import PastEpoch, SeriesPast
from store.addressing import address, this_series
from store.connections import queue
from store.contract import ActionResult, TrustGrain
from store.epoch_rows import NewEpoch, Start, begun_there, find_epoch, find_start
from store.errors import StoreConflict
from store.past_rows import read_past
from store.rejudging import Rejudged, apply_rejudged, judgement_before, rejudged
from store.schema import epochs, runs, trust_events
from store.series_row import lock_project
from store.trust import MARK_UNTRUSTED, START_EPOCH, Action, Change, epoch_selector
from store.trust_log import (
    apply_changes,
    before_marks,
    flips_before,
    log_action,
    select_trust,
    trust_before,
    trust_of,
)


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """``changes`` by seq. ``held``: what a mark that holds a run meanwhile is to give back when it is lifted."""

    changes: Mapping[int, Rejudged]
    held: Sequence[tuple[Action, Mapping[int, Change]]]


def start_epoch(connection: Connection, action: Action, new: NewEpoch, grain: TrustGrain) -> ActionResult:
    """The transaction of `start_epoch`; safe to repeat with the same epoch id."""
    lock_project(connection, action.project, exclusive=True)
    done = flips_before(connection, action)
    if done is not None:
        return ActionResult(tuple(done), epoch_id=new.epoch_id)
    start = find_start(connection, new)
    changes = plan_start(connection, new, start, grain)
    again = None if changes else begun_there(connection, new, start)
    if again is not None:
        return ActionResult(epoch_id=again)
    row = {
        "epoch_id": new.epoch_id,
        "metric_key": new.metric_key,
        "start_created_at": start.created_at,
        "start_seq": start.seq,
        "reason": action.reason,
        "actor": action.actor,
        "started_at": action.at,
    }
    queue(connection, epochs.insert().values(series_id=this_series()).inline(), address(new.identity) | row)
    log_action(connection, action)
    return ActionResult(tuple(apply_rejudged(connection, action, changes)), epoch_id=new.epoch_id)


def plan_start(connection: Connection, new: NewEpoch, start: Start, grain: TrustGrain) -> dict[int, Rejudged]:
    """By seq, what changes when the runs since ``start`` are judged again under the new epoch."""
    if new.from_run is None:
        return {}
    series = read_past(connection, new.identity)
    under_it = replace(series, epochs=(*series.epochs, to_come(series, new, start)))
    return rejudged(connection, new.identity, judge_again(under_it, start.place, grain))


def to_come(series: SeriesPast, new: NewEpoch, start: Start) -> PastEpoch:
    """The epoch as the one of the series that was started last."""
    position = 1 + max((epoch.position for epoch in series.epochs), default=0)
    return PastEpoch(position, new.epoch_id, new.metric_key, start.place)


def undo_epoch(connection: Connection, action: Action, epoch_id: str) -> ActionResult:
    """The transaction of `undo_epoch`; safe to repeat with the same action."""
    lock_project(connection, action.project, exclusive=True)
    done = flips_before(connection, action)
    if done is not None:
        return ActionResult(tuple(done), epoch_id=epoch_id)
    plan = plan_undo(connection, action, find_epoch(connection, action.project, epoch_id))
    queue(connection, epochs.update().where(epochs.c.epoch_id == epoch_id).values(undone_at=action.at))
    log_action(connection, action)
    for retaking, changes in plan.held:
        apply_changes(connection, retaking, changes)
    return ActionResult(tuple(apply_rejudged(connection, action, plan.changes)), epoch_id=epoch_id)


def plan_undo(connection: Connection, action: Action, epoch: Any) -> UndoPlan:
    """Each run that the start changed goes back; where an operator has decided since, only what lies beneath.

    Raises StoreConflict where it was undone already, or a later epoch has judged some of these runs again.
    """
    if epoch.undone_at is not None:
        raise StoreConflict(f"epoch {epoch.epoch_id} was undone at {epoch.undone_at:%Y-%m-%d %H:%M:%SZ} already")
    log = trust_events.alias()
    by_start = and_(
        log.c.project == action.project,
        log.c.selector == epoch_selector(epoch.epoch_id),
        log.c.action == START_EPOCH,
    )
    lines = connection.execute(
        select(log, runs.c.created_at)
        .join(runs, runs.c.seq == log.c.run_seq)
        .where(by_start)
        .order_by(runs.c.created_at, runs.c.seq)
    ).all()
    if not lines:
        return UndoPlan({}, ())
    _refuse_undo_beneath(connection, epoch, lines[-1])
    concerned = runs.c.seq.in_(select(log.c.run_seq).where(by_start))
    return _undo(connection, action, concerned, {line.run_seq: line for line in lines})


def _refuse_undo_beneath(connection: Connection, epoch: Any, newest: Any) -> None:
    later = connection.scalar(
        select(epochs.c.epoch_id)
        .where(
            epochs.c.series_id == epoch.series_id,
            epochs.c.position > epoch.position,
            epochs.c.undone_at.is_(None),
            tuple_(epochs.c.start_created_at, epochs.c.start_seq) <= tuple_(newest.created_at, newest.run_seq),
        )
        .order_by(epochs.c.position.desc())
        .limit(1)
    )
    if later is not None:
        raise StoreConflict(
            f"epoch {later} was started later and has judged runs of epoch {epoch.epoch_id} again; undo that one first"
        )


def _undo(connection: Connection, action: Action, concerned: ColumnElement[bool], lines: Mapping[int, Any]) -> UndoPlan:
    beneath = before_marks(connection, concerned)
    changes: dict[int, Rejudged] = {}
    held: list[tuple[Action, Mapping[int, Change]]] = []
    for row in connection.execute(select_trust().where(concerned)).all():
        now, back = trust_of(row), trust_before(lines[row.seq])
        after = back if now.gate_decides else now
        changes[row.seq] = Rejudged(Change(row.run_id, now, after), judgement_before(lines[row.seq]))
        if now.marked_by is not None and beneath[row.seq].gate_decides:
            holding = replace(action, name=MARK_UNTRUSTED, selector=now.marked_by, reason=now.reason or action.reason)
            held.append((holding, {row.seq: Change(row.run_id, back, now)}))
    return UndoPlan(changes, held)
