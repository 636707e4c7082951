"""SQLAlchemy's psycopg dialect in fewer round trips.

It asks nothing at the first connection: what it must know the server has said when the connection was made. And a read
brings its own transaction along, for the sake of the setting that ends with it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from store.pipelines import pipeline


class QuietPostgres(PGDialect_psycopg):
    """See above. Under the execution option ``read_timeout_ms`` each statement is a transaction of its own.

    ``default_schema_name`` stays unknown: nothing of ours names a schema.
    """

    supports_statement_cache = True

    def do_execute(self, cursor: Any, statement: Any, parameters: Any, context: Any = None) -> None:
        timeout_ms = context.execution_options.get("read_timeout_ms")
        if timeout_ms is None:
            cursor.execute(statement, parameters)
            return
        with pipeline(cursor.connection):
            cursor.connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            cursor.connection.execute(f"SET LOCAL statement_timeout = {timeout_ms}")
            cursor.execute(statement, parameters)
            cursor.connection.execute("COMMIT")

    def _get_server_version_info(self, connection: Connection) -> tuple[int, ...]:
        major, minor = divmod(_said_by_server(connection).server_version, 10_000)
        return (major, minor)

    def _set_backslash_escapes(self, connection: Connection) -> None:
        self._backslash_escapes = _said_by_server(connection).parameter_status("standard_conforming_strings") == "off"

    def _get_default_schema_name(self, connection: Connection) -> str:
        raise NotImplementedError

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:  # noqa: ARG002 - the signature is SQLAlchemy's
        return "READ COMMITTED"


def _said_by_server(connection: Connection) -> Any:
    driver: Any = connection.connection.driver_connection
    return driver.info
