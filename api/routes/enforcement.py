"""The kill switch: whether verdicts may fail jobs of a project."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from api.operating import Operation
from api.responses import json_response
from api.service import Operating, Reading, Store
from api.strict_requests import StrictRoute

router = APIRouter(prefix="/v1", tags=["operate"], route_class=StrictRoute)


class Turn(Operation):
    """Which way, and why."""

    enforcement: Literal["on", "off"] = Field(description="off: every run of the project is in shadow, at once.")


class Enforcement(BaseModel):
    """The switch as it stands."""

    schema_: int = Field(1, alias="schema")
    enforcement: Literal["on", "off"]
    reason: str | None = Field(description="Of the last change; null where nobody has ever turned it.")
    actor: str | None
    changed_at: datetime | None


class EnforcementChanged(Enforcement):
    """The switch after a turn; of a dry run, as it would be."""

    changed: bool = Field(description="False where it stood that way already; then it keeps the reason it has.")


@router.get("/enforcement", responses={200: {"model": Enforcement}}, response_model=None)
def get_enforcement(access: Reading, store: Store) -> Response:
    """Whether verdicts may fail jobs, and who decided that."""
    return json_response(store.get_enforcement(access.project).document())


@router.put("/enforcement", responses={200: {"model": EnforcementChanged}}, response_model=None)
def put_enforcement(turn: Turn, access: Operating, store: Store) -> Response:
    """Turn the switch for every job of the project that is judged from now on. A line of the trust log."""
    switch = store.set_enforcement(
        project=access.project,
        on=turn.enforcement == "on",
        reason=turn.reason,
        actor=turn.by(access.caller),
        dry_run=turn.dry_run,
    )
    return json_response(switch.change_document())
