"""The baseline of one gate spec as people ask for it: by columns, without a run to judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gate.alignment import Alignment
from gate.baseline import Baseline
from gate.columns import column_means, column_sds
from gate.corridor import Corridor
from gate.history import SpecHistory
from gate.identity import SpecKey
from gate.stored_literals import stored_constraint

_NUMBERS = ("mean", "sd", "lo", "hi", "anchor_mean")


@dataclass(frozen=True, slots=True, eq=False)
class BaselineSummary:
    """``run_ids`` (r,) newest first; ``steps`` int64 (m,) ascending; ``values`` float64 (r, m), NaN where a run lacks
    the step or has newer company enough. ``n`` int64, ``mean``, ``sd`` (ddof 1, NaN below two values), ``lo``, ``hi``,
    ``anchor_mean`` (NaN until the anchor is full) float64, all (m,). ``epoch_id``: the epoch in force, None before the
    first.
    """

    key: SpecKey
    run_ids: tuple[str, ...]
    steps: NDArray[np.int64]
    values: NDArray[np.float64]
    n: NDArray[np.int64]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    anchor_mean: NDArray[np.float64]
    epoch_id: str | None = None

    def at(self, step: int) -> BaselineSummary:
        """Only the coordinate of ``step``; without columns where the spec does not have it."""
        kept = self.steps == step
        columns = {name: getattr(self, name)[kept] for name in ("steps", "n", *_NUMBERS)}
        return replace(self, values=self.values[:, kept], **columns)

    def to_json(self) -> dict[str, Any]:
        """The columns as lists, NaN as None."""
        return {
            "metric_key": self.key.metric_key,
            "steps_key": self.key.steps_key,
            "constraint_key": self.key.constraint_key,
            "epoch_id": self.epoch_id,
            "runs": list(self.run_ids),
            "steps": self.steps.tolist(),
            "values": [_nullable(row) for row in self.values],
            "n": self.n.tolist(),
            **{name: _nullable(getattr(self, name)) for name in _NUMBERS},
        }


def summarise(key: SpecKey, history: SpecHistory, *, limit: int, anchor_runs: int) -> BaselineSummary:
    """The newest ``limit`` counting values of every step that any of the rows has, and the corridor they make."""
    steps = np.unique(np.concatenate([row.steps for row in history.baseline] or [np.empty(0, np.int64)]))
    aligned = Alignment(steps)
    baseline = Baseline.aligned(history.baseline, aligned, limit)
    used = set(baseline.run_ids)
    rows = [row for row in history.baseline if row.run.run_id in used]
    values = _newest(np.array([aligned.values(row) for row in rows]).reshape(len(rows), steps.size), limit)
    kept = ~np.all(np.isnan(values), axis=1) if values.size else np.zeros(len(rows), np.bool_)
    corridor = Corridor.around(baseline.mean, stored_constraint(key))
    full = len(history.anchor) >= anchor_runs
    anchor = (
        column_means([aligned.values(row) for row in history.anchor], steps.size)
        if full
        else np.full(steps.size, np.nan)
    )
    run_ids = tuple(row.run.run_id for row, keep in zip(rows, kept, strict=True) if keep)
    sd = column_sds(values, baseline.mean)
    columns = (steps, values[kept], baseline.n, baseline.mean, sd, corridor.lo, corridor.hi, anchor)
    return BaselineSummary(key, run_ids, *columns, epoch_id=history.epoch_id)


def _newest(values: NDArray[np.float64], limit: int) -> NDArray[np.float64]:
    """Only the first ``limit`` numbers of each column."""
    return np.where(np.cumsum(~np.isnan(values), axis=0) <= limit, values, np.nan)


def _nullable(numbers: NDArray[np.float64]) -> list[float | None]:
    listed: list[float | None] = numbers.tolist()
    if np.isfinite(numbers).all():
        return listed
    return [number if finite else None for number, finite in zip(listed, np.isfinite(numbers).tolist(), strict=True)]
