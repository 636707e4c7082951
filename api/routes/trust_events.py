"""Who changed trust, when and why."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from api.models.trust_events import TrustLog
from api.paging import Cursor, Limit, Paging
from api.parameters import OptionalRunId
from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import StrictRoute
from store.documents import SCHEMA, event_json

router = APIRouter(prefix="/v1", tags=["trust"], route_class=StrictRoute)


@router.get("/trust-events", responses={200: {"model": TrustLog}}, response_model=None)
def list_trust_events(
    request: Request,
    access: Reading,
    store: Store,
    *,
    run_id: OptionalRunId = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """The trust log, or its lines on one run, newest first."""
    paging = Paging(request, access.project, {"run_id": run_id})
    page = store.pages.trust_events(access.project, run_id, limit, paging.place(cursor))
    rows = [event_json(event) for event in page.items]
    return json_response({"schema": SCHEMA, "trust_events": rows, "next_cursor": paging.cursor(page.next)})
