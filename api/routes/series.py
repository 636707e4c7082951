"""Which series there are."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Response

from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import StrictRoute

router = APIRouter(prefix="/v1", tags=["series"], route_class=StrictRoute)


@router.get("/series")
def list_series(access: Reading, store: Store) -> Response:
    """Every series of the project, by test path, backend, suite."""
    return json_response({"series": [asdict(summary) for summary in store.list_series(access.project)]})
