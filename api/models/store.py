"""What driftgate itself reads where its store is this service. A place in a list counts from 0."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from api.models.common import Answer, Document, Paged, SeriesName, SpecName
from api.models.runs import Run, RunValues


class WireRun(Run):
    """A run with what only a reader of the store needs."""

    has_error: bool
    repeat: bool = Field(description="It was stored before; nothing was written now.")
    stored_verdict: dict[str, Any] = Field(description="As it is kept: of the coordinates those that failed.")


class WireRunList(Paged):
    """Runs, newest first."""

    runs: list[WireRun]


class WireRunValues(WireRun):
    """A run with its values."""

    series_values: list[RunValues]


class WireRuns(Document):
    """Runs with their values, in the order asked for."""

    runs: list[WireRunValues]


class SpecList(Document):
    """Gate specs of a series, the newest use first."""

    specs: list[SpecName]


class Recorded(Document):
    """How many attempts were new."""

    new: int


class KnownRun(Answer):
    """A run as the gate sees it."""

    run_id: str
    created_at: datetime
    trusted: bool
    counting: bool = Field(description="Trusted and not superseded.")
    valid: bool = Field(description="Neither in error nor marked nor superseded.")
    ci_run_id: int | None


class KnownRow(Answer):
    """The values of one gate spec in one run."""

    run: int = Field(description="A place in `runs`.")
    steps: int = Field(description="A place in `steps`.")
    values: list[float]
    points: int


class KnownSpec(SpecName):
    """The past of one gate spec; places in `rows`, newest first, the anchor oldest first."""

    epoch_id: str | None
    anchor_ever: int = Field(description="How many counting runs the epoch has had.")
    baseline: list[int]
    anchor: list[int]
    valid: list[int]
    others: list[int]


class KnownHistory(Document):
    """Everything that is needed to judge one run of a series."""

    specs: list[KnownSpec]
    rows: list[KnownRow]
    steps: list[list[int]]
    runs: list[KnownRun]
    recent_runs: list[int] = Field(description="Places in `runs`, newest first, whatever became of them.")
    last_trusted: WireRun | None = Field(None, description="Where `for_gate_call` was asked for.")
    enforcement: dict[str, Any] | None = Field(None, description="As `GET /v1/enforcement`; likewise.")


class PastValues(Answer):
    """The values of one gate spec in one run."""

    key: int = Field(description="A place in `keys`.")
    steps: int = Field(description="A place in `steps`.")
    values: list[float]
    trusted: bool
    points: int
    at_step: int | None


class PastRun(Answer):
    """A run, and what the gate said of it."""

    run_id: str
    seq: int = Field(description="The order of arrival.")
    created_at: datetime
    trusted: bool
    gate_trusted: bool
    has_error: bool
    marked: bool | None
    untrusted_reason: str | None
    superseded_by: str | None
    ci_run_id: int | None
    commit_sha: str | None
    verdict: dict[str, Any]
    values: list[PastValues]


class PastEpoch(Answer):
    """An epoch that was not undone. Of several the one with the highest position is in force."""

    position: int
    epoch_id: str
    metric_key: str | None
    place: tuple[datetime, int] = Field(description="It begins after the run with this `created_at` and `seq`.")


class Past(Document):
    """The whole past of a series, oldest run first."""

    series: SeriesName
    keys: list[SpecName]
    steps: list[list[int]]
    runs: list[PastRun]
    epochs: list[PastEpoch]
