"""Every value of a metric."""

from __future__ import annotations

from datetime import datetime

from api.models.common import Answer, Paged, SeriesName


class Value(Answer):
    """One value of one run."""

    run_id: str
    created_at: datetime
    steps_key: str
    constraint_key: str
    step: int
    value: float
    trusted: bool
    superseded: bool
    commit_sha: str | None
    ci_run_id: int | None


class History(Paged):
    """Values of a metric, oldest run first, never sampled."""

    series: SeriesName
    metric_key: str
    values: list[Value]
