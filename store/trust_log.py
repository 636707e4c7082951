"""The trust of runs as it stands, its changes, and the lines of the append-only log: written together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, select

from store.connections import queue
from store.schema import runs, trust_events
from store.trust import MARK_UNTRUSTED, Action, Change, Trust, event_row, rule_row


def select_trust() -> Select[Any]:
    """In order of arrival."""
    return select(
        runs.c.seq,
        runs.c.run_id,
        runs.c.trusted,
        runs.c.marked,
        runs.c.marked_by,
        runs.c.untrusted_reason,
        runs.c.superseded_by,
        runs.c.ci_run_id,
        runs.c.commit_sha,
    ).order_by(runs.c.seq)


def trust_of(row: Any) -> Trust:
    return Trust(row.trusted, row.marked, row.untrusted_reason, row.marked_by)


def before_marks(connection: Connection, held: ColumnElement[bool]) -> dict[int, Trust]:
    """By seq, what each held run was before the selector that holds it last took it, from the log."""
    lines = connection.execute(
        select(trust_events)
        .join(runs, runs.c.seq == trust_events.c.run_seq)
        .where(held, trust_events.c.selector == runs.c.marked_by, trust_events.c.action == MARK_UNTRUSTED)
        .order_by(trust_events.c.id)
    )
    return {line.run_seq: trust_before(line) for line in lines}


def trust_before(line: Any) -> Trust:
    """The trust from before a line of the log, of a run that no selector held."""
    return Trust(line.trusted_before, line.marked_before, line.reason_before)


def log_action(connection: Connection, action: Action) -> None:
    """The line that belongs to no single run: a rule set or lifted, an epoch started or undone."""
    queue(connection, trust_events.insert().inline(), rule_row(action))


def apply_changes(connection: Connection, action: Action, changes: Mapping[int, Change]) -> list[str]:
    """``changes`` by the run's seq. Returns what `flipped` tells of them."""
    if not changes:
        return []
    update = runs.update().where(runs.c.seq == bindparam("changed_seq"))
    rows = [
        {
            "changed_seq": seq,
            "trusted": change.after.trusted,
            "marked": change.after.marked,
            "marked_by": change.after.marked_by,
            "untrusted_reason": change.after.reason,
        }
        for seq, change in changes.items()
    ]
    queue(connection, update, rows)
    lines = [event_row(action, change) | {"run_seq": seq} for seq, change in changes.items()]
    queue(connection, trust_events.insert().inline(), lines)
    return flipped(changes)


def flipped(changes: Mapping[int, Change]) -> list[str]:
    """The ids of the runs whose trust flips, in order of arrival."""
    return [changes[seq].run_id for seq in sorted(changes) if changes[seq].flips]


def flips_before(connection: Connection, action: Action) -> list[str] | None:
    """What this very call changed before its connection was lost; None where it never came to that."""
    lines = connection.execute(
        select(trust_events.c.changed, runs.c.run_id)
        .join(runs, runs.c.seq == trust_events.c.run_seq, isouter=True)
        .where(trust_events.c.operation == action.operation, trust_events.c.action == action.name)
        .order_by(trust_events.c.run_seq)
    ).all()
    return [line.run_id for line in lines if line.changed] if lines else None
