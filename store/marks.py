"""Marks: operators take runs out of every baseline and put them back, and each change leaves a line in the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, select

from store.connections import queue
from store.errors import NotFound, StoreConflict
from store.schema import mark_rules, runs, trust_events
from store.selectors import Selector, covering
from store.series_row import lock_project
from store.trust import MARK_UNTRUSTED, Action, Change, Trust, held_by_rule
from store.trust_log import apply_changes, flips_before, log_action


def mark_untrusted(connection: Connection, action: Action, selector: Selector) -> list[str]:
    """Returns the ids of the runs that changed from trusted to untrusted, oldest first."""
    lock_project(connection, action.project, exclusive=True)
    done = flips_before(connection, action)
    if done is not None:
        return done
    if selector.standing:
        _set_rule(connection, action)
    after = Trust(trusted=False, marked=False, reason=action.reason, marked_by=str(selector))
    changes = {}
    for row in _selected(connection, action, selector):
        before = _trust_of(row)
        # A standing mark leaves runs alone that another mark holds already; a mark by run id outlives every rule.
        if before.marked is not False if selector.standing else before.marked_by != after.marked_by:
            changes[row.seq] = Change(row.run_id, before, after)
    return apply_changes(connection, action, changes)


def mark_trusted(connection: Connection, action: Action, selector: Selector) -> list[str]:
    """Returns the ids of the runs that changed from untrusted to trusted, oldest first."""
    lock_project(connection, action.project, exclusive=True)
    done = flips_before(connection, action)
    if done is not None:
        return done
    if selector.standing:
        _lift_rule(connection, action)
        return _lift(connection, action, selector)
    (row,) = _selected(connection, action, selector)
    if row.superseded_by is not None:
        raise StoreConflict(
            f"run {row.run_id} is superseded by run {row.superseded_by} and cannot be trusted; mark that one"
        )
    change = Change(row.run_id, _trust_of(row), Trust(trusted=True, marked=True, reason=None))
    return apply_changes(connection, action, {row.seq: change} if change.flips else {})


def _lift(connection: Connection, action: Action, selector: Selector) -> list[str]:
    """Each run that this selector holds gets back what it had, or passes to another standing mark that covers it."""
    held = and_(runs.c.project == action.project, runs.c.marked_by == str(selector), runs.c.superseded_by.is_(None))
    before_mark = _before_mark(connection, held, selector)
    rules = _rules(connection, action.project)
    freed: dict[int, Change] = {}
    for row in connection.execute(_select_trust().where(held)).all():
        back = before_mark[row.seq]
        other = next((one for one in covering(row.ci_run_id, row.commit_sha) if one in rules), None)
        if other is None:
            freed[row.seq] = Change(row.run_id, _trust_of(row), back)
        else:
            taking = replace(action, selector=other, reason=rules[other], name=MARK_UNTRUSTED)
            apply_changes(connection, taking, {row.seq: Change(row.run_id, back, held_by_rule(other, rules[other]))})
    return apply_changes(connection, action, freed)


def _before_mark(connection: Connection, held: ColumnElement[bool], selector: Selector) -> dict[int, Trust]:
    """What each held run was before this selector last took it, from the log."""
    lines = connection.execute(
        select(trust_events)
        .join(runs, runs.c.seq == trust_events.c.run_seq)
        .where(held, trust_events.c.selector == str(selector), trust_events.c.action == MARK_UNTRUSTED)
        .order_by(trust_events.c.id)
    )
    return {line.run_seq: Trust(line.trusted_before, line.marked_before, line.reason_before) for line in lines}


def _select_trust() -> Select[Any]:
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
    )


def _trust_of(row: Any) -> Trust:
    return Trust(row.trusted, row.marked, row.untrusted_reason, row.marked_by)


def _selected(connection: Connection, action: Action, selector: Selector) -> Sequence[Any]:
    value = int(selector.value) if selector.kind == "ci_run_id" else selector.value
    covered = and_(runs.c.project == action.project, runs.c[selector.kind] == value)
    found = connection.execute(_select_trust().where(covered)).all()
    if not found and not selector.standing:
        raise NotFound(f"no run {selector.value!r} in project {action.project!r}; `driftgate runs list` shows what is")
    return found


def _set_rule(connection: Connection, action: Action) -> None:
    if action.selector in _rules(connection, action.project):
        return
    rule = {
        "project": action.project,
        "selector": action.selector,
        "reason": action.reason,
        "actor": action.actor,
        "created_at": action.at,
    }
    queue(connection, mark_rules.insert().inline(), rule)
    log_action(connection, action)


def _lift_rule(connection: Connection, action: Action) -> None:
    if action.selector not in _rules(connection, action.project):
        return
    in_force = and_(
        mark_rules.c.project == action.project,
        mark_rules.c.selector == action.selector,
        mark_rules.c.lifted_at.is_(None),
    )
    queue(connection, mark_rules.update().where(in_force).values(lifted_at=action.at))
    log_action(connection, action)


def _rules(connection: Connection, project: str) -> dict[str, str]:
    """The standing rules in force, by selector, with their reasons."""
    rows = connection.execute(
        select(mark_rules.c.selector, mark_rules.c.reason).where(
            mark_rules.c.project == project, mark_rules.c.lifted_at.is_(None)
        )
    )
    return {row.selector: row.reason for row in rows}
