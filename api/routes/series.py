"""Which series there are, and how each fares."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api.models.series import SeriesList
from api.paging import Cursor, Limit, Paging
from api.parameters import OptionalBackend, OptionalSuite, OptionalTestPath, Text
from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import StrictRoute
from store.documents import SCHEMA, series_json
from store.stored import SeriesFilter

router = APIRouter(prefix="/v1", tags=["series"], route_class=StrictRoute)

Search = Annotated[Text | None, Query(max_length=200, description="A part of the test path.")]


@router.get("/series", responses={200: {"model": SeriesList}}, response_model=None)
def list_series(
    request: Request,
    access: Reading,
    store: Store,
    *,
    test_path: OptionalTestPath = None,
    backend: OptionalBackend = None,
    suite: OptionalSuite = None,
    search: Search = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Series by test path, backend, suite: what the gate said last, how many runs count, what to look at."""
    where = SeriesFilter(test_path, backend, suite, search)
    paging = Paging(request, access.project, where)
    page = store.pages.series(access.project, where, limit, paging.place(cursor))
    rows = [series_json(summary) for summary in page.items]
    return json_response({"schema": SCHEMA, "series": rows, "next_cursor": paging.cursor(page.next)})
