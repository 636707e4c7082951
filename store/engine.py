"""Engines: what each database needs before the first query. Postgres gets no session state: a pooler would lose it."""

from __future__ import annotations

import time
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, StaticPool

from store.urls import sqlite_path

CONNECT_TIMEOUT_S = 15
BUSY_TIMEOUT_S = 10
POOL_RECYCLE_S = 240
KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""So that a server which vanished without a word is noticed within a minute."""

registry.register("postgresql.quiet", "store.quiet_postgres", "QuietPostgres")


def make_engine(url: URL, *, one_shot: bool, connect_timeout_s: int | None = None) -> Engine:
    """``one_shot``: connections end with the call that made them; else they are pooled and checked before use."""
    if url.drivername == "sqlite":
        return _sqlite_engine(url)
    return _postgres_engine(url, one_shot=one_shot, connect_timeout_s=connect_timeout_s or CONNECT_TIMEOUT_S)


def set_journal(connection: Connection, journal: str) -> None:
    """Of a SQLite file, for good. Tried until the file is free: for a change of journal SQLite does not wait by itself.

    Needs a connection outside of a transaction. A file system that cannot keep the journal asked for keeps its own.
    """
    driver: Any = connection.connection.driver_connection
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            if driver.execute("PRAGMA journal_mode").fetchone() != (journal,):
                driver.execute(f"PRAGMA journal_mode = {journal}")
            break
        except driver.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise DBAPIError(None, None, error) from error
        time.sleep(0.01)


def _json_text(value: Any) -> str:
    return orjson.dumps(value, default=dict).decode()


def _postgres_engine(url: URL, *, one_shot: bool, connect_timeout_s: int) -> Engine:
    pool: dict[str, Any] = (
        {"poolclass": NullPool} if one_shot else {"pool_pre_ping": True, "pool_recycle": POOL_RECYCLE_S}
    )
    return create_engine(
        url.set(drivername="postgresql+quiet"),
        # Prepared statements outlive a pooled transaction: the next client of the server connection gets their rows.
        connect_args={"prepare_threshold": None, "connect_timeout": connect_timeout_s, **KEEPALIVE},
        use_native_hstore=False,
        # Reads and writes send BEGIN and COMMIT themselves, together with their work.
        isolation_level="AUTOCOMMIT",
        json_serializer=_json_text,
        json_deserializer=orjson.loads,
        **pool,
    )


def _sqlite_engine(url: URL) -> Engine:
    in_memory = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    engine = create_engine(
        url,
        json_serializer=_json_text,
        json_deserializer=orjson.loads,
        **(in_memory if sqlite_path(url) is None else {}),
    )
    event.listen(engine, "connect", lambda connection, _: _prepare_sqlite(connection))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any) -> None:
    # The driver would begin transactions by itself, and too late for BEGIN IMMEDIATE.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000}")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    mode = "IMMEDIATE" if connection.get_execution_options().get("writes") else "DEFERRED"
    connection.exec_driver_sql(f"BEGIN {mode}")
