"""The store's contract. Every implementation passes one and the same test class (``tests/store``).

Common promises: every call is one transaction and is atomic; calls may come from several threads and several
processes at once; a call that raised `StoreUnavailable` may be repeated without harm; another project's rows do not
exist. All times are timezone-aware UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from gate.history import History
from gate.identity import Coordinate, SeriesIdentity, SpecKey
from gate.past import SeriesPast, TrustGrain
from store.operations import ActionResult, EnforcementSwitch, Epoch, MarkRequest, SeriesEffects, TrustEvent
from store.stored import (
    Attempt,
    AttemptFilter,
    NewRun,
    RunFilter,
    RunValues,
    SeriesSummary,
    SeriesValues,
    StoredRun,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ActionResult",
    "Attempt",
    "AttemptFilter",
    "EnforcementSwitch",
    "Epoch",
    "MarkRequest",
    "MetricHistoryStore",
    "NewRun",
    "RunFilter",
    "RunValues",
    "SeriesEffects",
    "SeriesSummary",
    "SeriesValues",
    "StoredRun",
    "TrustEvent",
    "TrustGrain",
]


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

        Raises: ValueError (not exactly one selector, a CI run id outside 1 to 2**63 - 1, a short SHA, an empty reason
        or actor), NotFound (unknown run).
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

        By ``run_id``: that run, whatever its verdict; a superseded one is refused. By ``ci_run_id`` or ``commit_sha``:
        exactly the runs that a mark by this selector (or its standing rule) made untrusted get back what they had,
        superseded ones too, which count no more than before.

        Raises: as `mark_untrusted`; StoreConflict for a superseded run, naming the run that counts in its place.
        """
        ...

    def mark(self, request: MarkRequest) -> ActionResult:
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
        dry_run: bool = False,
    ) -> ActionResult:
        """Accept an intended change of level: baselines and anchors of the series, or of one metric, begin anew.

        The epoch's runs are those whose (created_at, order of arrival) is at least that of ``from_run``; without it,
        those after the newest stored run. A run that was judged before and is written afterwards is stored untrusted,
        reason ``epoch changed``.

        With ``from_run`` the runs since then are judged again in order under the new epoch, by the declarations of
        their stored verdicts. Only what the gate itself had said changes: a run that is superseded, marked, under a
        standing mark or kept as ``epoch changed`` is left as it is. Each change is a line of the trust log with the
        new verdict; the stored verdict is not rewritten.

        The same again, of the epoch that was started last, changes nothing where no run would come out otherwise: the
        answer is the id of that epoch, which keeps its reason.

        ``dry_run``: nothing is written, and the epoch has no id.

        Raises: NotFound (unknown run, series without a run, unknown metric), StoreConflict (a run of another series),
        ValueError (an empty reason or actor).
        """
        ...

    def undo_epoch(
        self, *, project: str, epoch_id: str, reason: str, actor: str, dry_run: bool = False
    ) -> ActionResult:
        """Take an epoch back: the one before it is in force again, and exactly what its start changed is as before.

        What came later wins: a run that was marked since keeps its mark, beneath which it is undone, so that a
        standing mark that is lifted gives back what was before the epoch; a run that was written since keeps its
        verdict. ``dry_run``: nothing is written.

        Raises: NotFound (unknown epoch), StoreConflict (undone already, or a later epoch has judged some of these runs
        again: undo that one first), ValueError (an empty reason or actor).
        """
        ...

    def list_epochs(self, project: str, identity: SeriesIdentity | None = None) -> list[Epoch]:
        """Every epoch of the project or of one series, the one started last first, also those that were undone."""
        ...

    def get_enforcement(self, project: str) -> EnforcementSwitch:
        """Whether verdicts may fail jobs of the project; they may where nobody has ever said anything."""
        ...

    def set_enforcement(
        self, *, project: str, on: bool, reason: str, actor: str, dry_run: bool = False
    ) -> EnforcementSwitch:
        """Turn the switch, at once for every job that is judged from now on. A line of the trust log.

        What stands already is left as it is, with the reason it has, and leaves no line. ``dry_run``: nothing is
        written. Raises: ValueError (an empty project, reason or actor).
        """
        ...

    def record_attempts(self, attempts: Sequence[Attempt]) -> int:
        """Store attempts; returns how many were new. One already stored (series, CI run, attempts) is left alone.

        Raises: ValueError (a number of the CI run or of an attempt out of range, naming it).
        """
        ...

    def list_attempts(self, project: str, where: AttemptFilter) -> list[Attempt]:
        """Attempts by series (test path, backend, suite), the newest start first."""
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

    def pinned(self) -> AbstractContextManager[None]:
        """One connection for all calls of this thread inside the block: a gate call reads and writes over it."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None: ...
