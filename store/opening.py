"""Open a store by its URL."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import Engine
from sqlalchemy.engine import URL

from gate.policy import GatePolicy
from store.connections import Connections
from store.contract import TrustGrain
from store.engine import make_engine
from store.failures import translated
from store.migrate import HEAD, make_folder, refuse_newer, revision_of, upgrade_connection
from store.sql_store import SqlMetricHistoryStore
from store.urls import parse_url

STRICT = GatePolicy()


def open_store(
    url: str,
    *,
    one_shot: bool = True,
    trust: TrustGrain = "run",
    journal: Literal["wal", "delete"] = "wal",
    policy: GatePolicy = STRICT,
) -> SqlMetricHistoryStore:
    """A store that the caller closes, best by ``with``.

    A SQLite file is made with its folder, and brought to this driftgate's schema. Postgres is reached at the first
    call, and is never changed here: its schema belongs to ``driftgate db upgrade``. ``one_shot``: connections end with
    the call (or the `pinned` block) that made them; a service passes False and keeps a pool. ``trust``: whether
    whole runs or single gate specs serve as baselines. ``policy``: by what a dry run takes the means that it tells.

    Raises: ConfigError (a URL nobody can use), StoreUnavailable, SchemaMismatch.
    """
    parsed = parse_url(url)
    make_folder(parsed)
    engine = make_engine(parsed, one_shot=one_shot, journal=journal)
    if parsed.drivername == "sqlite":
        _prepare_sqlite(parsed, engine)
    return SqlMetricHistoryStore(Connections(parsed, engine), trust, policy)


def _prepare_sqlite(url: URL, engine: Engine) -> None:
    try:
        with translated(url), engine.connect() as connection:
            with connection.begin():
                found = revision_of(connection)
            if found == HEAD:
                return
            refuse_newer(url, found)
            connection.execution_options(writes=True)
            with connection.begin():
                upgrade_connection(url, connection)
    except BaseException:
        engine.dispose()
        raise
