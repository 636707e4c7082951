"""Settings of a project that hold for everybody at once. Each change is a line of the trust log.

So far one: whether verdicts may fail jobs.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, select
from sqlalchemy.dialects import postgresql, sqlite

from store.connections import queue
from store.operations import EnforcementSwitch
from store.schema import settings
from store.series_row import lock_project
from store.trust import ENFORCEMENT_ON, Action
from store.trust_log import log_action

ENFORCEMENT = "enforcement"


def get_enforcement(connection: Connection, project: str) -> EnforcementSwitch:
    """On where nobody has ever touched it."""
    return _switch(_stored(connection, project))


def plan_enforcement(connection: Connection, action: Action) -> EnforcementSwitch:
    """What `set_enforcement` would answer."""
    return _planned(_stored(connection, action.project), action)


def set_enforcement(connection: Connection, action: Action) -> EnforcementSwitch:
    """The transaction of a turn of the switch; safe to repeat with the same action, whose name says which way."""
    lock_project(connection, action.project, exclusive=True)
    stored = _stored(connection, action.project)
    if stored is not None and stored["operation"] == action.operation:
        return _switch(stored, changed=True)
    planned = _planned(stored, action)
    if planned.changed:
        row = {"project": action.project, "name": ENFORCEMENT, "value": _value(action)}
        queue(connection, _upsert(connection), row)
        log_action(connection, action)
    return planned


def _planned(stored: dict[str, Any] | None, action: Action) -> EnforcementSwitch:
    before, wanted = _switch(stored), _value(action)
    return before if before.on == wanted["on"] else _switch(wanted, changed=True)


def _stored(connection: Connection, project: str) -> dict[str, Any] | None:
    this = and_(settings.c.project == project, settings.c.name == ENFORCEMENT)
    value: dict[str, Any] | None = connection.scalar(select(settings.c.value).where(this))
    return value


def _value(action: Action) -> dict[str, Any]:
    return {
        "on": action.name == ENFORCEMENT_ON,
        "reason": action.reason,
        "actor": action.actor,
        "changed_at": action.at.isoformat(),
        "operation": action.operation,
    }


def _switch(stored: dict[str, Any] | None, *, changed: bool = False) -> EnforcementSwitch:
    if stored is None:
        return EnforcementSwitch(on=True)
    changed_at = datetime.fromisoformat(stored["changed_at"])
    return EnforcementSwitch(stored["on"], stored["reason"], stored["actor"], changed_at, changed)


def _upsert(connection: Connection) -> Any:
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    new = dialect.insert(settings)
    return new.on_conflict_do_update(index_elements=["project", "name"], set_={"value": new.excluded.value}).inline()
