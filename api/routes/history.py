"""Every stored value of a metric."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from importlib.util import find_spec
from io import BytesIO
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from api.models.history import History
from api.paging import Cursor, Limit, Paging
from api.parameters import Backend, Metric, OptionalStep, Since, Suite, TestPath
from api.problems import Refused
from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import StrictRoute
from gate.identity import SeriesIdentity
from store.documents import history_json
from store.finding import Chosen, no_history, series_named
from store.frames import frame_csv, values_frame
from store.metric_rows import MetricQuery, MetricRow, value_records

router = APIRouter(prefix="/v1", tags=["history"], route_class=StrictRoute)

CSV, PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"

Format = Annotated[
    Literal["json", "csv", "parquet"],
    Query(description="csv and parquet name the following page in the header Link, rel=next."),
]


@router.get(
    "/history",
    responses={200: {"model": History, "content": {"text/csv": {}, PARQUET: {}}}},
    response_model=None,
)
def history(
    request: Request,
    access: Reading,
    store: Store,
    *,
    test_path: TestPath,
    backend: Backend,
    suite: Suite,
    metric_key: Metric,
    step: OptionalStep = None,
    since: Since = None,
    format: Format = "json",  # noqa: A002 - the parameter's public name
    limit: Limit = 1000,
    cursor: Cursor = None,
) -> Response:
    """Every value of a metric, oldest run first, never sampled. A page has at most `limit` rows of the store (one gate
    spec of one run, with the values of all its steps), and fewer where they hold more than 25,000 values.
    """
    _check_format(format)
    query = MetricQuery(SeriesIdentity(access.project, test_path, backend, suite), metric_key, step, since)
    paging = Paging(request, access.project, query)
    page = store.pages.metric(query, limit, paging.place(cursor))
    if not page.items and cursor is None and since is None:
        series_named(store, access.project, test_path, backend=backend, suite=suite)
        raise no_history(store, query.identity, Chosen(metric_key, step))
    following = paging.cursor(page.next)
    if format == "json":
        values = list(value_records(page.items, step))
        return json_response({**history_json(query.identity, metric_key, values), "next_cursor": following})
    return _as_file(format, page.items, step, paging.link(following))


def _check_format(name: str) -> None:
    if name == "parquet" and find_spec("pyarrow") is None:
        text = "format: parquet needs pyarrow where the service runs: pip install 'driftgate[parquet]'"
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, text)


def _as_file(name: str, rows: Sequence[MetricRow], step: int | None, headers: dict[str, str]) -> Response:
    frame = values_frame(rows, step)
    if name == "csv":
        return Response(frame_csv(frame), headers=headers, media_type=CSV)
    content = BytesIO()
    frame.to_parquet(content, engine="pyarrow", index=False)
    return Response(content.getvalue(), headers=headers, media_type=PARQUET)
