"""Accepted changes of level."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from api.models.common import Answer, Paged, SeriesName


class Epoch(Answer):
    """A start of an epoch, undone or not."""

    epoch_id: str
    series: SeriesName
    metric_key: str | None = Field(description="null: of every metric of the series.")
    begins_at: datetime = Field(description="`created_at` of the run that it begins with or after.")
    first_run_id: str | None = Field(description="null while it has no run.")
    reason: str
    actor: str
    started_at: datetime
    undone_at: datetime | None
    in_force: bool


class EpochList(Paged):
    """Epochs, the one started last first."""

    epochs: list[Epoch]
