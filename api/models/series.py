"""Series and how each fares."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from api.models.common import Answer, Paged, SeriesName, Warned


class SeriesRow(Answer):
    """One series."""

    series: SeriesName
    runs: int
    counting: int = Field(description="Runs that may serve in baselines: trusted and not superseded.")
    last_run_id: str | None
    last_run_at: datetime | None
    last_trusted: bool | None
    last_verdict: Literal["trusted", "not_trusted", "not_judged"] | None = Field(
        description="What the gate said of the last run; null where it was stored without a verdict."
    )
    untrusted_streak: int = Field(description="How many runs came after the newest trusted one.")
    warnings: list[Warned] = Field(description="Of the last verdict; `starved` as it stands today.")


class SeriesList(Paged):
    """Series by test path, backend, suite."""

    series: list[SeriesRow]
