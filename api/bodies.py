"""What callers send about runs: read strictly, and made into the store's own values. `store.wire_runs` writes them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from api.parameters import moment
from api.strict_requests import Strict
from gate.history import HISTORY_WINDOW
from gate.identity import SeriesIdentity, SpecKey
from gate.provenance import Provenance
from store.checks import MAX_INTEGER
from store.stored import NewRun, SeriesValues

MAX_VALUES = 100_000
"""Of one run, of all its gate specs together."""
MAX_SPECS = 10_000
MAX_RUNS = HISTORY_WINDOW

Number = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Step = Annotated[int, Field(ge=-1, le=MAX_INTEGER)]


Moment = Annotated[datetime, BeforeValidator(moment)]
"""RFC 3339: with a time zone."""

One = Annotated[int, Field(ge=1, le=1), WithJsonSchema({"type": "integer", "const": 1})]
"""Nothing else: a Literal would take true for it."""


class SeriesBody(Strict):
    """``project`` may be left out: it is the caller's."""

    test_path: str
    backend: str
    suite: str
    project: str | None = None

    def identity(self, project: str) -> SeriesIdentity:
        return SeriesIdentity(project, self.test_path, self.backend, self.suite)


class SpecBody(Strict):
    """A gate spec by its keys: the literals of its declaration as canonical JSON."""

    metric_key: str
    steps_key: str
    constraint_key: str

    def key(self) -> SpecKey:
        return SpecKey(self.metric_key, self.steps_key, self.constraint_key)


class ValuesBody(SpecBody):
    """The values that a gate spec selected in a run. ``points``: how many points the metric had, selected or not."""

    steps: list[Step] = Field(max_length=MAX_VALUES)
    values: list[float] = Field(max_length=MAX_VALUES)
    points: Number
    at_step: Number | None = None
    trusted: bool = True

    def series_values(self) -> SeriesValues:
        return SeriesValues(
            self.key(), tuple(self.steps), tuple(self.values), self.trusted, self.points, at_step=self.at_step
        )


class ProvenanceBody(Strict):
    """Where a run came from. Absent facts are null. ``commit_sha`` is derived, and not read."""

    commit_sha: str | None = None
    tested_sha: str | None = None
    ci_sha: str | None = None
    base_sha: str | None = None
    pr: Number | None = None
    ci_run_id: Number | None = None
    ci_run_attempt: Number | None = None
    event: str | None = None
    ref: str | None = None
    cadence: str | None = None
    shard: str | None = None
    test_attempt: Number | None = None
    host: str | None = None
    gpu_model: str | None = None
    gpu_driver: str | None = None
    image_digest: str | None = None
    packages: dict[str, str] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)] | None = None
    fork: bool | None = None

    def provenance(self) -> Provenance:
        return Provenance(**self.model_dump(exclude={"commit_sha"}))


class RunBody(Strict):
    """One passing attempt. ``trusted``: what its own gate says of it, which the service checks. ``verdict``: in its
    stored form, with what is declared beside the keys; empty: the service's own is stored, by the keys alone.
    ``epochs``: metric to the epoch it was judged under.
    """

    schema_: One = Field(1, alias="schema")
    series: SeriesBody
    created_at: Moment
    series_values: list[ValuesBody] = Field(max_length=MAX_SPECS)
    provenance: ProvenanceBody
    trusted: bool = True
    has_error: bool = False
    verdict: dict[str, Any] = Field(default_factory=dict)
    epochs: dict[str, str | None] | None = None
    idempotency_key: str | None = Field(None, max_length=500, description="Instead of the header Idempotency-Key.")
    beside_others: bool = Field(default=False, description="It takes the place of no other attempt of its CI run.")

    def new_run(self, project: str) -> NewRun:
        """Raises ValueError for too many values."""
        count = sum(len(one.values) for one in self.series_values)
        if count > MAX_VALUES:
            raise ValueError(f"{count} values; one run may have {MAX_VALUES}")
        return NewRun(
            identity=self.series.identity(project),
            created_at=self.created_at,
            trusted=self.trusted,
            has_error=self.has_error,
            series=tuple(one.series_values() for one in self.series_values),
            provenance=self.provenance.provenance(),
            verdict=self.verdict,
            idempotency_key=self.idempotency_key,
            epochs=self.epochs,
            beside_others=self.beside_others,
        )


class HistoryQuery(Strict):
    """What the gate asks before it judges a run: the newest ``limit`` values of each coordinate, the first
    ``anchor_runs`` runs of the epoch; runs of ``exclude_ci_run_id`` are left out everywhere.
    """

    series: SeriesBody
    specs: list[SpecBody] = Field(max_length=MAX_SPECS)
    limit: int = Field(20, ge=1, le=MAX_RUNS)
    anchor_runs: int = Field(20, ge=0, le=MAX_RUNS)
    exclude_ci_run_id: Number | None = None
    for_gate_call: bool = Field(
        default=False, description="Also what it asks next: the newest trusted run, the enforcement switch."
    )
