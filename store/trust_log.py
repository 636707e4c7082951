"""Changes of trust carried out: the runs' columns and the lines of the append-only log, together."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, bindparam, select

from store.connections import queue
from store.schema import runs, trust_events
from store.trust import Action, Change, event_row, rule_row


def log_action(connection: Connection, action: Action) -> None:
    """The line that belongs to no single run: a rule set or lifted, an epoch started or undone."""
    queue(connection, trust_events.insert().inline(), rule_row(action))


def apply_changes(connection: Connection, action: Action, changes: Mapping[int, Change]) -> list[str]:
    """``changes`` by the run's seq. Returns the ids of the runs whose trust flipped, oldest first."""
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
