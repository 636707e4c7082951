"""What Prometheus scrapes: with a token of scope read, or open where reading is."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from api.metrics import CONTENT_TYPE
from api.service import Reading
from api.strict_requests import StrictRoute

router = APIRouter(route_class=StrictRoute, include_in_schema=False)


@router.get("/metrics")
def metrics(request: Request, _: Reading) -> Response:
    """Counts and durations of requests, runs written, verdicts, errors of the store."""
    return Response(request.app.state.service.metrics.text(), media_type=CONTENT_TYPE)
