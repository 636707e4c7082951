"""The row of a series: made on first use, locked by whoever writes below it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Table, func, select
from sqlalchemy.dialects import postgresql, sqlite

from gate.identity import SeriesIdentity
from store.addressing import address, this_series
from store.connections import queue
from store.schema import series


def lock_series(connection: Connection, identity: SeriesIdentity) -> None:
    """Until the transaction ends, no other writer works on this series, and no mark is set in its project."""
    lock_project(connection, identity.project, exclusive=False)
    queue(connection, insert_new(connection, series), asdict(identity))
    queue(connection, select(series.c.id).where(series.c.id == this_series()).with_for_update(), address(identity))


def lock_project(connection: Connection, project: str, *, exclusive: bool) -> None:
    """Writers share a project; who marks has it alone, so that no run slips past a rule in the moment it is set.

    The lock belongs to the transaction, so a transaction pooler keeps it right. SQLite has one writer anyway.
    """
    if connection.dialect.name == "postgresql":
        function = "pg_advisory_xact_lock" if exclusive else "pg_advisory_xact_lock_shared"
        queue(connection, select(getattr(func, function)(func.hashtextextended(f"driftgate {project}", 0))))


def insert_new(connection: Connection, table: Table) -> Any:
    """An insert that leaves an existing row alone, also one that another writer is making at this moment."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table).on_conflict_do_nothing().inline()
