"""The level of a run: one number, the mean of its values over steps that all the runs compared have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gate.history import StoredSeries
from gate.reduction import DOWN, HUGE


def common_steps(steps: NDArray[np.int64], rows: Sequence[StoredSeries]) -> NDArray[np.bool_]:
    """Which of ``steps`` every row has, bool (m,)."""
    common = np.ones(steps.size, np.bool_)
    for row_steps in {id(row.steps): row.steps for row in rows}.values():
        if row_steps is not steps and not np.array_equal(row_steps, steps):
            common &= np.isin(steps, row_steps, assume_unique=True)
    return common


def values_at(rows: Sequence[StoredSeries], steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Float64 (r, m): the values at ``steps``, all of which each row has."""
    values = np.empty((len(rows), steps.size))
    for index, row in enumerate(rows):
        same = np.array_equal(row.steps, steps)
        values[index] = row.values if same else row.values[np.searchsorted(row.steps, steps)]
    return values


def scale_for(values: NDArray[np.float64]) -> float:
    """A power of two that keeps sums and differences of ``values`` from overflowing; 1 unless they are huge."""
    return DOWN if max(values.max(), -values.min()) > HUGE else 1.0


def row_means(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """The mean of each row of ``scale`` x ``values`` (r, m). Columns are added in order, whatever built numpy, so that
    equal rows have equal means.
    """
    means: NDArray[np.float64] = np.add.reduce(np.multiply(values.T, scale, order="C"), axis=0) / values.shape[1]
    return means
