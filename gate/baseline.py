"""The reference at each coordinate: stored rows as arrays, and their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.history import POINT_COUNT_RUNS, StoredSeries
from gate.reduction import DOWN, HUGE

Rows = Sequence[NDArray[np.float64]] | NDArray[np.float64]
"""Equally long rows of float64, NaN marking no value: a list of arrays, or a matrix."""
LARGEST_POWER = 1000
"""Powers of two that scale by no more than this can be multiplied with their inverse."""


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
        return cls(n, column_means(values, steps.size), run_ids)


def column_means(values: Rows, size: int | None = None) -> NDArray[np.float64]:
    """The mean of each of the ``size`` columns of ``values``, NaN for a column without any; an empty list needs
    ``size``.

    Rows are added in order, so that the sum does not depend on how numpy is built. Values near the largest double
    are scaled by a power of two, so that their sum does not overflow.
    """
    size = len(values[0]) if size is None else size
    low, high = _bounds(values, size)
    scale = np.where(np.maximum(np.abs(low), np.abs(high)) > HUGE, DOWN, 1.0)
    scaled = bool(np.any(scale != 1.0))
    total, count = np.zeros(size), np.full(size, len(values))
    for row in values:
        missing = np.isnan(row)
        summand = row * scale if scaled else row
        if missing.any():
            summand = np.where(missing, 0.0, summand)
            count -= missing
        total += summand
    with np.errstate(over="ignore"):  # rounding may lift a mean of largest doubles past them; the bounds bring it back
        mean: NDArray[np.float64] = total / np.maximum(count, 1) / scale
    return np.clip(mean, low, high)


def _bounds(values: Rows, size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest value of each column, NaN without any."""
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    for row in values:
        np.fmin(low, row, out=low)
        np.fmax(high, row, out=high)
    return low, high


def column_sds(values: Rows, mean: NDArray[np.float64], least: int = 2) -> NDArray[np.float64]:
    """The sample sd (ddof 1) of each column of ``values`` (r, m) around ``mean`` (m,); NaN below ``least`` >= 2 values.

    Each column is scaled to about 1 by a power of two, so that squares neither overflow nor vanish.
    """
    low, high = _bounds(values, mean.size)
    _, exponent = np.frexp(np.fmax(np.abs(low), np.abs(high)))
    scale = np.ldexp(1.0, np.clip(-exponent, -LARGEST_POWER, LARGEST_POWER))
    scaled_mean = mean * scale
    squares, count = np.zeros(mean.size), np.full(mean.size, len(values))
    for row in values:
        deviation = row * scale
        deviation -= scaled_mean
        deviation *= deviation
        missing = np.isnan(row)
        if missing.any():
            deviation[missing] = 0.0
            count -= missing
        squares += deviation
    with np.errstate(over="ignore"):
        return np.where(count >= least, np.sqrt(squares / np.maximum(count - 1, 1)) / scale, np.nan)


def aligned(rows: Sequence[StoredSeries], steps: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """Each row's values at ``steps``, float64 (m,), NaN where it lacks the step."""
    return [_aligned(row, steps) for row in rows]


def _aligned(row: StoredSeries, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    if row.steps is steps or np.array_equal(row.steps, steps):
        return row.values
    values = np.full(steps.size, np.nan)
    at, source = _shared(row.steps, steps)
    values[at] = row.values[source]
    return values


def _gathered(
    rows: Sequence[StoredSeries], steps: NDArray[np.int64], limit: int
) -> tuple[Rows, NDArray[np.int64], list[int]]:
    """Row k holding each coordinate's k-th newest value or NaN; how many each has; the rows that were used."""
    lead = _leading(rows[:limit], steps)
    if lead == min(limit, len(rows)):
        return [row.values for row in rows[:lead]], np.full(steps.size, lead, np.int64), list(range(lead))
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
    """Where the steps that both have lie in ``steps`` and in ``row_steps``, both ascending."""
    source = np.searchsorted(row_steps, steps)
    source[source == row_steps.size] = 0
    at = np.flatnonzero(row_steps[source] == steps) if row_steps.size else np.empty(0, np.intp)
    return at, source[at]
