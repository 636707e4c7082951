"""The contract on SQLite and Postgres. Each method is one unit of work; the work itself stands in a module per noun."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from sqlalchemy import Connection, select

from gate.history import History
from gate.identity import Coordinate, SeriesIdentity, SpecKey
from gate.past import SeriesPast
from gate.policy import GatePolicy
from store import (
    attempt_rows,
    dry_runs,
    epoch_rows,
    epochs,
    frames,
    listing,
    marks,
    past_rows,
    reading,
    series_listing,
    settings,
    writing,
)
from store.change_marker import Marker, change_marker
from store.checks import check_attempt, check_identity, check_limit, check_storable
from store.connections import Connections
from store.contract import (
    ActionResult,
    Attempt,
    AttemptFilter,
    EnforcementSwitch,
    Epoch,
    MarkRequest,
    NewRun,
    RunFilter,
    RunValues,
    SeriesSummary,
    StoredRun,
    TrustEvent,
    TrustGrain,
)
from store.epoch_rows import NewEpoch
from store.metric_rows import MetricQuery
from store.pages import Pages
from store.prepared import prepare
from store.second_judgement import SecondJudgement
from store.selectors import one_selector
from store.sessions import Sessions
from store.tokens import Tokens
from store.trust import (
    ENFORCEMENT_OFF,
    ENFORCEMENT_ON,
    MARK_TRUSTED,
    MARK_UNTRUSTED,
    START_EPOCH,
    UNDO_EPOCH,
    epoch_selector,
    new_action,
)

if TYPE_CHECKING:
    import pandas as pd


class SqlMetricHistoryStore:
    """See `store.contract.MetricHistoryStore`. Opened by `store.opening.open_store`.

    ``tokens`` and ``sessions``: who may use a service over this store. They are no part of the contract: whoever
    reaches a store through a service cannot let others in. ``pages``: its listings as a service gives them.
    """

    def __init__(self, connections: Connections, trust: TrustGrain, policy: GatePolicy) -> None:
        self._connections = connections
        self._trust: TrustGrain = trust
        self._lens = dry_runs.Lens(policy, trust)
        self.tokens = Tokens(connections)
        self.sessions = Sessions(connections)
        self.pages = Pages(connections)

    def pinned(self) -> AbstractContextManager[None]:
        """One connection for all calls of this thread inside the block: a gate call reads and writes over it."""
        return self._connections.pinned()

    def write_run(self, run: NewRun) -> StoredRun:
        prepared = prepare(run)
        return self._connections.write(lambda connection: writing.write_run(connection, prepared))

    def write_judged_run(self, run: NewRun, policy: GatePolicy, held_back: str | None = None) -> StoredRun:
        """`write_run` for a writer whose word is not enough: judged again by ``policy`` in the same transaction, so
        that nothing changes between the read and the write, and trusted only where both say so. ``held_back``: why
        this writer's runs are stored untrusted, whatever they are worth.

        Raises: as `write_run`; ValueError (a verdict that is none or is about another series, keys of no declaration).
        """
        prepared = prepare(run)
        second = SecondJudgement.of(run, policy)

        def judged(connection: Connection) -> NewRun:
            return second(reading.OpenHistory(connection, self._trust))

        terms = writing.Terms(judged, held_back)
        return self._connections.write(lambda connection: writing.write_run(connection, prepared, terms))

    def recent_trusted_values(
        self, identity: SeriesIdentity, coordinates: Sequence[Coordinate], limit: int = 20
    ) -> dict[Coordinate, list[float]]:
        specs = tuple({coordinate.spec_key: None for coordinate in coordinates})
        history = self.read_history(identity, specs, limit, anchor_runs=0, exclude_ci_run_id=None)
        return reading.newest_values(history, coordinates, limit)

    def read_history(
        self,
        identity: SeriesIdentity,
        specs: Sequence[SpecKey],
        limit: int,
        anchor_runs: int,
        exclude_ci_run_id: int | None,
    ) -> History:
        check_limit(limit)
        request = reading.HistoryRequest(identity, specs, limit, anchor_runs, exclude_ci_run_id)
        return self._connections.read(lambda connection: reading.read_history(connection, request, self._trust))

    def change_marker(self, identity: SeriesIdentity) -> Marker:
        """Equal as long as the baselines of the series are. See `store.change_marker`."""
        return self._connections.read(lambda connection: change_marker(connection, identity))

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
        request = MarkRequest(project, trusted=False, reason=reason, actor=actor)
        return len(self.mark(replace(request, run_id=run_id, ci_run_id=ci_run_id, commit_sha=commit_sha)).runs)

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
        request = MarkRequest(project, trusted=True, reason=reason, actor=actor)
        return len(self.mark(replace(request, run_id=run_id, ci_run_id=ci_run_id, commit_sha=commit_sha)).runs)

    def mark(self, request: MarkRequest) -> ActionResult:
        selector = one_selector(request.run_id, request.ci_run_id, request.commit_sha)
        name = MARK_TRUSTED if request.trusted else MARK_UNTRUSTED
        action = new_action(request.project, name, str(selector), request.reason, request.actor)
        if request.dry_run:
            return self._connections.read(lambda connection: dry_runs.of_mark(connection, action, selector, self._lens))
        return self._connections.write(lambda connection: marks.mark(connection, action, selector))

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
        check_identity(identity)
        for name, value in (("metric", metric), ("from_run", from_run)):
            check_storable(name, value or "")
        new = NewEpoch(uuid.uuid4().hex, identity, metric, from_run)
        action = new_action(identity.project, START_EPOCH, epoch_selector(new.epoch_id), reason, actor)
        if dry_run:
            return self._connections.read(lambda connection: dry_runs.of_start(connection, new, self._lens))
        return self._connections.write(lambda connection: epochs.start_epoch(connection, action, new, self._trust))

    def undo_epoch(
        self, *, project: str, epoch_id: str, reason: str, actor: str, dry_run: bool = False
    ) -> ActionResult:
        check_storable("epoch id", epoch_id)
        action = new_action(project, UNDO_EPOCH, epoch_selector(epoch_id), reason, actor)
        if dry_run:
            return self._connections.read(lambda connection: dry_runs.of_undo(connection, action, epoch_id, self._lens))
        return self._connections.write(lambda connection: epochs.undo_epoch(connection, action, epoch_id))

    def list_epochs(self, project: str, identity: SeriesIdentity | None = None) -> list[Epoch]:
        return self._connections.read(lambda connection: epoch_rows.list_epochs(connection, project, identity))

    def get_enforcement(self, project: str) -> EnforcementSwitch:
        return self._connections.read(lambda connection: settings.get_enforcement(connection, project))

    def set_enforcement(
        self, *, project: str, on: bool, reason: str, actor: str, dry_run: bool = False
    ) -> EnforcementSwitch:
        action = new_action(project, ENFORCEMENT_ON if on else ENFORCEMENT_OFF, settings.ENFORCEMENT, reason, actor)
        if dry_run:
            return self._connections.read(lambda connection: settings.plan_enforcement(connection, action))
        return self._connections.write(lambda connection: settings.set_enforcement(connection, action))

    def record_attempts(self, attempts: Sequence[Attempt]) -> int:
        for attempt in attempts:
            check_attempt(attempt)
        return self._connections.write(lambda connection: attempt_rows.record_attempts(connection, attempts))

    def list_attempts(self, project: str, where: AttemptFilter) -> list[Attempt]:
        if where.newest is not None:
            check_limit(where.newest)
        return self._connections.read(lambda connection: attempt_rows.list_attempts(connection, project, where))

    def get_run(self, project: str, run_id: str) -> RunValues:
        (found,) = self.get_runs(project, [run_id])
        return found

    def get_runs(self, project: str, run_ids: Sequence[str]) -> list[RunValues]:
        return self._connections.read(lambda connection: listing.runs_with_values(connection, project, run_ids))

    def list_runs(self, project: str, where: RunFilter) -> list[StoredRun]:
        check_limit(where.limit)
        return self._connections.read(lambda connection: listing.list_runs(connection, project, where))

    def list_series(self, project: str) -> list[SeriesSummary]:
        return self._connections.read(lambda connection: series_listing.list_series(connection, project))

    def list_specs(self, identity: SeriesIdentity) -> list[SpecKey]:
        return self._connections.read(lambda connection: listing.list_specs(connection, identity))

    def trust_events(self, project: str, limit: int = 100, run_id: str | None = None) -> list[TrustEvent]:
        check_limit(limit)
        return self._connections.read(lambda connection: listing.list_trust_events(connection, project, limit, run_id))

    def read_past(self, identity: SeriesIdentity) -> SeriesPast:
        return self._connections.read(lambda connection: past_rows.read_past(connection, identity))

    def metric_history(self, identity: SeriesIdentity, metric_key: str, step: int | None = None) -> pd.DataFrame:
        query = MetricQuery(identity, metric_key, step)
        return self._connections.read(lambda connection: frames.metric_history(connection, query))

    def check(self) -> None:
        """One statement, to see whether the store can be used now. Raises StoreUnavailable, SchemaMismatch."""
        self._connections.read(lambda connection: connection.execute(select(1)))

    def close(self) -> None:
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()
