"""Sessions of the pages, and the login links that begin one. Only hashes are stored; each ends by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from store.connections import Connections, queue
from store.schema import sessions, tokens
from store.secret_text import LOGIN_KEY, SESSION, is_hash_of, new_secret, secret_hash
from store.series_row import insert_new
from store.tokens import Scope, Token, token_of, utc_now

SESSION_LIFETIME = timedelta(days=1)
LOGIN_LINK_LIFETIME = timedelta(days=1)
LINK_SCOPE: Scope = "operate"
"""Of a session that a login link begins: the pages are for operators, and write no runs."""


@dataclass(frozen=True, slots=True)
class Session:
    """``token`` None: it began with a login link."""

    project: str
    scope: Scope
    expires_at: datetime
    token: Token | None = None


_SELECT = select(
    sessions.c.secret_hash.label("session_hash"),
    sessions.c.project.label("session_project"),
    sessions.c.scope.label("session_scope"),
    sessions.c.expires_at.label("ends_at"),
    sessions.c.ended_at,
    tokens,
).join(tokens, tokens.c.token_id == sessions.c.token_id, isouter=True)


class Sessions:
    """The sessions of a store; `SqlMetricHistoryStore.sessions`. ``now``: the clock that expiry is taken by."""

    def __init__(self, connections: Connections, now: Callable[[], datetime] = utc_now) -> None:
        self._connections = connections
        self.now = now

    def start(self, token: Token) -> str:
        """The secret of a new session with the rights of ``token``: for a day, and never longer than the token."""
        return self._store(SESSION, token.project, token.scope, SESSION_LIFETIME, token)

    def create_login_key(self, project: str) -> str:
        """The secret of a login link. For a day each use of it begins a session: a link is opened more than once."""
        return self._store(LOGIN_KEY, project, LINK_SCOPE, LOGIN_LINK_LIFETIME)

    def start_by_key(self, key: str) -> str | None:
        """The secret of a new session, None where the key is unknown or too old."""
        link = self._find(key, LOGIN_KEY)
        return None if link is None else self._store(SESSION, link.project, link.scope, SESSION_LIFETIME)

    def verify(self, secret: str) -> Session | None:
        """The session with this secret, None where there is none or it has ended, or its token has."""
        return self._find(secret, SESSION)

    def end(self, secret: str) -> None:
        """It is unknown from now on; nothing happens where it was already."""
        this = sessions.update().where(sessions.c.secret_hash == secret_hash(secret), sessions.c.ended_at.is_(None))
        ended = this.values(ended_at=self.now())
        self._connections.write(lambda connection: queue(connection, ended))

    def _store(self, prefix: str, project: str, scope: Scope, lifetime: timedelta, token: Token | None = None) -> str:
        secret, now = new_secret(prefix), self.now()
        row = {
            "secret_hash": secret_hash(secret),
            "token_id": None if token is None else token.token_id,
            "project": project,
            "scope": scope,
            "created_at": now,
            "expires_at": now + lifetime if token is None else min(now + lifetime, token.expires_at),
        }
        outlived = sessions.delete().where(sessions.c.expires_at <= now)

        def insert(connection: Any) -> None:
            queue(connection, outlived)
            queue(connection, insert_new(connection, sessions), row)

        self._connections.write(insert)
        return secret

    def _find(self, secret: str, prefix: str) -> Session | None:
        if not secret.startswith(prefix):
            return None
        chosen = _SELECT.where(sessions.c.secret_hash == secret_hash(secret))
        row = self._connections.read(lambda connection: connection.execute(chosen).one_or_none())
        if row is None or not is_hash_of(secret, row.session_hash):
            return None
        now = self.now()
        token = None if row.token_id is None else token_of(row)
        if row.ended_at is not None or row.ends_at <= now or (token is not None and token.state(now) != "valid"):
            return None
        return Session(row.session_project, row.session_scope, row.ends_at, token)
