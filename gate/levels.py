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


def levels_of(rows: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], float]:
    """The mean of each row, times a scale that is returned too: a power of two that keeps sums and differences of
    levels from overflowing, 1 unless they are huge.

    numpy adds a row pairwise, in an order that its length decides, so that equal rows have equal levels.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        levels = np.array([np.add.reduce(row) / row.size for row in rows])
    if np.all(np.abs(levels) <= HUGE):
        return levels, 1.0
    return np.array([np.add.reduce(row * DOWN) / row.size for row in rows]), DOWN


def values_at(row: StoredSeries, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """The row's values at ``steps``, all of which it has."""
    return row.values if np.array_equal(row.steps, steps) else row.values[np.searchsorted(row.steps, steps)]
