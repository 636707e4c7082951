"""The past that a run is judged against: the store's, or that of a baseline file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from driftgate.harness.baseline_file import BaselineFile, SeriesBaseline
from gate.errors import DriftgateError
from gate.history import POINT_COUNT_RUNS, History, HistoryReader, RunRef, SpecHistory, StoredSeries
from gate.identity import AGGREGATE_STEP, SeriesIdentity, SpecKey
from gate.provenance import Provenance
from store.contract import MetricHistoryStore, RunFilter


class KnownPast(HistoryReader, Protocol):
    def provenance_of(self, identity: SeriesIdentity, run_id: str) -> Provenance | None:
        """Where a run came from, None where this past does not tell."""
        ...


@dataclass(frozen=True, slots=True)
class StoredPast:
    """Of a store."""

    store: MetricHistoryStore

    def read_history(
        self,
        identity: SeriesIdentity,
        specs: Sequence[SpecKey],
        limit: int,
        anchor_runs: int,
        exclude_ci_run_id: int | None,
    ) -> History:
        return self.store.read_history(identity, specs, limit, anchor_runs, exclude_ci_run_id)

    def provenance_of(self, identity: SeriesIdentity, run_id: str) -> Provenance | None:
        found = self.store.list_runs(identity.project, RunFilter(run_id=run_id))
        return found[0].provenance if found else None


@dataclass(frozen=True, slots=True, eq=False)
class ExportedPast:
    """Of a baseline file: the same answers as the store gave when it was exported.

    Where a full file holds runs of the CI run that is left out, noise is estimated from so many valid runs fewer.
    """

    file: BaselineFile

    def read_history(
        self,
        identity: SeriesIdentity,
        specs: Sequence[SpecKey],
        limit: int,
        anchor_runs: int,
        exclude_ci_run_id: int | None,
    ) -> History:
        if identity.project != self.file.origin.project:
            raise DriftgateError(
                f"the baseline file is of project {self.file.origin.project}, not of {identity.project}; "
                f"export it with --project {identity.project}"
            )
        series = self.file.series.get(identity, SeriesBaseline(History()))
        known = {key: _without(spec, exclude_ci_run_id, anchor_runs) for key, spec in series.history.specs.items()}
        return History(
            specs={key: _spec_history(key, specs, known, series.epoch_id, limit) for key in specs},
            recent_runs=tuple(run for run in series.history.recent_runs if not _is_of(run, exclude_ci_run_id)),
        )

    def provenance_of(self, identity: SeriesIdentity, run_id: str) -> Provenance | None:
        series = self.file.series.get(identity)
        last = series and series.last_trusted
        return last.provenance if last and last.run_id == run_id else None


def _without(spec: SpecHistory, ci_run_id: int | None, anchor_runs: int) -> SpecHistory:
    """As if the runs of one CI run had never been: they do not judge each other."""

    def kept(rows: Sequence[StoredSeries]) -> tuple[StoredSeries, ...]:
        return tuple(row for row in rows if not _is_of(row.run, ci_run_id))

    anchor = kept(spec.anchor)
    ever = spec.anchor_ever - (len(spec.anchor) - len(anchor))
    return replace(
        spec,
        baseline=kept(spec.baseline),
        anchor=anchor[:anchor_runs],
        valid=kept(spec.valid),
        anchor_ever=min(ever, anchor_runs),
    )


def _is_of(run: RunRef, ci_run_id: int | None) -> bool:
    return ci_run_id is not None and run.ci_run_id == ci_run_id


def _spec_history(
    key: SpecKey,
    asked: Sequence[SpecKey],
    known: Mapping[SpecKey, SpecHistory],
    epoch_id: str | None,
    limit: int,
) -> SpecHistory:
    """Where the declaration has no baseline, with that of its metric under others that nobody asked for."""
    same_metric = {other: spec for other, spec in known.items() if other.metric_key == key.metric_key}
    epochs = [spec.epoch_id for spec in same_metric.values()] or [epoch_id]
    own = known.get(key, SpecHistory(epoch_id=epochs[0]))
    if own.baseline:
        return own
    warm = {other.steps_key for other in asked if other in same_metric and same_metric[other].baseline}
    rows = [
        row
        for other, spec in same_metric.items()
        if other not in asked and other.steps_key not in warm
        for row in spec.baseline[: max(limit, POINT_COUNT_RUNS)]
        if other.steps_key == key.steps_key or AGGREGATE_STEP not in row.steps
    ]
    return replace(own, others=tuple(sorted(rows, key=lambda row: row.run.created_at, reverse=True)))
