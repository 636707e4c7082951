"""What the next run of a series will be held against."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api.models.baselines import Baselines
from api.paging import MAX_PAGE
from api.parameters import Backend, OptionalMetric, OptionalStep, Suite, TestPath
from api.problems import Refused
from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import StrictRoute
from gate.identity import SeriesIdentity
from store.baselines import baseline_summaries, baselines_json, narrowed
from store.finding import Chosen, series_named

router = APIRouter(prefix="/v1", tags=["baselines"], route_class=StrictRoute)

MAX_COORDINATES = 10_000

Runs = Annotated[
    int | None, Query(ge=1, le=MAX_PAGE, description="Values per coordinate, instead of the gate's own [gate] history.")
]


@router.get("/baselines", responses={200: {"model": Baselines}}, response_model=None)
def baselines(
    request: Request,
    access: Reading,
    store: Store,
    *,
    test_path: TestPath,
    backend: Backend,
    suite: Suite,
    metric_key: OptionalMetric = None,
    step: OptionalStep = None,
    limit: Runs = None,
) -> Response:
    """The baseline and corridor of every gate spec of a series, by columns; at most 10,000 coordinates."""
    identity = SeriesIdentity(access.project, test_path, backend, suite)
    policy = request.app.state.service.settings.policy
    summaries = baseline_summaries(store, identity, policy if limit is None else replace(policy, history=limit))
    if not summaries:
        series_named(store, access.project, test_path, backend=backend, suite=suite)
    found = narrowed(identity, summaries, Chosen(metric_key, step))
    coordinates = sum(summary.steps.size for summary in found)
    if coordinates > MAX_COORDINATES:
        text = f"{coordinates} coordinates; one answer has at most {MAX_COORDINATES}: narrow it by metric_key or step"
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, text)
    return json_response(baselines_json(identity, found))
