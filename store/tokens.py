"""Tokens of the service: who holds one may do what its scope allows, in one project. Only a hash is stored."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, Connection, func, or_, select

from gate.wording import listed, nearest, shown
from store.checks import check_text
from store.connections import Connections, queue
from store.errors import NotFound, StoreUnavailable
from store.schema import sessions, tokens
from store.secret_text import TOKEN, is_hash_of, new_secret, redacted, secret_hash
from store.series_row import insert_new

Scope = Literal["read", "write", "operate"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
MAX_NAME_CHARACTERS = 200
MAX_LIFETIME = timedelta(days=3660)
NOTED_EVERY = timedelta(minutes=1)
"""How exact ``last_used_at`` is: reads stay reads."""


def scope_named(name: str) -> Scope:
    """Raises ValueError naming the scopes there are."""
    for scope in SCOPES:
        if scope == name:
            return scope
    raise ValueError(f"no scope is called {shown(name)}{nearest(name, SCOPES)}; valid: {listed(SCOPES)}")


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class NewToken:
    """``may_trust``: runs written with it may enter baselines; only for scope ``write``."""

    project: str
    name: str
    scope: Scope
    lifetime: timedelta
    may_trust: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret, which nobody knows but who was given it. ``token_id`` is public."""

    token_id: str
    project: str
    name: str
    scope: Scope
    may_trust: bool
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    def state(self, now: datetime) -> Literal["valid", "expired", "revoked"]:
        if self.revoked_at is not None:
            return "revoked"
        return "valid" if now < self.expires_at else "expired"

    def to_json(self, now: datetime) -> dict[str, Any]:
        facts = asdict(self)
        return {"id": facts.pop("token_id"), **facts, "state": self.state(now)}


class Tokens:
    """The tokens of a store; `SqlMetricHistoryStore.tokens`. Every call is one transaction, or two reads and a note.

    ``now``: the clock that expiry is taken by.
    """

    def __init__(self, connections: Connections, now: Callable[[], datetime] = utc_now) -> None:
        self._connections = connections
        self.now = now
        self._noted: dict[str, datetime] = {}

    def create(self, new: NewToken) -> tuple[Token, str]:
        """A new token and its secret, which cannot be asked for again.

        Raises: ValueError (a name, project, scope or lifetime that cannot be; ``may_trust`` beside another scope).
        """
        _check(new)
        secret, now = new_secret(TOKEN), self.now()
        token = Token(
            token_id=uuid.uuid4().hex,
            project=new.project,
            name=new.name,
            scope=new.scope,
            may_trust=new.may_trust,
            created_at=now,
            expires_at=now + new.lifetime,
        )
        row = asdict(token) | {"secret_hash": secret_hash(secret)}
        self._connections.write(lambda connection: queue(connection, insert_new(connection, tokens), row))
        return token, secret

    def of_project(self, project: str) -> list[Token]:
        """Every token of the project, also those that are no longer valid, the newest first."""
        chosen = (
            select(tokens).where(tokens.c.project == project).order_by(tokens.c.created_at.desc(), tokens.c.token_id)
        )
        return self._connections.read(lambda connection: [token_of(row) for row in connection.execute(chosen)])

    def revoke(self, project: str, token_id: str) -> Token:
        """The token is unknown from now on, and so are its sessions. One that was revoked before stays as it is.

        Raises: NotFound.
        """
        at = self.now()
        return self._connections.write(lambda connection: _revoke(connection, project, token_id, at))

    def verify(self, secret: str) -> Token | None:
        """The token with this secret, None where there is none or it has expired or was revoked. Its use is noted."""
        if not secret.startswith(TOKEN):
            return None
        chosen = select(tokens).where(tokens.c.secret_hash == secret_hash(secret))
        row = self._connections.read(lambda connection: connection.execute(chosen).one_or_none())
        if row is None or not is_hash_of(secret, row.secret_hash):
            return None
        token, now = token_of(row), self.now()
        if token.state(now) != "valid":
            return None
        self._note_use(token, now)
        return token

    def _note_use(self, token: Token, now: datetime) -> None:
        """At most once a minute, also where the store does not take it: nobody is turned away for want of a note."""
        noted = [at for at in (token.last_used_at, self._noted.get(token.token_id)) if at is not None]
        if noted and now - max(noted) < NOTED_EVERY:
            return
        self._noted[token.token_id] = now
        stale = or_(tokens.c.last_used_at.is_(None), tokens.c.last_used_at <= now - NOTED_EVERY)
        note = tokens.update().where(tokens.c.token_id == token.token_id, stale).values(last_used_at=now)
        with suppress(StoreUnavailable):
            self._connections.write(lambda connection: queue(connection, note))

    def any_valid(self) -> bool:
        """Whether anybody at all could come in with a token."""
        counted = select(func.count()).select_from(tokens).where(*is_valid(self.now()))
        return bool(self._connections.read(lambda connection: connection.scalar(counted)))


def is_valid(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return tokens.c.revoked_at.is_(None), tokens.c.expires_at > now


def token_of(row: Any) -> Token:
    """From a row that has the columns of ``tokens``."""
    return Token(
        token_id=row.token_id,
        project=row.project,
        name=row.name,
        scope=row.scope,
        may_trust=row.may_trust,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
    )


def _revoke(connection: Connection, project: str, token_id: str, at: datetime) -> Token:
    this = (tokens.c.project == project, tokens.c.token_id == token_id)
    queue(connection, tokens.update().where(*this, tokens.c.revoked_at.is_(None)).values(revoked_at=at))
    row = connection.execute(select(tokens).where(*this)).one_or_none()
    if row is None:
        given = shown(redacted(token_id))
        raise NotFound(f"no token {given} in project {project!r}; `driftgate token list` shows the ids")
    theirs = sessions.update().where(sessions.c.token_id == token_id, sessions.c.ended_at.is_(None))
    queue(connection, theirs.values(ended_at=at))
    return token_of(row)


def _check(new: NewToken) -> None:
    check_text("project", new.project)
    check_text("name", new.name)
    if len(new.name) > MAX_NAME_CHARACTERS or not new.name.isprintable():
        raise ValueError(f"a token's name is one line of at most {MAX_NAME_CHARACTERS} characters")
    scope_named(new.scope)
    if new.may_trust and new.scope != "write":
        raise ValueError(f"a token with scope {new.scope} writes no runs that could be trusted; use scope write")
    if not timedelta(0) < new.lifetime <= MAX_LIFETIME:
        raise ValueError(f"a token lives for more than nothing and at most {MAX_LIFETIME.days} days")
