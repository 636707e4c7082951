"""What a client of the store contract reads beside what people ask for: runs with the verdicts as they are stored, the
gate specs of a series, its whole past.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from api.models.store import Past, SpecList, WireRunList, WireRuns
from api.paging import MAX_CURSOR_CHARACTERS, Paging
from api.parameters import Backend, Suite, TestPath, Text
from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import Strict, StrictRoute
from gate.identity import SeriesIdentity
from store.checks import MAX_INTEGER
from store.stored import RunFilter
from store.wire import SCHEMA, key_json
from store.wire_past import past_json
from store.wire_runs import run_values_json, stored_run_json

router = APIRouter(prefix="/v1", tags=["store"], route_class=StrictRoute)

MAX_RUNS = 1000


class RunsQuery(Strict):
    """Which runs; null does not filter. Newest first, at most ``limit`` on one page."""

    test_path: Text | None = None
    backend: Text | None = None
    suite: Text | None = None
    trusted: bool | None = None
    ci_run_id: Annotated[int, Field(ge=0, le=MAX_INTEGER)] | None = None
    commit_sha: Text | None = None
    run_id: Text | None = None
    limit: int = Field(50, ge=1, le=MAX_RUNS)
    cursor: str | None = Field(None, max_length=MAX_CURSOR_CHARACTERS)

    def filter(self) -> RunFilter:
        return RunFilter(**self.model_dump(exclude={"limit", "cursor"}))


class RunIds(Strict):
    """Which runs, in the order of the answer."""

    run_ids: list[Text] = Field(max_length=MAX_RUNS)


@router.post("/runs:query", responses={200: {"model": WireRunList}}, response_model=None)
def query_runs(query: RunsQuery, request: Request, access: Reading, store: Store) -> Response:
    """Runs without their values, each with the verdict as it is stored."""
    where = query.filter()
    paging = Paging(request, access.project, where)
    page = store.pages.runs(access.project, where, query.limit, paging.place(query.cursor))
    runs = [stored_run_json(run) for run in page.items]
    return json_response({"schema": SCHEMA, "runs": runs, "next_cursor": paging.cursor(page.next)})


@router.post("/runs:read", responses={200: {"model": WireRuns}}, response_model=None)
def read_runs(wanted: RunIds, access: Reading, store: Store) -> Response:
    """Runs with their values and the verdicts as they are stored. 404 names those that do not exist."""
    found = store.get_runs(access.project, wanted.run_ids)
    return json_response({"schema": SCHEMA, "runs": [run_values_json(run) for run in found]})


@router.get("/specs", responses={200: {"model": SpecList}}, response_model=None)
def list_specs(access: Reading, store: Store, *, test_path: TestPath, backend: Backend, suite: Suite) -> Response:
    """Every gate spec that the series has ever stored, newest use first."""
    specs = store.list_specs(SeriesIdentity(access.project, test_path, backend, suite))
    return json_response({"schema": SCHEMA, "specs": [key_json(key) for key in specs]})


@router.get("/past", responses={200: {"model": Past}}, response_model=None)
def read_past(access: Reading, store: Store, *, test_path: TestPath, backend: Backend, suite: Suite) -> Response:
    """Every run of a series with its values and verdict, oldest first, and the starts of its epochs: for a replay."""
    return json_response(past_json(store.read_past(SeriesIdentity(access.project, test_path, backend, suite))))
