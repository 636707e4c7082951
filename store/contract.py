"""The store's contract. Every implementation passes one and the same test class (``tests/store``).

Common promises: every call is one transaction and is atomic; calls may come from several threads and several
processes at once; a call that raised `StoreUnavailable` may be repeated without harm; another project's rows do not
exist. All times are timezone-aware UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from gate.history import History
from gate.identity import Coordinate, SeriesIdentity, SpecKey
from gate.past import SeriesPast
from gate.provenance import Provenance

if TYPE_CHECKING:
    import pandas as pd

TrustGrain = Literal["run", "metric"]


@dataclass(frozen=True, slots=True)
class SeriesValues:
    """The selected values of one gate spec in one run.

    ``steps`` strictly ascending, as long as ``values``; ``trusted``: no check of this spec failed; ``points``: how
    many points the metric had; ``at_step``: where the single value of ``"last"`` or a reduction came from.
    """

    key: SpecKey
    steps: tuple[int, ...]
    values: tuple[float, ...]
    trusted: bool
    points: int
    at_step: int | None = None


@dataclass(frozen=True, slots=True)
class NewRun:
    """One passing attempt, judged, ready to be stored.

    ``idempotency_key`` None means the default: (series, CI run id, CI attempt, test attempt); without a CI run id a
    key must be given. ``epochs`` maps each metric key to the epoch id it was judged under (None: before the first);
    the whole mapping None skips the check. ``has_error``: some check was ERROR, so the run is not *valid*.
    """

    identity: SeriesIdentity
    created_at: datetime
    trusted: bool
    has_error: bool
    series: tuple[SeriesValues, ...]
    provenance: Provenance
    verdict: Mapping[str, Any]
    idempotency_key: str | None = None
    epochs: Mapping[str, str | None] | None = None


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as stored, without its values. ``repeat`` is true only in the answer to a repeated `write_run`.

    ``trusted`` is what counts now; ``gate_trusted`` what the gate said when it was written; ``untrusted_reason`` why
    the store kept it untrusted although the gate trusted it (a standing mark, `epoch changed`), or an operator's
    reason. ``superseded_by`` is the run id of a higher attempt of the same CI run.
    """

    run_id: str
    identity: SeriesIdentity
    created_at: datetime
    trusted: bool
    gate_trusted: bool
    has_error: bool
    provenance: Provenance
    verdict: Mapping[str, Any]
    superseded_by: str | None = None
    untrusted_reason: str | None = None
    marked: bool | None = None
    repeat: bool = False

    @property
    def counting(self) -> bool:
        return self.trusted and self.superseded_by is None

    @property
    def valid(self) -> bool:
        return not self.has_error and self.marked is None and self.superseded_by is None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of one test file, whatever came of it. ``attempt_class``: pass, fail, timeout, ..."""

    identity: SeriesIdentity
    ci_run_id: int | None
    ci_run_attempt: int | None
    test_attempt: int
    attempt_class: str
    duration_s: float
    started_at: datetime
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class TrustEvent:
    """One line of the append-only trust log. ``run_id`` None: a standing rule was set or lifted, an epoch started or
    undone.

    ``verdict``: of a run that was judged again under an epoch, the new verdict as it would have been stored.
    """

    at: datetime
    actor: str
    action: str
    reason: str
    run_id: str | None = None
    selector: str | None = None
    trusted_before: bool | None = None
    trusted_after: bool | None = None
    verdict: Mapping[str, Any] | None = None

    @property
    def changed(self) -> bool:
        return self.trusted_before != self.trusted_after


@dataclass(frozen=True, slots=True)
class MarkRequest:
    """An operator's decision on the runs that one selector covers; exactly one selector is given."""

    project: str
    trusted: bool
    reason: str
    actor: str
    run_id: str | None = None
    ci_run_id: int | None = None
    commit_sha: str | None = None


@dataclass(frozen=True, slots=True)
class TrustChange:
    """What a mark or an epoch changed: ``runs`` are the ids of the runs whose trust flipped, in order of arrival."""

    runs: tuple[str, ...] = ()
    epoch_id: str | None = None


@dataclass(frozen=True, slots=True)
class Epoch:
    """A start of an epoch, undone or not. ``metric_key`` None: of every metric of the series.

    ``begins_at``: ``created_at`` of the run that it begins with or after; ``first_run_id``: its first run, None while
    it has none. Of the epochs of a metric that were not undone the one started last is in force; ``in_force``: whether
    that is this one, for any metric.
    """

    epoch_id: str
    identity: SeriesIdentity
    metric_key: str | None
    begins_at: datetime
    first_run_id: str | None
    reason: str
    actor: str
    started_at: datetime
    undone_at: datetime | None
    in_force: bool


