"""Is the process alive, can it answer? Liveness never touches the database: a query keeps a serverless one awake."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.responses import json_response
from api.strict_requests import StrictRoute

router = APIRouter(tags=["health"], route_class=StrictRoute)


@router.get("/healthz")
def healthz() -> Response:
    """Liveness: the process answers."""
    return json_response({"status": "ok"})
