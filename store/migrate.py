"""The schema's revision: which one a database has, which one this driftgate needs, and the way from one to the other.

Alembic is imported only where something has to be upgraded: it costs more than opening a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from store.engine import make_engine
from store.errors import SchemaMismatch, StoreUnavailable
from store.failures import UPGRADE_HINT, is_missing, translated
from store.schema import VIEWS, metadata
from store.urls import parse_url, shown, sqlite_path

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0002"
KNOWN_REVISIONS = ("0001", HEAD)


def upgrade(url: str) -> str:
    """Bring the database to this driftgate's schema, or leave it as it was; returns the revision.

    Raises: StoreUnavailable, SchemaMismatch (made by a newer driftgate).
    """
    parsed = parse_url(url)
    make_folder(parsed)
    engine = make_engine(parsed, one_shot=True)
    isolation = {} if parsed.drivername == "sqlite" else {"isolation_level": "READ COMMITTED"}
    try:
        with (
            translated(parsed),
            engine.connect().execution_options(writes=True, **isolation) as connection,
            connection.begin(),
        ):
            upgrade_connection(parsed, connection)
    finally:
        engine.dispose()
    return HEAD


def current(url: str) -> str | None:
    """The database's revision, None where there is no schema yet. Creates nothing."""
    parsed = parse_url(url)
    path = sqlite_path(parsed)
    if parsed.drivername == "sqlite" and (path is None or not path.exists()):
        return None
    engine = make_engine(parsed, one_shot=True)
    try:
        with translated(parsed), engine.connect() as connection:
            return revision_of(connection)
    finally:
        engine.dispose()


def revision_of(connection: Connection) -> str | None:
    """None where there is no schema. Needs a connection outside of a transaction, or SQLite."""
    try:
        revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    except DBAPIError as error:
        if is_missing(error):
            return None
        raise
    return revision


def upgrade_connection(url: URL, connection: Connection) -> None:
    """Upgrade inside the caller's transaction, which on SQLite already holds the write lock."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('driftgate db upgrade'))"))
    if known_revision(url, connection) == HEAD:
        return
    from alembic import command  # noqa: PLC0415 - see the module's first lines

    command.upgrade(alembic_config(connection), "head")


def known_revision(url: URL, connection: Connection) -> str | None:
    """The revision inside the caller's transaction, None where the database is free for our schema.

    Raises: SchemaMismatch (made by a newer driftgate), StoreUnavailable (tables of something else are in our way).
    """
    # On Postgres a statement that fails, as `revision_of` may, would end the transaction.
    found = revision_of(connection) if inspect(connection).has_table("alembic_version") else None
    refuse_newer(url, found)
    if found is None:
        _refuse_foreign(url, connection)
    return found


def _refuse_foreign(url: URL, connection: Connection) -> None:
    present = inspect(connection)
    taken = {*present.get_table_names(), *present.get_view_names()} & {*metadata.tables, *VIEWS}
    if taken:
        raise StoreUnavailable(
            f"{shown(url)}: holds tables of something else, among them {min(taken)!r}, and was left as it is; "
            "choose another file or database"
        )


def refuse_newer(url: URL, found: str | None) -> None:
    if found is not None and found not in KNOWN_REVISIONS:
        raise SchemaMismatch(
            f"{shown(url)}: its schema {found} is newer than this driftgate knows ({HEAD}); install a newer driftgate"
        )


def require_head(url: URL, found: str | None) -> None:
    """Raises `SchemaMismatch` unless the database has this driftgate's schema."""
    refuse_newer(url, found)
    if found is None:
        raise SchemaMismatch(f"{shown(url)}: the database has no driftgate schema yet; {UPGRADE_HINT}")
    if found != HEAD:
        raise SchemaMismatch(f"{shown(url)}: its schema {found} is older than {HEAD}; {UPGRADE_HINT}")


def alembic_config(connection: Connection) -> Config:
    from alembic.config import Config  # noqa: PLC0415 - see the module's first lines

    config = Config()
    config.set_main_option("script_location", "migrations:")
    config.attributes["connection"] = connection
    return config


def make_folder(url: URL) -> None:
    """Create the folder of a SQLite file, so that a first use needs no preparation."""
    path = sqlite_path(url)
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"{path}: its folder cannot be created: {error.strerror}") from error
