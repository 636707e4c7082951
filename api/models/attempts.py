"""Executions of tests, passing or not."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from api.models.common import Answer, Paged, SeriesName


class Attempt(Answer):
    """One execution of one test file."""

    series: SeriesName
    ci_run_id: int | None
    ci_run_attempt: int | None
    test_attempt: int
    attempt_class: str = Field(description="pass, timeout, assertion, ...")
    duration_s: float
    started_at: datetime
    exit_code: int | None


class AttemptList(Paged):
    """Attempts, the newest start first."""

    attempts: list[Attempt]
