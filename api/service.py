"""What one process of the service holds: its settings, its store, its way to know callers."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from api.authentication import CHALLENGE, bearer_token
from api.callers import Access, Caller, Needs
from api.problems import Refused
from api.settings import ServiceSettings
from store.sql_store import SqlMetricHistoryStore

T = TypeVar("T")


@dataclass(slots=True)
class Service:
    """Lives as long as the application; its store keeps a pool of connections."""

    settings: ServiceSettings
    store: SqlMetricHistoryStore

    def identify(self, request: Request) -> Caller | None:
        """The caller by its token, its session or, where reading is open, by nothing; None: no credentials.

        Raises Refused for credentials that are malformed, unknown or no longer valid.
        """
        token = bearer_token(request)
        if token is not None:
            return self._bearer(token)
        return Caller(None, "read", "anonymous") if self.settings.open_reading else None

    def _bearer(self, token: str) -> Caller:
        if self.settings.verify_identity_token is not None:
            return self.settings.verify_identity_token(token)
        raise Refused(HTTPStatus.UNAUTHORIZED, "this token is unknown, expired or revoked", CHALLENGE)


def _store(request: Request) -> SqlMetricHistoryStore:
    store: SqlMetricHistoryStore = request.app.state.service.store
    return store


Store = Annotated[SqlMetricHistoryStore, Depends(_store)]
Reading = Annotated[Access, Depends(Needs("read"))]
Writing = Annotated[Access, Depends(Needs("write"))]
Operating = Annotated[Access, Depends(Needs("operate"))]
