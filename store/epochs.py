"""Epochs: a change of level is accepted from some run on, and the acceptance can be taken back."""

from __future__ import annotations

from sqlalchemy import Connection

from store.addressing import address, this_series
from store.connections import queue
from store.contract import TrustChange
from store.epoch_rows import NewEpoch, find_epoch, find_start
from store.errors import StoreConflict
from store.schema import epochs
from store.series_row import lock_project
from store.trust import Action
from store.trust_log import flips_before, log_action


def start_epoch(connection: Connection, action: Action, new: NewEpoch) -> TrustChange:
    """The transaction of `start_epoch`; safe to repeat with the same epoch id."""
    lock_project(connection, action.project, exclusive=True)
    done = flips_before(connection, action)
    if done is not None:
        return TrustChange(tuple(done), epoch_id=new.epoch_id)
    start = find_start(connection, new)
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
    return TrustChange((), epoch_id=new.epoch_id)


def undo_epoch(connection: Connection, action: Action, epoch_id: str) -> TrustChange:
    """The transaction of `undo_epoch`; safe to repeat with the same action."""
    lock_project(connection, action.project, exclusive=True)
    done = flips_before(connection, action)
    if done is not None:
        return TrustChange(tuple(done), epoch_id=epoch_id)
    epoch = find_epoch(connection, action.project, epoch_id)
    if epoch.undone_at is not None:
        raise StoreConflict(f"epoch {epoch_id} was undone at {epoch.undone_at:%Y-%m-%d %H:%M:%SZ} already")
    queue(connection, epochs.update().where(epochs.c.epoch_id == epoch_id).values(undone_at=action.at))
    log_action(connection, action)
    return TrustChange((), epoch_id=epoch_id)
