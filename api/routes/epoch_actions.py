"""An operator accepts an intended change of level, or takes that back."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Response

from api.operating import EpochChanged, Operation
from api.responses import json_response
from api.service import Operating, Store
from api.strict_requests import StrictRoute
from gate.identity import SeriesIdentity

router = APIRouter(prefix="/v1", tags=["operate"], route_class=StrictRoute)


class StartEpoch(Operation):
    """Of which series, of which metric (null: all), from which run on (null: after the newest)."""

    test_path: str
    backend: str
    suite: str
    metric: str | None = None
    from_run: str | None = None


class UndoEpoch(Operation):
    """Why, and whether only to try."""


@router.post(
    "/epochs",
    status_code=HTTPStatus.CREATED,
    responses={
        200: {"model": EpochChanged, "description": "Of a dry run: what would change"},
        201: {"model": EpochChanged, "description": "The epoch is in force"},
    },
    response_model=None,
)
def start_epoch(new: StartEpoch, access: Operating, store: Store) -> Response:
    """Accept an intended change: baselines begin anew. Runs from ``from_run`` on are judged again, in order. The same
    once more is answered with the epoch that is there, which keeps its reason.
    """
    identity = SeriesIdentity(access.project, new.test_path, new.backend, new.suite)
    result = store.start_epoch(
        identity,
        metric=new.metric,
        from_run=new.from_run,
        reason=new.reason,
        actor=new.by(access.caller),
        dry_run=new.dry_run,
    )
    return json_response(result.epoch_document(), HTTPStatus.OK if new.dry_run else HTTPStatus.CREATED)


@router.post("/epochs/{epoch_id}:undo", responses={200: {"model": EpochChanged}}, response_model=None)
def undo_epoch(epoch_id: str, undo: UndoEpoch, access: Operating, store: Store) -> Response:
    """Take an epoch back: the one before it is in force again, and trust that its start changed is as before."""
    result = store.undo_epoch(
        project=access.project,
        epoch_id=epoch_id,
        reason=undo.reason,
        actor=undo.by(access.caller),
        dry_run=undo.dry_run,
    )
    return json_response(result.epoch_document())
