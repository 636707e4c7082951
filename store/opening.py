"""Open a store by its URL."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import Engine
from sqlalchemy.engine import URL

from gate.policy import GatePolicy
from store.connections import Connections
from store.contract import MetricHistoryStore, TrustGrain
from store.engine import make_engine, set_journal
from store.failures import translated
from store.migrate import HEAD, known_revision, make_folder, upgrade_connection
from store.sql_store import SqlMetricHistoryStore
from store.urls import is_service_url, parse_url, sqlite_path

STRICT = GatePolicy()


def open_store(
    url: str,
    *,
    one_shot: bool = True,
    trust: TrustGrain = "run",
    journal: Literal["wal", "delete"] = "wal",
    policy: GatePolicy = STRICT,
) -> MetricHistoryStore:
    """A store that the caller closes, best by ``with``: a service's for ``https://``, else `open_database`.

    A service is reached at the first call, with the token of the environment (`store.http_tokens`), and has a
    ``trust`` and a ``policy`` of its own.

    Raises: as `open_database`.
    """
    if is_service_url(url):
        from store.http_store import HttpMetricHistoryStore  # noqa: PLC0415 - who has a database needs no HTTP client

        return HttpMetricHistoryStore(url)
    return open_database(url, one_shot=one_shot, trust=trust, journal=journal, policy=policy)


def open_database(
    url: str,
    *,
    one_shot: bool = True,
    trust: TrustGrain = "run",
    journal: Literal["wal", "delete"] = "wal",
    policy: GatePolicy = STRICT,
) -> SqlMetricHistoryStore:
    """The store of a database, which the caller closes, best by ``with``.

    A SQLite file is made with its folder, and brought to this driftgate's schema. Postgres is reached at the first
    call, and is never changed here: its schema belongs to ``driftgate db upgrade``. ``one_shot``: connections end with
    the call (or the `pinned` block) that made them; a service passes False and keeps a pool. ``trust``: whether
    whole runs or single gate specs serve as baselines. ``policy``: by what a dry run takes the means that it tells.

    Raises: ConfigError (a URL nobody can use), StoreUnavailable, SchemaMismatch.
    """
    parsed = parse_url(url)
    make_folder(parsed)
    engine = make_engine(parsed, one_shot=one_shot)
    if parsed.drivername == "sqlite":
        _prepare_sqlite(parsed, engine, journal)
    return SqlMetricHistoryStore(Connections(parsed, engine), trust, policy)


def _prepare_sqlite(url: URL, engine: Engine, journal: str) -> None:
    """Nothing in the file changes before it is known to be ours, or free for us."""
    try:
        with translated(url), engine.connect() as connection:
            with connection.begin():
                found = known_revision(url, connection)
            if sqlite_path(url) is not None:
                set_journal(connection, journal)
            if found != HEAD:
                connection.execution_options(writes=True)
                with connection.begin():
                    upgrade_connection(url, connection)
    except BaseException:
        engine.dispose()
        raise
