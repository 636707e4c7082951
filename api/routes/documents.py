"""The description of the service, for programs and for people: open to whoever may read."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from api.documents_page import POLICY, page
from api.responses import json_response
from api.service import Reading
from api.strict_requests import StrictRoute

router = APIRouter(tags=["service"], route_class=StrictRoute)


@router.get("/openapi.json", responses={200: {"model": dict[str, Any]}}, response_model=None)
def openapi(request: Request, _: Reading) -> Response:
    """This description, as OpenAPI 3.1."""
    return json_response(request.app.openapi())


@router.get("/docs", response_class=HTMLResponse)
def docs(request: Request, _: Reading) -> Response:
    """The same as a page to read, without any script."""
    return HTMLResponse(page(request.app.openapi()), headers={"Content-Security-Policy": POLICY})
