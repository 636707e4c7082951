"""From the rows of the one read to a `History`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import numpy as np
from sqlalchemy import Connection

from gate.history import POINT_COUNT_RUNS, History, RunRef, SpecHistory, StoredSeries
from gate.identity import AGGREGATE_STEP, Coordinate, SeriesIdentity, SpecKey
from store.addressing import address, bound_list
from store.contract import TrustGrain
from store.epoch_chain import EpochStart, in_force
from store.hashing import spec_hash
from store.history_query import EPOCH_ROW, ONCE_ROW, RUN_ROW, SERIES_ROW, history_query
from store.predicates import NO_CI_RUN

BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
BASELINE, ANCHOR, VALID, OTHER = 1, 2, 4, 8


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    """The arguments of `read_history`."""

    identity: SeriesIdentity
    specs: Sequence[SpecKey]
    limit: int
    anchor_runs: int
    exclude_ci_run_id: int | None


@dataclass(frozen=True, slots=True)
class OpenHistory:
    """`gate.history.HistoryReader` inside a transaction that somebody else owns."""

    connection: Connection
    grain: TrustGrain

    def read_history(
        self,
        identity: SeriesIdentity,
        specs: Sequence[SpecKey],
        limit: int,
        anchor_runs: int,
        exclude_ci_run_id: int | None,
    ) -> History:
        request = HistoryRequest(identity, specs, limit, anchor_runs, exclude_ci_run_id)
        return read_history(self.connection, request, self.grain)


def read_history(connection: Connection, request: HistoryRequest, grain: TrustGrain) -> History:
    hashes = {spec_hash(key): key for key in request.specs}
    parameters = address(request.identity) | {
        "key_hashes": bound_list(connection, list(hashes)),
        "metric_keys": bound_list(connection, sorted({key.metric_key for key in request.specs})),
        "rows": max(request.limit, POINT_COUNT_RUNS),
        "anchor_runs": request.anchor_runs,
        "exclude_ci_run_id": NO_CI_RUN if request.exclude_ci_run_id is None else request.exclude_ci_run_id,
        "beginning": BEGINNING,
    }
    rows = connection.execute(history_query(connection.dialect.name, grain), parameters).all()
    return _history(rows, hashes)


def newest_values(history: History, coordinates: Iterable[Coordinate], limit: int) -> dict[Coordinate, list[float]]:
    """The first ``limit`` values of each coordinate in its baseline, newest first."""
    wanted: dict[Coordinate, list[float]] = {coordinate: [] for coordinate in coordinates}
    by_spec: dict[SpecKey, dict[int, list[float]]] = {}
    for coordinate, values in wanted.items():
        by_spec.setdefault(coordinate.spec_key, {})[coordinate.step] = values
    for key, by_step in by_spec.items():
        for stored in history.of(key).baseline:
            for step, value in zip(stored.steps.tolist(), stored.values.tolist(), strict=True):
                found = by_step.get(step)
                if found is not None and len(found) < limit:
                    found.append(value)
    return wanted


def _history(rows: Sequence[Any], hashes: Mapping[str, SpecKey]) -> History:
    ordered = sorted(rows, key=attrgetter("created_at", "place"), reverse=True)
    epochs = [EpochStart(row.place, row.id, row.key) for row in rows if row.kind == EPOCH_ROW]
    once = {row.key: row.points for row in rows if row.kind == ONCE_ROW}
    by_key: dict[str, list[tuple[int, StoredSeries]]] = {key_hash: [] for key_hash in hashes}
    others: defaultdict[str, list[tuple[str, StoredSeries]]] = defaultdict(list)
    steps = {row.step_set_id: np.array(row.steps, np.int64) for row in rows if row.steps is not None}
    run_refs: dict[tuple[str, bool], RunRef] = {}
    for row in ordered:
        if row.kind == SERIES_ROW:
            values = np.array(row.values, np.float64)
            run = run_refs.get((row.id, row.counting))
            if run is None:
                run = run_refs[row.id, row.counting] = _run_ref(row)
            stored = StoredSeries(run, steps[row.step_set_id], values, row.points)
            if row.uses & OTHER:
                others[row.key].append((row.steps_key, stored))
            else:
                by_key[row.key].append((row.uses, stored))
    return History(
        specs={
            key: replace(
                _spec_history(by_key[key_hash], _comparable(others[key.metric_key], key)),
                epoch_id=in_force(epochs, key.metric_key),
                anchor_ever=once.get(key_hash, 0),
            )
            for key_hash, key in hashes.items()
        },
        recent_runs=tuple(_run_ref(row) for row in ordered if row.kind == RUN_ROW),
    )


def _spec_history(newest_first: Sequence[tuple[int, StoredSeries]], others: tuple[StoredSeries, ...]) -> SpecHistory:
    def used_as(use: int) -> tuple[StoredSeries, ...]:
        return tuple(stored for uses, stored in newest_first if uses & use)

    baseline = used_as(BASELINE)
    return SpecHistory(baseline, used_as(ANCHOR)[::-1], used_as(VALID), others=() if baseline else others)


def _comparable(others: Sequence[tuple[str, StoredSeries]], key: SpecKey) -> tuple[StoredSeries, ...]:
    """A last value and a mean share a step, not a meaning."""
    return tuple(
        stored for steps_key, stored in others if steps_key == key.steps_key or AGGREGATE_STEP not in stored.steps
    )


def _run_ref(row: Any) -> RunRef:
    return RunRef(
        run_id=row.id,
        created_at=row.created_at,
        trusted=row.trusted,
        counting=bool(row.counting),
        valid=bool(row.valid),
        ci_run_id=row.ci_run_id,
    )
