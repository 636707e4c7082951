"""The description of the service, for programs and for people: open to whoever may read."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html

from api.responses import json_response
from api.service import Reading
from api.strict_requests import StrictRoute

router = APIRouter(route_class=StrictRoute, include_in_schema=False)


@router.get("/openapi.json")
def openapi(request: Request, _: Reading) -> Response:
    """OpenAPI 3."""
    return json_response(request.app.openapi())


@router.get("/docs")
def docs(request: Request, _: Reading) -> Response:
    """The same as a page to try it out."""
    return get_swagger_ui_html(openapi_url="/openapi.json", title=request.app.title)
