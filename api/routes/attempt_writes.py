"""Executions of tests are reported, whatever came of them."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Response
from pydantic import Field

from api.bodies import Moment, Number, SeriesBody
from api.callers import Access
from api.claims import reconcile
from api.models.store import Recorded
from api.parameters import Text
from api.projects import own_project
from api.responses import json_response
from api.service import Store, Writing
from api.strict_requests import Strict, StrictRoute
from gate.provenance import Provenance
from store.stored import Attempt

router = APIRouter(prefix="/v1", tags=["attempts"], route_class=StrictRoute)

MAX_ATTEMPTS = 10_000


class AttemptBody(Strict):
    """One execution of one test file. ``attempt_class``: pass, timeout, assertion, ..."""

    series: SeriesBody
    ci_run_id: Number | None = None
    ci_run_attempt: Number | None = None
    test_attempt: Number
    attempt_class: Text = Field(max_length=200)
    duration_s: float = Field(ge=0)
    started_at: Moment
    exit_code: int | None = Field(None, ge=-(2**31), lt=2**31)


class AttemptReport(Strict):
    attempts: list[AttemptBody] = Field(max_length=MAX_ATTEMPTS)


@router.post("/attempts", status_code=HTTPStatus.CREATED, responses={201: {"model": Recorded}}, response_model=None)
def record_attempts(report: AttemptReport, access: Writing, store: Store) -> Response:
    """Store attempts. One that is stored already is left alone; the answer says how many were new."""
    attempts = [_attempt(body, access) for body in report.attempts]
    return json_response({"schema": 1, "new": store.record_attempts(attempts)}, HTTPStatus.CREATED)


def _attempt(body: AttemptBody, access: Access) -> Attempt:
    """Of the CI run that the caller's identity token names, where it has one. Raises Refused as `reconcile`."""
    said = Provenance(ci_run_id=body.ci_run_id, ci_run_attempt=body.ci_run_attempt)
    run = reconcile(said, access.caller.claims)
    return Attempt(
        identity=body.series.identity(own_project(body.series.project, access)),
        ci_run_id=run.ci_run_id,
        ci_run_attempt=run.ci_run_attempt,
        test_attempt=body.test_attempt,
        attempt_class=body.attempt_class,
        duration_s=body.duration_s,
        started_at=body.started_at,
        exit_code=body.exit_code,
    )