@dataclass(frozen=True, slots=True)
class SeriesSummary:
    """One row of a listing of series."""

    identity: SeriesIdentity
    runs: int
    counting: int
    last_run_id: str | None
    last_run_at: datetime | None
    last_trusted: bool | None


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to list; None does not filter. Newest first, at most ``limit``."""

    test_path: str | None = None
    backend: str | None = None
    suite: str | None = None
    trusted: bool | None = None
    ci_run_id: int | None = None
    commit_sha: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class RunValues:
    """A stored run with the values of its gate specs."""

    run: StoredRun
    series: tuple[SeriesValues, ...] = field(default=())


class MetricHistoryStore(Protocol):
    """The contract. ``close`` ends every connection; a store is a context manager that closes itself."""

    def write_run(self, run: NewRun) -> StoredRun:
        """Store a run: run, values, verdict, or nothing. Durable when it returns.

        Idempotent: the same key with the same content (hash of identity, coordinates, values) returns the stored run
        with ``repeat`` and writes nothing. Of the runs of one series and CI run only the highest (CI attempt, test
        attempt) counts, in whatever order they arrive. Stored untrusted where a standing mark covers it or the epochs
        it was judged under are no longer in force.

        Raises: ValueError (a value not finite, naming metric and step; naive or far-future ``created_at``; steps and
        values of different length; no key), StoreConflict (same key, other content; names both), StoreUnavailable.
        """
        ...

    def recent_trusted_values(
        self, identity: SeriesIdentity, coordinates: Sequence[Coordinate], limit: int = 20
    ) -> dict[Coordinate, list[float]]:
        """The newest ``limit`` counting values of each coordinate, newest first; [] for one the store does not know.

        Exact also where runs lack some steps: each coordinate has its own newest ``limit``, found in the newest 500
        counting runs of its epoch, ordered by (created_at, order of arrival) descending.
        """
        ...

    def read_history(
        self,
        identity: SeriesIdentity,
        specs: Sequence[SpecKey],
        limit: int,
        anchor_runs: int,
        exclude_ci_run_id: int | None,
    ) -> History:
        """The gate's one read, in one round trip. See `gate.history.HistoryReader`."""
        ...

    def mark_untrusted(
        self,
        *,
        project: str,
        run_id: str | None = None,
        ci_run_id: int | None = None,
        commit_sha: str | None = None,
        reason: str,
        actor: str,
    ) -> int:
        """Take runs out of every baseline; returns how many changed from trusted to untrusted. Deletes nothing.

        Exactly one selector. By ``ci_run_id`` or ``commit_sha`` it is a standing rule: a run that arrives later under
        it is stored untrusted, until `mark_trusted` with the same selector lifts it. Each changed run and each rule
        is a line of the trust log.

        Raises: ValueError (not exactly one selector, a short SHA, an empty reason or actor), NotFound (unknown run).
        """
        ...

    def mark_trusted(
        self,
        *,
        project: str,
        run_id: str | None = None,
        ci_run_id: int | None = None,
        commit_sha: str | None = None,
        reason: str,
        actor: str,
    ) -> int:
        """Put runs back; returns how many changed from untrusted to trusted. Lifts the standing rule of the selector.

        By ``run_id``: that run, whatever its verdict. By ``ci_run_id`` or ``commit_sha``: exactly the runs that a mark
        by this selector (or its standing rule) made untrusted. A superseded run never becomes trusted: by ``run_id``
        it is refused, by the other selectors it is passed over.

        Raises: as `mark_untrusted`; StoreConflict for a superseded run.
        """
        ...

    def mark(self, request: MarkRequest) -> TrustChange:
        """`mark_untrusted` or `mark_trusted`, with the ids of the runs that changed."""
        ...

    def start_epoch(
        self,
        identity: SeriesIdentity,
        *,
        metric: str | None = None,
        from_run: str | None = None,
        reason: str,
        actor: str,
    ) -> TrustChange:
        """Accept an intended change of level: baselines and anchors of the series, or of one metric, begin anew.

        The epoch's runs are those whose (created_at, order of arrival) is at least that of ``from_run``; without it,
        those after the newest stored run. A run that was judged before and is written afterwards is stored untrusted,
        reason ``epoch changed``.

        Raises: NotFound (unknown run, series without a run, unknown metric), StoreConflict (a run of another series),
        ValueError (an empty reason or actor).
        """
        ...

    def undo_epoch(self, *, project: str, epoch_id: str, reason: str, actor: str) -> TrustChange:
        """As if the epoch had not been started: the one before it is in force again, also for runs judged in between.

        Raises: NotFound (unknown epoch), StoreConflict (undone already), ValueError (an empty reason or actor).
        """
        ...

    def list_epochs(self, project: str, identity: SeriesIdentity | None = None) -> list[Epoch]:
        """Every epoch of the project or of one series, the one started last first, also those that were undone."""
        ...

    def record_attempts(self, attempts: Sequence[Attempt]) -> int:
        """Store attempts; returns how many were new. One already stored (series, CI run, attempts) is left alone."""
        ...

    def get_run(self, project: str, run_id: str) -> RunValues:
        """One run with its values. Raises NotFound."""
        ...

    def get_runs(self, project: str, run_ids: Sequence[str]) -> list[RunValues]:
        """Several runs with their values in one read, in the order asked for. Raises NotFound naming the missing."""
        ...

    def list_runs(self, project: str, where: RunFilter) -> list[StoredRun]:
        """Runs newest first by (created_at, order of arrival)."""
        ...

    def list_series(self, project: str) -> list[SeriesSummary]:
        """Every series of the project, by test path, backend, suite."""
        ...

    def list_specs(self, identity: SeriesIdentity) -> list[SpecKey]:
        """Every gate spec the series has ever stored, newest use first."""
        ...

    def trust_events(self, project: str, limit: int = 100, run_id: str | None = None) -> list[TrustEvent]:
        """The trust log, or its lines on one run, newest first."""
        ...

    def read_past(self, identity: SeriesIdentity) -> SeriesPast:
        """Every run of a series with its values and verdict, oldest first, and the starts of its epochs: for a replay.

        An unknown series has no runs.
        """
        ...

    def metric_history(self, identity: SeriesIdentity, metric_key: str, step: int | None = None) -> pd.DataFrame:
        """Every stored value of a metric, oldest first, never sampled: one row per (run, gate spec, step).

        Columns: run_id, created_at, steps_key, constraint_key, step, value, trusted, superseded, commit_sha,
        ci_run_id. An unknown metric gives an empty frame with these columns.
        """
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None: ...
