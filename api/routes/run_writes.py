"""A run is written. What it says of itself is checked: by whom it comes from, and by the gate once more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response

from api.bodies import RunBody
from api.callers import Caller
from api.problems import Refused
from api.projects import own_project
from api.responses import json_response
from api.service import Service, Store, Writing
from api.strict_requests import StrictRoute
from gate.provenance import Provenance
from gate.wording import shown
from store.stored import NewRun
from store.wire_runs import stored_run_json

router = APIRouter(prefix="/v1", tags=["gate"], route_class=StrictRoute)

IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=500, description="Without it: series, CI run, CI attempt, attempt."),
]


@router.post("/runs", status_code=HTTPStatus.CREATED, response_model=None)
def write_run(
    body: RunBody, request: Request, access: Writing, store: Store, idempotency_key: IdempotencyKey = None
) -> Response:
    """Store a run, once: 200 for the same run again, 409 for another under the same key.

    It is judged again as it is written. It is trusted only where both its own gate and the service say so, and the
    token may trust.
    """
    run = body.new_run(own_project(body.series.project, access))
    run = replace(run, idempotency_key=_key(run.idempotency_key, idempotency_key))
    run = replace(run, provenance=vouched(run.provenance, access.caller.claims))
    service: Service = request.app.state.service
    stored = store.write_judged_run(run, service.settings.policy, held_back(run, access.caller))
    return json_response(stored_run_json(stored), HTTPStatus.OK if stored.repeat else HTTPStatus.CREATED)


def vouched(said: Provenance, claims: Provenance | None) -> Provenance:
    """What the body says, completed by what its identity token says. Raises Refused (403) where they contradict."""
    if claims is None:
        return said
    for name, claimed, given in _claimed(said, claims):
        if given not in (None, claimed):
            text = f"provenance.{name} is {shown(given)}, but the identity token says {shown(claimed)}"
            raise Refused(HTTPStatus.FORBIDDEN, text)
    return replace(said, **{name: claimed for name, claimed, _ in _claimed(said, claims)})


def held_back(run: NewRun, caller: Caller) -> str | None:
    """Why this caller's run is stored untrusted, None where the gate decides."""
    if not caller.may_trust:
        return f"written by {caller.actor}, which may not trust"
    if caller.claims is None:
        return None
    tested, claimed = run.provenance.tested_sha, caller.claims.ci_sha
    if tested is None or claimed is None or tested.lower() != claimed.lower():
        return f"tested_sha {tested or 'unknown'} is not the commit of the identity token, {claimed or 'unknown'}"
    return None


def _claimed(said: Provenance, claims: Provenance) -> Iterator[tuple[str, Any, Any]]:
    """Name, what the token says and what the body says of each fact that the token has."""
    given = asdict(said)
    for name, claimed in asdict(claims).items():
        if claimed not in (None, {}):
            yield name, claimed, given[name] if given[name] != {} else None


def _key(in_body: str | None, in_header: str | None) -> str | None:
    if in_body is not None and in_header not in (None, in_body):
        raise ValueError("the header Idempotency-Key and idempotency_key in the body differ; give one")
    return in_header if in_body is None else in_body
