"""The reference at each coordinate: stored rows as arrays, and their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.history import POINT_COUNT_RUNS, StoredSeries
from gate.reduction import DOWN, HUGE


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """The newest counting values at each of m coordinates.

    ``n`` int64 (m,): how many values; ``mean`` float64 (m,): their mean, NaN where there are none, never outside their
    minimum and maximum. ``run_ids``, in the order of the rows: every run that a mean used and the newest that the
    other checks look at; rows of these runs alone give the same `Baseline` and the same answers.
    """

    n: NDArray[np.int64]
    mean: NDArray[np.float64]
    run_ids: tuple[str, ...]

    @classmethod
    def of(
        cls, rows: Sequence[StoredSeries], steps: NDArray[np.int64], limit: int, newest: int = POINT_COUNT_RUNS
    ) -> Baseline:
        """From ``rows``, newest first; each coordinate takes the first ``limit`` rows that have its step. The first
        ``newest`` are named, used or not.
        """
        values, n, used = _gathered(rows, steps, limit)
        run_ids = tuple(rows[index].run.run_id for index in sorted({*used, *range(len(rows))[:newest]}))
        return cls(n, column_means(values), run_ids)


def column_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each column of ``values`` (r, m), NaN marking no value; NaN for a column without any.

    Rows are added in order, so that the sum does not depend on how numpy is built. Values near the largest double
    are scaled by a power of two, so that their sum does not overflow.
    """
    missing = np.isnan(values)
    low = np.fmin.reduce(values, axis=0, initial=np.nan)
    high = np.fmax.reduce(values, axis=0, initial=np.nan)
    scale = np.where(np.maximum(np.abs(low), np.abs(high)) > HUGE, DOWN, 1.0)
    total = np.zeros(values.shape[1])
    for row, absent in zip(values, missing, strict=True):
        total += np.where(absent, 0.0, row * scale)
    count = values.shape[0] - np.count_nonzero(missing, axis=0)
    with np.errstate(over="ignore"):  # rounding may lift a mean of largest doubles past them; the bounds bring it back
        mean: NDArray[np.float64] = total / np.maximum(count, 1) / scale
    return np.clip(mean, low, high)


def _gathered(
    rows: Sequence[StoredSeries], steps: NDArray[np.int64], limit: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], list[int]]:
    """Values (r, m), row k holding each coordinate's k-th newest or NaN; how many each has; the rows that were used."""
    lead = _leading(rows[:limit], steps)
    values = np.full((min(limit, len(rows)), steps.size), np.nan)
    for index in range(lead):
        values[index] = rows[index].values
    n = np.full(steps.size, lead, np.int64)
    used = list(range(lead))
    for index in range(lead, len(rows)):
        if not np.any(n < limit):
            break
        at, source = _shared(rows[index].steps, steps)
        wanting = n[at] < limit
        at, source = at[wanting], source[wanting]
        values[n[at], at] = rows[index].values[source]
        n[at] += 1
        if at.size:
            used.append(index)
    return values, n, used


def _leading(rows: Sequence[StoredSeries], steps: NDArray[np.int64]) -> int:
    """How many rows from the first on have exactly ``steps``: the common case, which needs no look-up."""
    for index, row in enumerate(rows):
        if row.steps is not steps and not np.array_equal(row.steps, steps):
            return index
    return len(rows)


def _shared(row_steps: NDArray[np.int64], steps: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the steps that both have lie in ``steps`` and in ``row_steps``."""
    _, at, source = np.intersect1d(steps, row_steps, assume_unique=True, return_indices=True)
    return at, source
