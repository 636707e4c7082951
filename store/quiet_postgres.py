"""SQLAlchemy's psycopg dialect without its questions at the first connection: four round trips less."""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

OLDEST_SERVER = (12,)


class QuietPostgres(PGDialect_psycopg):
    """What it would ask is the same on every server this store supports."""

    supports_statement_cache = True

    def initialize(self, connection: Connection) -> None:  # noqa: ARG002 - the signature is SQLAlchemy's
        self.server_version_info = OLDEST_SERVER
        self.default_isolation_level = "READ COMMITTED"
