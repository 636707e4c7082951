"""Engines: what each database needs before the first query. Postgres gets no session state: a pooler would lose it."""

from __future__ import annotations

import time
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool, StaticPool

from store.urls import sqlite_path

CONNECT_TIMEOUT_S = 15
BUSY_TIMEOUT_S = 10
POOL_RECYCLE_S = 240
KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""So that a server which vanished without a word is noticed within a minute."""

registry.register("postgresql.quiet", "store.quiet_postgres", "QuietPostgres")


def make_engine(url: URL, *, one_shot: bool, journal: str | None) -> Engine:
    """``one_shot``: connections end with the call that made them; else they are pooled and checked before use.
    ``journal``: SQLite's, None leaves it as it is.
    """
    if url.drivername == "sqlite":
        return _sqlite_engine(url, journal)
    return _postgres_engine(url, one_shot=one_shot)


def _json_text(value: Any) -> str:
    return orjson.dumps(value, default=dict).decode()


def _postgres_engine(url: URL, *, one_shot: bool) -> Engine:
    pool: dict[str, Any] = (
        {"poolclass": NullPool} if one_shot else {"pool_pre_ping": True, "pool_recycle": POOL_RECYCLE_S}
    )
    return create_engine(
        url.set(drivername="postgresql+quiet"),
        # Prepared statements outlive a pooled transaction: the next client of the server connection gets their rows.
        connect_args={"prepare_threshold": None, "connect_timeout": CONNECT_TIMEOUT_S, **KEEPALIVE},
        use_native_hstore=False,
        # A read is one statement, one round trip; a write sends BEGIN and COMMIT itself, together with its work.
        isolation_level="AUTOCOMMIT",
        json_serializer=_json_text,
        json_deserializer=orjson.loads,
        **pool,
    )


def _sqlite_engine(url: URL, journal: str | None) -> Engine:
    path = sqlite_path(url)
    engine = create_engine(
        url,
        json_serializer=_json_text,
        json_deserializer=orjson.loads,
        **({"poolclass": StaticPool, "connect_args": {"check_same_thread": False}} if path is None else {}),
    )
    event.listen(engine, "connect", lambda connection, _: _prepare_sqlite(connection, journal if path else None))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, journal: str | None) -> None:
    # The driver would begin transactions by itself, and too late for BEGIN IMMEDIATE.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000}")
    connection.execute("PRAGMA foreign_keys = ON")
    if journal is not None:
        _set_journal(connection, journal)


def _set_journal(connection: Any, journal: str) -> None:
    """Try until the file is free: for a change of journal SQLite does not wait by itself."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while connection.execute("PRAGMA journal_mode").fetchone() != (journal,):
        try:
            connection.execute(f"PRAGMA journal_mode = {journal}")
        except connection.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    mode = "IMMEDIATE" if connection.get_execution_options().get("writes") else "DEFERRED"
    connection.exec_driver_sql(f"BEGIN {mode}")
