"""Marks: operators take runs out of every baseline and put them back, and each change leaves a line in the log.

What a mark changes is planned by reading alone, so that a dry run tells exactly what the mark would do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, and_, bindparam, select

from store.connections import queue
from store.contract import ActionResult
from store.errors import NotFound, StoreConflict
from store.schema import mark_rules, runs
from store.selectors import Selector, covering
from store.series_row import lock_project
from store.trust import MARK_TRUSTED, MARK_UNTRUSTED, Action, Change, Trust, held_by_rule
from store.trust_log import apply_changes, before_marks, flips_before, log_action, select_trust, trust_of


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes by the run's seq. ``passed_on``: runs that go from a lifted rule to another one that covers them."""

    changes: Mapping[int, Change]
    passed_on: Sequence[tuple[Action, Mapping[int, Change]]] = field(default=())


def mark(connection: Connection, action: Action, selector: Selector) -> ActionResult:
    """The transaction of a mark; safe to repeat with the same action."""
    lock_project(connection, action.project, exclusive=True)
    done = flips_before(connection, action)
    if done is not None:
        return ActionResult(tuple(done))
    plan = plan_mark(connection, action, selector)
    if selector.standing:
        (_lift_rule if action.name == MARK_TRUSTED else _set_rule)(connection, action)
    for taking, changes in plan.passed_on:
        apply_changes(connection, taking, changes)
    return ActionResult(tuple(apply_changes(connection, action, plan.changes)))


def plan_mark(connection: Connection, action: Action, selector: Selector) -> Plan:
    """Raises NotFound and StoreConflict as the contract says."""
    if action.name == MARK_UNTRUSTED:
        return Plan(_taken(connection, action, selector))
    return _freed(connection, action, selector) if selector.standing else Plan(_trusted(connection, action, selector))


def _taken(connection: Connection, action: Action, selector: Selector) -> dict[int, Change]:
    after = Trust(trusted=False, marked=False, reason=action.reason, marked_by=str(selector))
    changes = {}
    for row in _selected(connection, action, selector):
        before = trust_of(row)
        # A standing mark leaves runs alone that another mark holds already; a mark by run id outlives every rule.
        if before.marked is not False if selector.standing else before.marked_by != after.marked_by:
            changes[row.seq] = Change(row.run_id, before, after)
    return changes


def _trusted(connection: Connection, action: Action, selector: Selector) -> dict[int, Change]:
    (row,) = _selected(connection, action, selector)
    if row.superseded_by is not None:
        counts_now = _end_of_chain(connection, action.project, row.superseded_by)
        raise StoreConflict(f"run {row.run_id} is superseded by run {counts_now} and cannot be trusted; mark that one")
    change = Change(row.run_id, trust_of(row), Trust(trusted=True, marked=True, reason=None))
    return {row.seq: change} if change.flips else {}


def _end_of_chain(connection: Connection, project: str, run_id: str) -> str:
    """The run that counts: one that superseded another may itself be superseded."""
    superseded_by = select(runs.c.superseded_by).where(runs.c.project == project, runs.c.run_id == bindparam("beaten"))
    while (later := connection.scalar(superseded_by, {"beaten": run_id})) is not None:
        run_id = later
    return run_id


def _freed(connection: Connection, action: Action, selector: Selector) -> Plan:
    """Each run that this selector holds gets back what it had, or passes to another standing mark that covers it.

    A superseded one too, though it counts no more than before: the mark is undone exactly.
    """
    held = and_(runs.c.project == action.project, runs.c.marked_by == str(selector))
    before_mark = before_marks(connection, held)
    others = {rule: reason for rule, reason in _rules(connection, action.project).items() if rule != str(selector)}
    freed: dict[int, Change] = {}
    passed_on: list[tuple[Action, Mapping[int, Change]]] = []
    for row in connection.execute(select_trust().where(held)).all():
        back = before_mark[row.seq]
        other = next((one for one in covering(row.ci_run_id, row.commit_sha) if one in others), None)
        if other is None:
            freed[row.seq] = Change(row.run_id, trust_of(row), back)
        else:
            taking = replace(action, selector=other, reason=others[other], name=MARK_UNTRUSTED)
            passed_on.append((taking, {row.seq: Change(row.run_id, back, held_by_rule(other, others[other]))}))
    return Plan(freed, passed_on)


def _selected(connection: Connection, action: Action, selector: Selector) -> Sequence[Any]:
    value = int(selector.value) if selector.kind == "ci_run_id" else selector.value
    covered = and_(runs.c.project == action.project, runs.c[selector.kind] == value)
    found = connection.execute(select_trust().where(covered)).all()
    if not found and not selector.standing:
        raise NotFound(
            f"no run {selector.value!r:.80} in project {action.project!r}; `driftgate runs list` shows what is"
        )
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
