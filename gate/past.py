"""A stored series in order, which answers the gate's one read as of any moment of it."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gate.history import (
    HISTORY_WINDOW,
    POINT_COUNT_RUNS,
    RECENT_RUNS,
    VALID_RUNS,
    History,
    RunRef,
    SpecHistory,
    StoredSeries,
)
from gate.identity import SeriesIdentity, SpecKey

Place = tuple[datetime, int]
"""(created_at, seq): the order of a series."""
TrustGrain = Literal["run", "metric"]


@dataclass(frozen=True, slots=True, eq=False)
class PastValues:
    """The stored values of one gate spec in one run.

    ``steps`` int64 (m,) strictly ascending; ``values`` float64 (m,) finite; ``trusted``: no check of this spec
    failed; ``points``: how many points the metric had; ``at_step``: where a single value came from.
    """

    key: SpecKey
    steps: NDArray[np.int64]
    values: NDArray[np.float64]
    trusted: bool
    points: int
    at_step: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PastRun:
    """One stored run. ``trusted`` is what holds now, ``gate_trusted`` what the gate said when it was written.

    ``marked`` is an operator's decision, None without one; ``untrusted_reason`` why the store held the run back
    although the gate had trusted it. ``verdict`` is the stored document, empty where there is none.
    """

    run_id: str
    created_at: datetime
    seq: int
    trusted: bool
    gate_trusted: bool
    has_error: bool
    values: tuple[PastValues, ...] = ()
    marked: bool | None = None
    untrusted_reason: str | None = None
    superseded_by: str | None = None
    ci_run_id: int | None = None
    commit_sha: str | None = None
    verdict: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        return (self.created_at, self.seq)

    @property
    def gate_decides(self) -> bool:
        """Whether the trust of this run is the gate's own: no operator's decision, nothing that held it back."""
        return self.marked is None and self.untrusted_reason is None

    def may_serve(self, grain: TrustGrain) -> bool:
        """Whether it is a counting run as long as no rerun supersedes it."""
        if grain == "run":
            return self.trusted
        return self.marked is True or (self.gate_decides and any(values.trusted for values in self.values))

    def spec_may_serve(self, values: PastValues, grain: TrustGrain) -> bool:
        """The same of one of its gate specs."""
        if grain == "run":
            return self.trusted
        return self.marked is True or (self.gate_decides and values.trusted)


@dataclass(frozen=True, slots=True)
class PastEpoch:
    """The start of an epoch that was not undone; ``metric_key`` None: for the whole series.

    Of those that hold for a metric the one with the highest ``position`` is in force.
    """

    position: int
    epoch_id: str
    metric_key: str | None
    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class SeriesPast:
    """Everything stored of one series: ``runs`` oldest first by (created_at, seq), and the starts of its epochs."""

    identity: SeriesIdentity
    runs: tuple[PastRun, ...] = ()
    epochs: tuple[PastEpoch, ...] = ()

    def epoch_of(self, metric_key: str, at: Place | None = None) -> PastEpoch | None:
        """The epoch in force for a metric; of those that began by ``at`` where that is given."""
        applying = [
            epoch
            for epoch in self.epochs
            if epoch.metric_key in (None, metric_key) and (at is None or epoch.place <= at)
        ]
        return max(applying, key=lambda epoch: epoch.position, default=None)


class Past:
    """Grows run by run, and between two runs answers as the store would have.

    A run supersedes earlier ones from its own admission on. Each admission and each read costs at most what the
    window of newest runs holds, however long the series is.
    """

    def __init__(self, series: SeriesPast, grain: TrustGrain = "run") -> None:
        self._series = series
        self._grain: TrustGrain = grain
        self._to_come = {run.run_id for run in series.runs}
        self._runs: list[PastRun] = []
        self._places: list[Place] = []
        self._refs: list[RunRef] = []
        self._counting: list[int] = []
        self._specs: defaultdict[SpecKey, _SpecRows] = defaultdict(_SpecRows)
        self._of_ci_run: defaultdict[int | None, list[int]] = defaultdict(list)
        self._to_supersede: defaultdict[str, list[int]] = defaultdict(list)

    @classmethod
    def as_of(cls, series: SeriesPast, position: int, grain: TrustGrain = "run") -> Past:
        """Before the run at ``position`` came, counted from 0."""
        past = cls(series, grain)
        for run in series.runs[:position]:
            past.admit(run)
        return past

    @property
    def identity(self) -> SeriesIdentity:
        return self._series.identity

    def admit(self, run: PastRun) -> None:
        """The next run of the series, with the trust it is to have. In order: ValueError otherwise."""
        if self._places and run.place <= self._places[-1]:
            raise ValueError(f"run {run.run_id} is not later than the one before it")
        for earlier in self._to_supersede.pop(run.run_id, ()):
            self._withdraw(earlier)
        position = len(self._runs)
        self._to_come.discard(run.run_id)
        self._runs.append(run)
        self._places.append(run.place)
        self._of_ci_run[run.ci_run_id].append(position)
        if run.superseded_by is not None and run.superseded_by not in self._to_come:
            self._refs.append(_ref(run, counting=False, valid=False))
            return
        if run.superseded_by is not None:
            self._to_supersede[run.superseded_by].append(position)
        self._enter(position, run)

    def read_history(
        self,
        identity: SeriesIdentity,
        specs: Sequence[SpecKey],
        limit: int,
        anchor_runs: int,
        exclude_ci_run_id: int | None,
        *,
        at: Place | None = None,
    ) -> History:
        """As `gate.history.HistoryReader`, of the runs admitted so far; without ``anchor_ever`` and ``others``, which
        warn and judge nothing.

        ``at``: the place of the run to judge, before which no epoch has begun that starts later.
        """
        if identity != self._series.identity:
            return History()
        excluded = frozenset(() if exclude_ci_run_id is None else self._of_ci_run.get(exclude_ci_run_id, ()))
        window = _newest(self._counting, 0, HISTORY_WINDOW, excluded)
        question = _Question(max(limit, POINT_COUNT_RUNS), anchor_runs, window[0] if window else 0, excluded)
        recent = _newest(range(len(self._refs)), 0, RECENT_RUNS, excluded)
        return History(
            {key: self._spec_history(key, question, at) for key in specs},
            tuple(self._refs[position] for position in reversed(recent)),
        )

    def _spec_history(self, key: SpecKey, question: _Question, at: Place | None) -> SpecHistory:
        epoch = self._series.epoch_of(key.metric_key, at)
        first = 0 if epoch is None else bisect_left(self._places, epoch.place)
        epoch_id = None if epoch is None else epoch.epoch_id
        rows = self._specs.get(key)
        return SpecHistory(epoch_id=epoch_id) if rows is None else rows.answer(question, first, epoch_id)

    def _enter(self, position: int, run: PastRun) -> None:
        valid = not run.has_error and run.marked is None
        serves = run.may_serve(self._grain)
        self._refs.append(_ref(run, counting=serves, valid=valid))
        if serves:
            self._counting.append(position)
        for values in run.values:
            ref = _ref(run, counting=run.spec_may_serve(values, self._grain), valid=valid)
            self._specs[values.key].add(position, StoredSeries(ref, values.steps, values.values, values.points))

    def _withdraw(self, position: int) -> None:
        run = self._runs[position]
        self._refs[position] = _ref(run, counting=False, valid=False)
        _remove(self._counting, position)
        for values in run.values:
            self._specs[values.key].withdraw(position)


@dataclass(frozen=True, slots=True)
class _Question:
    """``rows`` of each step set are wanted, none older than ``window``; positions count from the oldest run."""

    rows: int
    anchor_runs: int
    window: int
    excluded: frozenset[int]


class _SpecRows:
    """The rows of one gate spec by position. Step sets are kept in the order of their newest counting run."""

    def __init__(self) -> None:
        self._stored: dict[int, StoredSeries] = {}
        self._counting: list[int] = []
        self._valid: list[int] = []
        self._by_steps: dict[bytes, list[int]] = {}

    def add(self, position: int, stored: StoredSeries) -> None:
        self._stored[position] = stored
        if stored.run.valid:
            self._valid.append(position)
        if stored.run.counting:
            self._counting.append(position)
            steps = stored.steps.tobytes()
            positions = self._by_steps.pop(steps, [])
            positions.append(position)
            self._by_steps[steps] = positions

    def withdraw(self, position: int) -> None:
        for positions in (self._counting, self._valid, *self._by_steps.values()):
            _remove(positions, position)
        left = [item for item in self._by_steps.items() if item[1]]
        self._by_steps = dict(sorted(left, key=lambda item: item[1][-1]))

    def answer(self, question: _Question, first: int, epoch_id: str | None) -> SpecHistory:
        """``first``: the position at which the epoch begins."""
        excluded = question.excluded
        anchor = _oldest(self._counting, first, question.anchor_runs, excluded)
        valid = _newest(self._valid, first, VALID_RUNS, excluded)
        return SpecHistory(
            baseline=self._rows(sorted(self._baseline(max(first, question.window), question), reverse=True)),
            anchor=self._rows(anchor),
            valid=self._rows(valid[::-1]),
            epoch_id=epoch_id,
        )

    def _baseline(self, first: int, question: _Question) -> list[int]:
        found: list[int] = []
        for positions in reversed(self._by_steps.values()):
            if positions[-1] < first:
                break
            found += _newest(positions, first, question.rows, question.excluded)
        return found

    def _rows(self, positions: Sequence[int]) -> tuple[StoredSeries, ...]:
        return tuple(self._stored[position] for position in positions)


def _newest(positions: Sequence[int], first: int, limit: int, excluded: Collection[int]) -> Sequence[int]:
    """The last ``limit`` of ascending positions that are at least ``first`` and not excluded, ascending."""
    start = max(bisect_left(positions, first), len(positions) - limit - len(excluded))
    kept = positions[start:] if not excluded else [at for at in positions[start:] if at not in excluded]
    return kept[max(0, len(kept) - limit) :]


def _oldest(positions: Sequence[int], first: int, limit: int, excluded: Collection[int]) -> Sequence[int]:
    start = bisect_left(positions, first)
    return [at for at in positions[start : start + limit + len(excluded)] if at not in excluded][:limit]


def _remove(positions: list[int], position: int) -> None:
    at = bisect_left(positions, position)
    if at < len(positions) and positions[at] == position:
        del positions[at]


def _ref(run: PastRun, *, counting: bool, valid: bool) -> RunRef:
    return RunRef(run.run_id, run.created_at, run.trusted, counting, valid, run.ci_run_id)
