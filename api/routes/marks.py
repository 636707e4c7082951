"""An operator takes runs out of every baseline, and puts them back."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import Field

from api.callers import Access
from api.operating import Changed, Operation
from api.responses import json_response
from api.service import Operating, Store
from api.strict_requests import StrictRoute
from store.operations import MarkRequest
from store.sql_store import SqlMetricHistoryStore

router = APIRouter(prefix="/v1", tags=["operate"], route_class=StrictRoute)


class Mark(Operation):
    """Exactly one of the three selectors. By CI run or commit it covers runs that arrive later, too."""

    run_id: str | None = Field(None, description="One run.")
    ci_run_id: int | None = Field(None, description="Every run of this CI run.")
    commit_sha: str | None = Field(None, description="Every run of this commit, given in full.")


@router.post("/runs:mark-untrusted", responses={200: {"model": Changed}}, response_model=None)
def mark_untrusted(mark: Mark, access: Operating, store: Store) -> Response:
    """Take runs out of every baseline. Nothing is deleted; mark-trusted with the same selector undoes it."""
    return _mark(mark, access, store, trusted=False)


@router.post("/runs:mark-trusted", responses={200: {"model": Changed}}, response_model=None)
def mark_trusted(mark: Mark, access: Operating, store: Store) -> Response:
    """Put runs back into the baselines; the standing rule of the selector is lifted. 409 for a superseded run."""
    return _mark(mark, access, store, trusted=True)


def _mark(mark: Mark, access: Access, store: SqlMetricHistoryStore, *, trusted: bool) -> Response:
    request = MarkRequest(
        project=access.project,
        trusted=trusted,
        reason=mark.reason,
        actor=mark.by(access.caller),
        run_id=mark.run_id,
        ci_run_id=mark.ci_run_id,
        commit_sha=mark.commit_sha,
        dry_run=mark.dry_run,
    )
    return json_response(store.mark(request).document())
