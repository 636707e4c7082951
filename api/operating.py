"""What an operator's request holds and what it answers, the same for marks, epochs and the enforcement switch."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from api.callers import Caller
from api.strict_requests import Strict
from store.checks import check_text


class Operation(Strict):
    """Base of operators' requests."""

    reason: str = Field(max_length=10_000, description="Why, for the trust log.")
    actor: str | None = Field(
        None, max_length=200, description="Who, where several share a token; the trust log tells both."
    )
    dry_run: bool = Field(default=False, description="Write nothing; tell what would change.")

    def by(self, caller: Caller) -> str:
        """Who it is, as the trust log names them: never without the one whom the service knows.

        Raises ValueError for a blank ``actor``.
        """
        return caller.actor if self.actor is None else f"{check_text('actor', self.actor)} ({caller.actor})"


class Effects(BaseModel):
    """What would follow. Each entry names its series."""

    trust: list[dict[str, Any]] = Field(description="Runs whose trust changes.")
    means: list[dict[str, Any]] = Field(description="Means of baselines and anchors that move, by step.")
    verdicts: list[dict[str, Any]] = Field(description="Later stored verdicts that would flip if judged again.")


class Changed(BaseModel):
    """What a mark changed, or would change where it was a dry run."""

    schema_: int = Field(1, alias="schema")
    changed: int = Field(description="How many runs changed between trusted and untrusted.")
    runs: list[str] = Field(description="Their ids, in order of arrival.")
    effects: Effects | None = Field(description="Of a dry run; null where something was written.")


class EpochChanged(Changed):
    """What the start or the undoing of an epoch changed."""

    epoch_id: str | None = Field(description="Null for the dry run of a start.")
