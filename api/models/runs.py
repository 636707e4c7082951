"""Runs, their values and their verdicts."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from api.models.common import Answer, Document, Paged, SeriesName, SpecName, TrustEvent, Warned


class Provenance(Answer):
    """Where a run came from; what is not known is null. ``commit_sha``: the tested commit, else the event's."""

    commit_sha: str | None
    tested_sha: str | None
    ci_sha: str | None
    base_sha: str | None
    pr: int | None
    ci_run_id: int | None
    ci_run_attempt: int | None
    event: str | None
    ref: str | None
    cadence: str | None
    shard: str | None
    test_attempt: int | None
    host: str | None
    gpu_model: str | None
    gpu_driver: str | None
    image_digest: str | None
    packages: dict[str, str]
    seed: int | None
    fork: bool | None


class Run(Answer):
    """A stored run. ``trusted`` is what counts now, ``gate_trusted`` what the gate said when it was written."""

    run_id: str
    series: SeriesName
    created_at: datetime
    trusted: bool
    gate_trusted: bool
    counting: bool = Field(description="Trusted and not superseded.")
    marked: bool | None = Field(description="An operator's decision; null without one.")
    untrusted_reason: str | None
    superseded_by: str | None = Field(description="The run of a higher attempt of the same CI run.")
    provenance: Provenance


class RunList(Paged):
    """Runs, newest first."""

    runs: list[Run]


class RunValues(SpecName):
    """The values of one gate spec in a run, one per step."""

    steps: list[int]
    at_step: int | None = Field(description="Where the single value of `last` or a reduction came from.")
    values: list[float]
    trusted: bool = Field(description="No check of this gate spec failed.")
    points: int = Field(description="How many points the metric had, selected or not.")


class RunDetails(Run, Document):
    """A run with its values and who changed its trust, the newest change first."""

    series_values: list[RunValues]
    trust_events: list[TrustEvent]


class Written(Answer):
    """What became of the run in the store."""

    run_id: str
    trusted: bool
    repeat: bool
    reason: str | None = Field(description="Why it is not trusted although the gate trusts it.")


class JudgedCoordinate(SpecName):
    """One number and what each check said of it."""

    step: int
    at_step: int | None
    value: float | None = Field(description="null: not finite, or not there; `reason` of its check says which.")
    trusted: bool
    checks: dict[str, dict[str, Any]] = Field(description="By check: status, reason and its numbers.")


class JudgedSpec(SpecName):
    """One gate spec, the lists of runs it was judged by, and the checks of the whole spec."""

    baseline: str | None = Field(description="A name in `run_lists`.")
    anchor: str | None
    epoch_id: str | None
    points: int | None
    line: int | None
    limits: dict[str, float] | None
    expect_points: int | dict[str, int] | None
    enforce: bool
    allowlist_reason: str | None
    drift_checks: list[str]
    checks: dict[str, dict[str, Any]]


class Verdict(Document):
    """The gate's answer on one run: per coordinate, per gate spec, and for the run."""

    verdict: Literal["trusted", "not_trusted", "not_judged"]
    mode: Literal["shadow", "enforced"]
    reason: str | None
    series: SeriesName
    provenance: Provenance
    policy: dict[str, Any]
    written: Written | None
    coordinates: list[JudgedCoordinate]
    specs: list[JudgedSpec]
    run_lists: dict[str, list[str]]
    compared: int
    coordinates_total: int
    warnings: list[Warned]
