"""Is the process alive, can it answer? Liveness never touches the database: a query keeps a serverless one awake."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from api.problems import RETRY_AFTER_S, STORE_DOWN, problem
from api.responses import json_response
from api.strict_requests import StrictRoute

router = APIRouter(tags=["health"], route_class=StrictRoute)


class Alive(BaseModel):
    """All is well."""

    status: Literal["ok"]


@router.get("/healthz", responses={200: {"model": Alive}}, response_model=None)
async def healthz() -> Response:  # needs no thread, of which slow requests may hold every one
    """Liveness: the process answers."""
    return json_response({"status": "ok"})


@router.get("/readyz", responses={200: {"model": Alive}}, response_model=None)
def readyz(request: Request) -> Response:
    """Readiness: the store can be used, as of at most 5 s ago. Why it cannot stands in the log: anybody may ask."""
    error = request.app.state.service.readiness.error()
    if error is None:
        return json_response({"status": "ok"})
    request.state.error = error
    headers = {"Retry-After": str(RETRY_AFTER_S)}
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, STORE_DOWN, headers=headers)
