"""A run is written. What it says of itself is checked: by whom it comes from, and by the gate once more."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from api.bodies import RunBody
from api.claims import held_back, reconcile
from api.models.store import WireRun
from api.projects import own_project
from api.responses import json_response
from api.service import Service, Store, Writing
from api.strict_requests import StrictRoute
from store.errors import StoreConflict
from store.wire_runs import stored_run_json

router = APIRouter(prefix="/v1", tags=["gate"], route_class=StrictRoute)

IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=500, description="Without it: series, CI run, CI attempt, attempt."),
]


@router.post(
    "/runs",
    status_code=HTTPStatus.CREATED,
    responses={
        200: {"model": WireRun, "description": "It was stored before"},
        201: {"model": WireRun, "description": "It is stored now"},
    },
    response_model=None,
)
def write_run(
    body: RunBody, request: Request, access: Writing, store: Store, idempotency_key: IdempotencyKey = None
) -> Response:
    """Store a run, once: 200 for the same run again, 409 for another under the same key.

    It is judged again as it is written. It is trusted only where both its own gate and the service say so, and the
    token may trust.
    """
    run = body.new_run(own_project(body.series.project, access))
    run = replace(run, idempotency_key=_key(run.idempotency_key, idempotency_key))
    run = replace(run, provenance=reconcile(run.provenance, access.caller.claims))
    service: Service = request.app.state.service
    try:
        stored = store.write_judged_run(run, service.settings.policy, held_back(run.provenance, access.caller))
    except StoreConflict:
        service.metrics.run_in_conflict()
        raise
    service.metrics.run_stored(stored)
    return json_response(stored_run_json(stored), HTTPStatus.OK if stored.repeat else HTTPStatus.CREATED)


def _key(in_body: str | None, in_header: str | None) -> str | None:
    if in_body is not None and in_header not in (None, in_body):
        raise ValueError("the header Idempotency-Key and idempotency_key in the body differ; give one")
    return in_header if in_body is None else in_body
