"""The level of a run: one number, the mean of its values over steps that all the runs compared have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gate.columns import blocks
from gate.reduction import DOWN, HUGE


def levels_of(rows: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], float]:
    """The mean of each row, times a scale that is returned too: a power of two that keeps sums and differences of
    levels from overflowing, 1 unless they are huge.

    numpy adds a row pairwise, in an order that its length decides, so that equal rows have equal levels.
    """
    parts = blocks(rows, rows[0].size)
    with np.errstate(over="ignore", invalid="ignore"):
        levels = _row_means(parts)
    return (levels, 1.0) if np.all(np.abs(levels) <= HUGE) else (_row_means([part * DOWN for part in parts]), DOWN)


def _row_means(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([np.add.reduce(part, axis=1) / part.shape[1] for part in parts])
