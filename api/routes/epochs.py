"""Which changes of level were accepted."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from api.models.epochs import EpochList
from api.paging import Cursor, Limit, Paging
from api.parameters import OptionalBackend, OptionalSuite, OptionalTestPath
from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import StrictRoute
from store.documents import epoch_list_json
from store.stored import SeriesFilter

router = APIRouter(prefix="/v1", tags=["epochs"], route_class=StrictRoute)


@router.get("/epochs", responses={200: {"model": EpochList}}, response_model=None)
def list_epochs(
    request: Request,
    access: Reading,
    store: Store,
    *,
    test_path: OptionalTestPath = None,
    backend: OptionalBackend = None,
    suite: OptionalSuite = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Epochs, the one started last first, also those that were undone."""
    where = SeriesFilter(test_path, backend, suite)
    paging = Paging(request, access.project, where)
    page = store.pages.epochs(access.project, where, limit, paging.place(cursor))
    return json_response({**epoch_list_json(page.items), "next_cursor": paging.cursor(page.next)})
