"""The reference's two stores over driftgate's SQL store. SQLAlchemy is loaded when one is made."""

from __future__ import annotations

import os
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from os import PathLike, fspath
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from driftgate.compat.storage import DEFAULT_PROJECT, MetricHistoryStore, MetricSample, RunIdentity, RunProvenance
from gate.identity import Coordinate, SeriesIdentity, SpecKey
from gate.provenance import Provenance

if TYPE_CHECKING:
    from gate.history import History
    from store.contract import SeriesValues

NEON_DATABASE_URL_ENV = "NEON_DATABASE_URL"
"""Names the database of `NeonMetricHistoryStore`."""
_ACTOR = "driftgate.compat"
_REASON = "marked through driftgate.compat, which takes no reason"
_ALL_RUNS = 2**31 - 1


class OwnStore(MetricHistoryStore):
    """The contract over a driftgate store, closed by ``close`` or at the end of a ``with``.

    driftgate's rules for a run hold beside the reference's: a coordinate has one value, an identity and a commit are
    text that a database can hold, ``created_at`` is not more than a day ahead. Store errors are those of
    ``store.errors``.
    """

    def __init__(self, url: str, project: str) -> None:
        from store.opening import open_store

        self._project = project
        self._store = open_store(url)

    def write_run(
        self,
        identity: RunIdentity,
        provenance: RunProvenance,
        created_at: str,
        trusted: bool,  # noqa: FBT001 - the reference's signature
        values: list[MetricSample],
    ) -> str:
        """As the contract says; a ``created_at`` without a time zone is UTC."""
        from store.contract import NewRun

        run = NewRun(
            identity=self._series(identity.test_path, identity.backend, identity.suite),
            created_at=_aware(created_at),
            trusted=trusted,
            has_error=False,
            series=tuple(_series_values(values, trusted=trusted)),
            provenance=_provenance(provenance),
            verdict={},
            idempotency_key=uuid.uuid4().hex,
            beside_others=True,
        )
        return self._store.write_run(run).run_id

    def recent_trusted_values(  # noqa: PLR0913, PLR0917 - the reference's signature
        self,
        test_path: str,
        backend: str,
        suite: str,
        metric_key: str,
        steps_key: str,
        constraint_key: str,
        step: int,
        limit: int,
    ) -> list[float]:
        coordinate = Coordinate(metric_key, steps_key, constraint_key, step)
        identity = self._series(test_path, backend, suite)
        return self._store.recent_trusted_values(identity, [coordinate], limit)[coordinate]

    def read_history(self, identity: RunIdentity, specs: Sequence[SpecKey], limit: int) -> History:
        """The newest ``limit`` trusted values at every coordinate of these gate specs, in one read."""
        series = self._series(identity.test_path, identity.backend, identity.suite)
        return self._store.read_history(series, specs, limit, anchor_runs=0, exclude_ci_run_id=None)

    def mark_untrusted(
        self, *, run_id: str | None = None, github_run_id: int | None = None, commit_sha: str | None = None
    ) -> int:
        """As the contract says: runs that arrive later are not marked.

        Each run is marked by its own id, so ``driftgate mark-trusted --run-id`` puts it back. Interrupted in between,
        repeat it.
        """
        from store.contract import RunFilter

        given = [selector for selector in (run_id, github_run_id, commit_sha) if selector is not None]
        if len(given) != 1 or given == [""]:
            raise ValueError("give exactly one of run_id, github_run_id and commit_sha, and not an empty one")
        where = RunFilter(run_id=run_id, ci_run_id=github_run_id, commit_sha=commit_sha, trusted=True, limit=_ALL_RUNS)
        found = self._store.list_runs(self._project, where)
        return sum(self._mark(run.run_id) for run in found)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def _mark(self, run_id: str) -> int:
        return self._store.mark_untrusted(project=self._project, run_id=run_id, reason=_REASON, actor=_ACTOR)

    def _series(self, test_path: str, backend: str, suite: str) -> SeriesIdentity:
        return SeriesIdentity(self._project, test_path, backend, suite)


class SQLiteMetricHistoryStore(OwnStore):
    """A history in a SQLite file, made with its folder on first use, or in memory.

    Raises StoreUnavailable for a file that is no history of driftgate's; it is left as it is.
    """

    def __init__(self, database: str | PathLike[str] = ":memory:", *, project: str = DEFAULT_PROJECT) -> None:
        super().__init__(f"sqlite:///{quote(fspath(database), safe='/:')}", project)


class NeonMetricHistoryStore(OwnStore):
    """A history in Postgres; its schema belongs to ``driftgate db upgrade``. Reached at the first call."""

    def __init__(self, dsn: str | None = None, *, project: str = DEFAULT_PROJECT) -> None:
        """Raises: RuntimeError (no ``dsn``, and `NEON_DATABASE_URL_ENV` is unset), ConfigError (no URL)."""
        dsn = dsn or os.environ.get(NEON_DATABASE_URL_ENV)
        if not dsn:
            raise RuntimeError(f"no database: give dsn or set {NEON_DATABASE_URL_ENV}")
        super().__init__(dsn, project)


def _aware(created_at: str) -> datetime:
    at = datetime.fromisoformat(created_at)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def _series_values(samples: Sequence[MetricSample], *, trusted: bool) -> Iterator[SeriesValues]:
    """By gate spec and step. Raises ValueError for a coordinate with two values; equal ones count once."""
    from store.contract import SeriesValues

    by_spec: defaultdict[SpecKey, dict[int, float]] = defaultdict(dict)
    for sample in samples:
        values = by_spec[SpecKey(sample.metric_key, sample.steps_key, sample.constraint_key)]
        if sample.step in values and values[sample.step] != sample.value:
            raise ValueError(f"{sample.metric_key} step {sample.step} has two values in one run; give one")
        values[sample.step] = sample.value
    for key, values in by_spec.items():
        steps = tuple(sorted(values))
        yield SeriesValues(key, steps, tuple(values[step] for step in steps), trusted=trusted, points=len(steps))


def _provenance(theirs: RunProvenance) -> Provenance:
    from store.checks import check_storable

    for name in ("commit_sha", "event_name", "ref"):
        check_storable(name, getattr(theirs, name) or "")
    return Provenance(
        tested_sha=theirs.commit_sha,
        pr=theirs.pr_number,
        ci_run_id=theirs.github_run_id,
        ci_run_attempt=theirs.github_run_attempt,
        event=theirs.event_name,
        ref=theirs.ref,
    )
