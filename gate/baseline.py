"""The reference at each coordinate: stored rows as arrays, and their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.alignment import Alignment
from gate.columns import Rows, column_means
from gate.history import POINT_COUNT_RUNS, StoredSeries


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
    def of(cls, rows: Sequence[StoredSeries], steps: NDArray[np.int64], limit: int) -> Baseline:
        """At ``steps``, ascending; otherwise as `aligned`."""
        return cls.aligned(rows, Alignment(steps), limit)

    @classmethod
    def aligned(
        cls, rows: Sequence[StoredSeries], to: Alignment, limit: int, newest: int = POINT_COUNT_RUNS
    ) -> Baseline:
        """From ``rows``, newest first; each coordinate takes the first ``limit`` rows that have its step. The first
        ``newest`` are named, used or not.
        """
        values, n, used = _gathered(rows, to, limit)
        run_ids = tuple(rows[index].run.run_id for index in sorted({*used, *range(len(rows))[:newest]}))
        return cls(n, column_means(values, to.steps.size), run_ids)


def _gathered(rows: Sequence[StoredSeries], to: Alignment, limit: int) -> tuple[Rows, NDArray[np.int64], list[int]]:
    """Row k holding each coordinate's k-th newest value or NaN; how many each has; the rows that were used."""
    lead, steps = _leading(rows[:limit], to), to.steps
    if lead == min(limit, len(rows)):
        return [row.values for row in rows[:lead]], np.full(steps.size, lead, np.int64), list(range(lead))
    values = np.full((min(limit, len(rows)), steps.size), np.nan)
    for index in range(lead):
        values[index] = rows[index].values
    n = np.full(steps.size, lead, np.int64)
    used = list(range(lead))
    every = np.arange(steps.size)
    for index in range(lead, len(rows)):
        if not np.any(n < limit):
            break
        at, source = to.places(rows[index]) or (every, every)
        wanting = n[at] < limit
        at, source = at[wanting], source[wanting]
        values[n[at], at] = rows[index].values[source]
        n[at] += 1
        if at.size:
            used.append(index)
    return values, n, used


def _leading(rows: Sequence[StoredSeries], to: Alignment) -> int:
    """How many rows from the first on have exactly the steps asked for: the common case, which needs no look-up."""
    return next((index for index, row in enumerate(rows) if to.places(row) is not None), len(rows))
