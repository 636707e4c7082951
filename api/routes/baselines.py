"""What the next run of a series will be held against."""

from __future__ import annotations

from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api.models.baselines import Baselines
from api.paging import MAX_PAGE
from api.parameters import Backend, OptionalMetric, OptionalStep, Suite, TestPath
from api.problems import Refused
from api.responses import MEDIA_TYPE, json_bytes
from api.service import Reading, Service, Store
from api.strict_requests import StrictRoute
from gate.identity import SeriesIdentity
from gate.policy import GatePolicy
from store.baselines import baseline_summaries, baselines_json, narrowed
from store.finding import Chosen, series_named
from store.sql_store import SqlMetricHistoryStore

router = APIRouter(prefix="/v1", tags=["baselines"], route_class=StrictRoute)

MAX_COORDINATES = 10_000

Runs = Annotated[
    int | None, Query(ge=1, le=MAX_PAGE, description="Values per coordinate, instead of the gate's own [gate] history.")
]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question whose answer depends on nothing else but the store."""

    identity: SeriesIdentity
    chosen: Chosen
    policy: GatePolicy


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
    service: Service = request.app.state.service
    identity = SeriesIdentity(access.project, test_path, backend, suite)
    policy = service.settings.policy
    asked = Asked(identity, Chosen(metric_key, step), policy if limit is None else replace(policy, history=limit))
    content = service.baselines.answer(asked, store.change_marker(identity), lambda: _answer(store, asked))
    return Response(content, media_type=MEDIA_TYPE)


def _answer(store: SqlMetricHistoryStore, asked: Asked) -> bytes:
    identity = asked.identity
    summaries = baseline_summaries(store, identity, asked.policy)
    if not summaries:
        series_named(store, identity.project, identity.test_path, backend=identity.backend, suite=identity.suite)
    found = narrowed(identity, summaries, asked.chosen)
    coordinates = sum(summary.steps.size for summary in found)
    if coordinates > MAX_COORDINATES:
        text = f"{coordinates} coordinates; one answer has at most {MAX_COORDINATES}: narrow it by metric_key or step"
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, text)
    return json_bytes(baselines_json(identity, found))
