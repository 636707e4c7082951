"""What Prometheus scrapes: with a token of scope read, or open where reading is."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from api.metrics import CONTENT_TYPE
from api.service import Reading
from api.strict_requests import StrictRoute

router = APIRouter(tags=["service"], route_class=StrictRoute)


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request, _: Reading) -> Response:
    """Counts and durations of requests, runs written, verdicts, errors of the store."""
    return Response(request.app.state.service.metrics.text(), media_type=CONTENT_TYPE)
