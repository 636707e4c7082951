"""What one process of the service holds: its settings, its store, its way to know callers."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request

from api.answer_cache import AnswerCache
from api.authentication import (
    CHALLENGE,
    CSRF_FIELD,
    CSRF_HEADER,
    SAFE_METHODS,
    bearer_token,
    is_csrf_token_for,
    session_secret,
)
from api.callers import Access, Caller, Needs
from api.metrics import Metrics
from api.problems import Refused
from api.readiness import Readiness
from api.settings import ServiceSettings
from store.secret_text import OURS
from store.sessions import Session
from store.sql_store import SqlMetricHistoryStore
from store.tokens import Token


@dataclass(slots=True)
class Service:
    """Lives as long as the application; its store keeps a pool of connections."""

    settings: ServiceSettings
    store: SqlMetricHistoryStore
    metrics: Metrics = field(default_factory=Metrics)
    readiness: Readiness = field(init=False)
    baselines: AnswerCache = field(default_factory=AnswerCache)

    def __post_init__(self) -> None:
        self.readiness = Readiness(self.store.check)

    def identify(self, request: Request, csrf_token: str | None = None) -> Caller | None:
        """The caller by its token, its session or, where reading is open, by nothing; None: no credentials.

        A cookie that no longer stands for a session is no credentials. Raises Refused for a token that is malformed,
        unknown or no longer valid, and for a session that changes something without its ``csrf_token``.
        """
        token = bearer_token(request)
        if token is not None:
            return self._bearer(token)
        secret = session_secret(request)
        session = None if secret is None else self.store.sessions.verify(secret)
        if secret is not None and session is not None:
            if request.method not in SAFE_METHODS and not is_csrf_token_for(secret, csrf_token):
                text = f"a request with a session's cookie needs its CSRF token: {CSRF_HEADER}, or field {CSRF_FIELD}"
                raise Refused(HTTPStatus.FORBIDDEN, text)
            return _caller_of(session)
        return Caller(None, "read", "anonymous") if self.settings.open_reading else None

    def _bearer(self, text: str) -> Caller:
        token = self.store.tokens.verify(text)
        if token is not None:
            return caller_with(token)
        verify = self.settings.verify_identity_token
        if verify is None or text.startswith(OURS):
            raise Refused(HTTPStatus.UNAUTHORIZED, "this token is unknown, expired or revoked", CHALLENGE)
        return verify(text)


def caller_with(token: Token) -> Caller:
    return Caller(token.project, token.scope, f"token {token.name}", may_trust=token.may_trust)


def _caller_of(session: Session) -> Caller:
    if session.token is None:
        return Caller(session.project, session.scope, "login link")
    return caller_with(session.token)


async def _store(request: Request) -> SqlMetricHistoryStore:  # async: it waits for nothing, so needs no thread
    store: SqlMetricHistoryStore = request.app.state.service.store
    return store


Store = Annotated[SqlMetricHistoryStore, Depends(_store)]
Reading = Annotated[Access, Depends(Needs("read"))]
Writing = Annotated[Access, Depends(Needs("write"))]
Operating = Annotated[Access, Depends(Needs("operate"))]
