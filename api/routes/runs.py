"""Stored runs: which there are, one with its values, its verdict."""

from __future__ import annotations

import re
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api.models.runs import RunDetails, RunList, Verdict
from api.paging import Cursor, Limit, Paging
from api.parameters import OptionalBackend, OptionalCiRunId, OptionalSuite, OptionalTestPath, RunId, Text
from api.problems import Refused
from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import StrictRoute
from api.verdict_limits import verdict_response
from gate.errors import DriftgateError
from gate.verdict import Written
from gate.wording import shown
from store.contract import RunFilter
from store.documents import run_list_json, run_page_json
from store.errors import StoreUnavailable
from store.replaying import replay_run

router = APIRouter(prefix="/v1", tags=["runs"], route_class=StrictRoute)

_ID = re.compile(r"[0-9a-f]{32}")
MAX_EVENTS = 100

Trusted = Annotated[bool | None, Query(description="Only runs that are trusted now, or only those that are not.")]
Commit = Annotated[Text | None, Query(max_length=64, description="Only runs of this full commit.")]


@router.get("/runs", responses={200: {"model": RunList}}, response_model=None)
def list_runs(
    request: Request,
    access: Reading,
    store: Store,
    *,
    test_path: OptionalTestPath = None,
    backend: OptionalBackend = None,
    suite: OptionalSuite = None,
    trusted: Trusted = None,
    ci_run_id: OptionalCiRunId = None,
    commit_sha: Commit = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Runs, newest first."""
    where = RunFilter(test_path, backend, suite, trusted, ci_run_id, commit_sha)
    paging = Paging(request, access.project, where)
    page = store.pages.runs(access.project, where, limit, paging.place(cursor))
    return json_response({**run_list_json(page.items), "next_cursor": paging.cursor(page.next)})


@router.get("/runs/{run_id}", responses={200: {"model": RunDetails}}, response_model=None)
def show_run(access: Reading, store: Store, run_id: RunId) -> Response:
    """One run: provenance, values, and the newest changes of its trust."""
    found = store.get_run(access.project, _known_form(run_id, access.project))
    events = store.trust_events(access.project, MAX_EVENTS, run_id)
    return json_response(run_page_json(found, events))


@router.get("/runs/{run_id}/verdict", responses={200: {"model": Verdict}}, response_model=None)
def show_verdict(access: Reading, store: Store, run_id: RunId) -> Response:
    """What the gate said of a run, coordinate by coordinate, made again from the rows that it was judged by.

    At most 64 MiB: the values of longer ones are in `GET /v1/runs/{run_id}`.
    """
    try:
        found = replay_run(store, access.project, _known_form(run_id, access.project))
    except StoreUnavailable:
        raise
    except DriftgateError as error:
        raise Refused(HTTPStatus.NOT_FOUND, str(error)) from error
    run = found.run
    written = Written(run.run_id, run.trusted, repeat=False, reason=run.untrusted_reason)
    return verdict_response(replace(found.verdict, written=written))


def _known_form(run_id: str, project: str) -> str:
    """Raises Refused (404) for what cannot be an id; the database is not asked."""
    if _ID.fullmatch(run_id) is None:
        raise Refused(HTTPStatus.NOT_FOUND, f"no run {shown(run_id)} in project {shown(project)}")
    return run_id
