"""Who holds a connection and for how long: one call, or one gate call where it is pinned. Owns every transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from store.failures import translated
from store.migrate import require_head, revision_of
from store.pipelines import pipeline
from store.retry import DELAYS_S, retrying

T = TypeVar("T")

STATEMENT_TIMEOUT_MS = 30_000


class Connections:
    """Runs units of work, each in one transaction, and each again where the connection was lost.

    A unit of work must be safe to repeat. Calls from several threads are safe.
    """

    def __init__(self, url: URL, engine: Engine) -> None:
        self._url = url
        self._engine = engine
        self._held = threading.local()
        self._schema_known = engine.dialect.name == "sqlite"
        shared = isinstance(engine.pool, StaticPool)
        self._turn: AbstractContextManager[Any] = threading.RLock() if shared else nullcontext()
        event.listen(engine, "after_cursor_execute", _send_unless_queued)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work``: each of its statements is a transaction of its own, in one round trip."""
        return self._run(work, _single_statements)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in one transaction: all of it or nothing. Its statements without rows travel together."""
        return self._run(work, _transaction)

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """One connection for every call that this thread makes inside the block; a block inside a block shares it."""
        if hasattr(self._held, "connection"):
            yield
            return
        with translated(self._url), self._turn:
            connection = retrying(self._engine.connect, DELAYS_S)
        with connection:
            self._held.connection = connection
            try:
                yield
            finally:
                del self._held.connection

    def close(self) -> None:
        self._engine.dispose()

    def _run(
        self, work: Callable[[Connection], T], transaction: Callable[[Connection], AbstractContextManager[Any]]
    ) -> T:
        def attempt() -> T:
            with self._turn, self._connection() as connection:
                self._check_schema(connection)
                with transaction(connection):
                    return work(connection)

        with translated(self._url):
            return retrying(attempt, DELAYS_S)

    def _connection(self) -> AbstractContextManager[Connection]:
        held: Connection | None = getattr(self._held, "connection", None)
        return self._engine.connect() if held is None else nullcontext(held)

    def _check_schema(self, connection: Connection) -> None:
        if self._schema_known:
            return
        with _single_statements(connection):
            found = revision_of(connection)
        require_head(self._url, found)
        self._schema_known = True


@contextmanager
def _single_statements(connection: Connection) -> Iterator[None]:
    connection.execution_options(writes=False, read_timeout_ms=STATEMENT_TIMEOUT_MS)
    with connection.begin():
        yield


@contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    connection.execution_options(writes=True, read_timeout_ms=None)
    with connection.begin():
        if connection.dialect.name == "postgresql":
            with _pipeline(connection):
                queue(connection, text("BEGIN ISOLATION LEVEL READ COMMITTED"))
                queue(connection, text(f"SET LOCAL statement_timeout = {STATEMENT_TIMEOUT_MS}"))
                yield
                queue(connection, text("COMMIT"))
        else:
            yield


@contextmanager
def _pipeline(connection: Connection) -> Iterator[None]:
    """Statements travel with the next one that has rows, the last ones with the end of the block."""
    driver: Any = connection.connection.driver_connection
    dbapi: Any = connection.dialect.loaded_dbapi
    info = connection.info
    try:
        with pipeline(driver) as opened:
            info["pipeline"] = opened
            yield
    except dbapi.Error as error:
        # Raised at the end of the block, where SQLAlchemy does not see it.
        if driver.closed:
            connection.invalidate(error)
        raise DBAPIError(None, None, error, connection_invalidated=driver.closed) from error
    finally:
        del info["pipeline"]


def queue(connection: Connection, statement: Any, parameters: Any = None) -> None:
    """Execute without waiting: the statement's rows, if any, are not read. On SQLite it is a plain execute."""
    connection.execute(statement, parameters, execution_options={"queued": True})


def _send_unless_queued(connection: Connection, *details: Any) -> None:
    opened = connection.info.get("pipeline")
    context = details[3]
    if opened is not None and not context.execution_options.get("queued"):
        opened.sync()
