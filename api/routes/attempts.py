"""Executions of tests, passing or not."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api.models.attempts import AttemptList
from api.paging import Cursor, Limit, Paging
from api.parameters import OptionalBackend, OptionalCiRunId, OptionalSuite, OptionalTestPath, Since, Text
from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import StrictRoute
from store.contract import AttemptFilter
from store.documents import SCHEMA, attempt_json

router = APIRouter(prefix="/v1", tags=["attempts"], route_class=StrictRoute)

AttemptClass = Annotated[Text | None, Query(max_length=100, description="Only attempts that ended so, e.g. pass.")]
Newest = Annotated[
    int | None, Query(ge=1, le=1_000_000, description="At most so many of each series, of those that are let through.")
]


@router.get("/attempts", responses={200: {"model": AttemptList}}, response_model=None)
def list_attempts(
    request: Request,
    access: Reading,
    store: Store,
    *,
    test_path: OptionalTestPath = None,
    backend: OptionalBackend = None,
    suite: OptionalSuite = None,
    ci_run_id: OptionalCiRunId = None,
    attempt_class: AttemptClass = None,
    since: Since = None,
    newest: Newest = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Attempts, the newest start first."""
    where = AttemptFilter(since, attempt_class, backend, suite, newest, test_path, ci_run_id)
    paging = Paging(request, access.project, where)
    page = store.pages.attempts(access.project, where, limit, paging.place(cursor))
    rows = [attempt_json(attempt) for attempt in page.items]
    return json_response({"schema": SCHEMA, "attempts": rows, "next_cursor": paging.cursor(page.next)})
