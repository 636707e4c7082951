"""The contract over a service: a job holds a token for it, and no password of a database."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote

from gate.history import HISTORY_WINDOW, History
from gate.identity import Coordinate, SeriesIdentity, SpecKey
from gate.past import SeriesPast
from store.checks import check_attempt, check_limit
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
)
from store.errors import NotFound, no_epoch
from store.frames import records_frame
from store.http_service import HttpService
from store.http_tokens import TokenSource, tokens_from
from store.prepared import prepare
from store.reading import newest_values
from store.selectors import one_selector
from store.urls import service_url
from store.wire import Document, NotAsPromised, history_from, key_from, key_json, promised, time_json
from store.wire_operations import action_from, attempt_from, epoch_from, event_from, summary_from, switch_from
from store.wire_past import past_from
from store.wire_runs import new_run_json, run_values_from, stored_run_from

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

LONGEST_PAGE = 1000
RUNS_AT_ONCE = 100
"""Of runs with their verdicts or their values."""


class HttpMetricHistoryStore:
    """See `store.contract.MetricHistoryStore`. Opened by `store.opening.open_store`.

    The service judges what is written once more, by its own rules, and names in the trust log whom it knows by the
    token beside the actor given here.
    """

    def __init__(self, url: str, token: TokenSource | None = None, service: HttpService | None = None) -> None:
        """``token``: where it comes from, `tokens_from` the environment if not given. Raises ConfigError (the URL)."""
        address = service_url(url)
        self._service = service or HttpService(address, token or tokens_from(os.environ, address))
        self._along = _Along()

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Connections are kept anyway. Inside the block, which is one gate call, what comes along with the history
        answers what the gate asks next: read and write take one request each.
        """
        self._along.document = {}
        try:
            yield
        finally:
            self._along.document = None

    def write_run(self, run: NewRun) -> StoredRun:
        prepare(run)
        document = self._service.post("/v1/runs", _of(run.identity.project), new_run_json(run))
        return self._read(stored_run_from, document)

    def recent_trusted_values(
        self, identity: SeriesIdentity, coordinates: Sequence[Coordinate], limit: int = 20
    ) -> dict[Coordinate, list[float]]:
        specs = tuple({coordinate.spec_key: None for coordinate in coordinates})
        history = self.read_history(identity, specs, limit, anchor_runs=0, exclude_ci_run_id=None)
        return newest_values(history, coordinates, limit)

    def read_history(
        self,
        identity: SeriesIdentity,
        specs: Sequence[SpecKey],
        limit: int,
        anchor_runs: int,
        exclude_ci_run_id: int | None,
    ) -> History:
        check_limit(limit)
        query = {
            "series": asdict(identity),
            "specs": [key_json(key) for key in specs],
            "limit": min(limit, HISTORY_WINDOW),
            "anchor_runs": min(anchor_runs, HISTORY_WINDOW),
            "exclude_ci_run_id": exclude_ci_run_id,
            "for_gate_call": self._along.document is not None,
        }
        document = self._service.post("/v1/history:query", _of(identity.project), query)
        if self._along.document is not None:
            self._along.document = {**document, "project": identity.project}
        return self._read(history_from, document)

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
        one_selector(request.run_id, request.ci_run_id, request.commit_sha)
        path = "/v1/runs:mark-trusted" if request.trusted else "/v1/runs:mark-untrusted"
        names = ("run_id", "ci_run_id", "commit_sha", "reason", "actor", "dry_run")
        return self._act(request.project, path, {name: getattr(request, name) for name in names})

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
        document = {
            **_place(identity),
            "metric": metric,
            "from_run": from_run,
            "reason": reason,
            "actor": actor,
            "dry_run": dry_run,
        }
        return self._act(identity.project, "/v1/epochs", document)

    def undo_epoch(
        self, *, project: str, epoch_id: str, reason: str, actor: str, dry_run: bool = False
    ) -> ActionResult:
        if not epoch_id or "/" in epoch_id:
            raise no_epoch(project, epoch_id)  # no route has such a part
        document = {"reason": reason, "actor": actor, "dry_run": dry_run}
        return self._act(project, f"/v1/epochs/{_segment(epoch_id)}:undo", document)

    def list_epochs(self, project: str, identity: SeriesIdentity | None = None) -> list[Epoch]:
        if identity is not None and identity.project != project:
            return []
        where = {} if identity is None else _place(identity)
        return list(self._listed("/v1/epochs", _of(project) | where, "epochs", epoch_from))

    def get_enforcement(self, project: str) -> EnforcementSwitch:
        along = self._along.of(project, "enforcement")
        if along is not None:
            return self._read(switch_from, along)
        return self._read(switch_from, self._service.get("/v1/enforcement", _of(project)))

    def set_enforcement(
        self, *, project: str, on: bool, reason: str, actor: str, dry_run: bool = False
    ) -> EnforcementSwitch:
        document = {"enforcement": "on" if on else "off", "reason": reason, "actor": actor, "dry_run": dry_run}
        return self._read(switch_from, self._service.put("/v1/enforcement", _of(project), document))

    def record_attempts(self, attempts: Sequence[Attempt]) -> int:
        by_project: dict[str, list[Attempt]] = {}
        for attempt in attempts:
            check_attempt(attempt)
            by_project.setdefault(attempt.identity.project, []).append(attempt)
        return sum(self._record(project, some) for project, some in by_project.items())

    def list_attempts(self, project: str, where: AttemptFilter) -> list[Attempt]:
        if where.newest is not None:
            check_limit(where.newest)
        asked = asdict(where) | {"since": None if where.since is None else time_json(where.since.astimezone(UTC))}
        found = self._listed("/v1/attempts", _of(project) | asked, "attempts", attempt_from)
        return sorted(found, key=lambda attempt: attempt.identity)

    def get_run(self, project: str, run_id: str) -> RunValues:
        (found,) = self.get_runs(project, [run_id])
        return found

    def get_runs(self, project: str, run_ids: Sequence[str]) -> list[RunValues]:
        found: list[RunValues] = []
        for start in range(0, len(run_ids), RUNS_AT_ONCE):
            wanted = {"run_ids": list(run_ids[start : start + RUNS_AT_ONCE])}
            document = self._service.post("/v1/runs:read", _of(project), wanted)
            found += self._each(document, "runs", run_values_from)
        return found

    def list_runs(self, project: str, where: RunFilter) -> list[StoredRun]:
        check_limit(where.limit)
        along = self._along.of(project, "last_trusted")
        if along is not None and where == RunFilter(run_id=along.get("run_id")):
            return [self._read(stored_run_from, along)]
        found: list[StoredRun] = []
        query = {name: fact for name, fact in asdict(where).items() if name != "limit"}
        cursor = None
        while len(found) < where.limit:
            page = {**query, "limit": min(where.limit - len(found), RUNS_AT_ONCE), "cursor": cursor}
            document = self._service.post("/v1/runs:query", _of(project), page)
            found += self._each(document, "runs", stored_run_from)
            cursor = document.get("next_cursor")
            if cursor is None:
                break
        return found

    def list_series(self, project: str) -> list[SeriesSummary]:
        return list(self._listed("/v1/series", _of(project), "series", summary_from))

    def list_specs(self, identity: SeriesIdentity) -> list[SpecKey]:
        document = self._service.get("/v1/specs", _of(identity.project) | _place(identity))
        return self._each(document, "specs", key_from)

    def trust_events(self, project: str, limit: int = 100, run_id: str | None = None) -> list[TrustEvent]:
        check_limit(limit)
        asked = _of(project) | {"run_id": run_id}
        return list(self._listed("/v1/trust-events", asked, "trust_events", event_from, limit))

    def read_past(self, identity: SeriesIdentity) -> SeriesPast:
        document = self._service.get("/v1/past", _of(identity.project) | _place(identity))
        return self._read(past_from, document)

    def metric_history(self, identity: SeriesIdentity, metric_key: str, step: int | None = None) -> pd.DataFrame:
        asked = _of(identity.project) | _place(identity) | {"metric_key": metric_key, "step": step}
        try:
            rows = list(self._listed("/v1/history", asked, "values", dict))
        except NotFound:
            self.list_specs(identity)  # says so where it is the project that is not known
            rows = []
        return self._read(records_frame, rows)

    def close(self) -> None:
        self._service.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def _act(self, project: str, path: str, document: Mapping[str, Any]) -> ActionResult:
        repeatable = bool(document["dry_run"])
        return self._read(action_from, self._service.post(path, _of(project), document, repeatable=repeatable))

    def _record(self, project: str, attempts: Sequence[Attempt]) -> int:
        rows = [_attempt_json(attempt) for attempt in attempts]
        document = self._service.post("/v1/attempts", _of(project), {"attempts": rows})
        return self._read(lambda found: int(found["new"]), document)

    def _listed(
        self,
        path: str,
        parameters: Mapping[str, Any],
        name: str,
        read: Callable[[Document], T],
        most: int | None = None,
    ) -> Iterator[T]:
        """Every item of a listing, or the first ``most``, page by page."""
        cursor, left = None, most
        while left is None or left > 0:
            limit = LONGEST_PAGE if left is None else min(left, LONGEST_PAGE)
            document = self._service.get(path, {**parameters, "limit": limit, "cursor": cursor})
            found = self._each(document, name, read)
            yield from found
            left = None if left is None else left - len(found)
            cursor = document.get("next_cursor")
            if cursor is None:
                return

    def _each(self, document: Document, name: str, read: Callable[[Document], T]) -> list[T]:
        return self._read(lambda found: [read(item) for item in found[name]], document)

    def _read(self, read: Callable[[Any], T], document: Any) -> T:
        """Raises StoreUnavailable for an answer that is not what was asked for."""
        try:
            with promised():
                return read(document)
        except NotAsPromised as error:
            raise self._service.unpromised(error) from None


class _Along(threading.local):
    """What came along with the last history of this thread's gate call; None outside of one."""

    document: dict[str, Any] | None = None

    def of(self, project: str, name: str) -> dict[str, Any] | None:
        found = self.document or {}
        return found.get(name) if found.get("project") == project else None


def _of(project: str) -> dict[str, Any]:
    return {"project": project}


def _place(identity: SeriesIdentity) -> dict[str, Any]:
    return {"test_path": identity.test_path, "backend": identity.backend, "suite": identity.suite}


def _attempt_json(attempt: Attempt) -> dict[str, Any]:
    facts = asdict(attempt)
    started_at = time_json(attempt.started_at.astimezone(UTC))
    return {"series": facts.pop("identity"), **facts, "started_at": started_at}


def _segment(text: str) -> str:
    """As one part of a path, whatever it holds."""
    return quote(text, safe="")
