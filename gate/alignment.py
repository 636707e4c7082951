"""Stored rows brought to the coordinates of the run that is judged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gate.history import StoredSeries

Places = tuple[NDArray[np.intp], NDArray[np.intp]]


class Alignment:
    """How rows meet ``steps``, int64 (m,) ascending. An array of steps that several rows share is compared once."""

    def __init__(self, steps: NDArray[np.int64]) -> None:
        self.steps = steps
        self._known: dict[int, tuple[NDArray[np.int64], Places | None]] = {}

    def places(self, row: StoredSeries) -> Places | None:
        """Where the steps that both have lie in ``steps`` and in the row; None where both have exactly the same."""
        known = self._known.get(id(row.steps))
        if known is None:
            places = None if np.array_equal(row.steps, self.steps) else _shared(row.steps, self.steps)
            self._known[id(row.steps)] = known = (row.steps, places)  # held, so that its id stays its own
        return known[1]

    def values(self, row: StoredSeries) -> NDArray[np.float64]:
        """The row's values at ``steps``, float64 (m,), NaN where it lacks the step."""
        places = self.places(row)
        if places is None:
            return row.values
        at, source = places
        values = np.full(self.steps.size, np.nan)
        values[at] = row.values[source]
        return values

    def common(self, rows: Sequence[StoredSeries]) -> NDArray[np.bool_]:
        """Which of ``steps`` every row has, bool (m,)."""
        count = np.zeros(self.steps.size, np.int64)
        distinct = {id(row.steps): row for row in rows}.values()
        for row in distinct:
            places = self.places(row)
            count[slice(None) if places is None else places[0]] += 1
        common: NDArray[np.bool_] = count == len(distinct)
        return common


def _shared(row_steps: NDArray[np.int64], steps: NDArray[np.int64]) -> Places:
    source = np.searchsorted(row_steps, steps)
    source[source == row_steps.size] = 0
    at = np.flatnonzero(row_steps[source] == steps) if row_steps.size else np.empty(0, np.intp)
    return at, source[at]
