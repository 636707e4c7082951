"""The points of one metric as arrays: which steps there are and whether each has one value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.record import MetricSeries


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points with a step by ascending step, and points without one in the record's order.

    ``steps`` int64 (k,) distinct; ``values`` float64 (k,), NaN where any value of the step is; ``clashing`` bool (k,),
    whether the step was logged with different values; ``loose`` float64, the values without a step.
    The values of step i are ``sorted_values[starts[i]:starts[i + 1]]``.
    """

    steps: NDArray[np.int64]
    values: NDArray[np.float64]
    clashing: NDArray[np.bool_]
    loose: NDArray[np.float64]
    starts: NDArray[np.int64]
    sorted_values: NDArray[np.float64]

    @classmethod
    def of(cls, series: MetricSeries) -> Points:
        """Any order of points will do; equal values at one step count once."""
        placed = np.array([step is not None for step in series.steps], np.bool_)
        given = np.array([step for step in series.steps if step is not None], np.int64)
        logged = np.array(series.values, np.float64)
        order = np.argsort(given, kind="stable")
        in_step_order = logged[placed][order]
        steps, first = np.unique(given[order], return_index=True)
        values, clashing = _one_per_step(in_step_order, first)
        starts = np.append(first, in_step_order.size)
        return cls(steps, values, clashing, logged[~placed], starts, in_step_order)

    @property
    def count(self) -> int:
        return self.steps.size + self.loose.size

    def values_at(self, index: int) -> tuple[float, ...]:
        """Every different value logged at the step of ``index``."""
        return tuple(dict.fromkeys(self.sorted_values[self.starts[index] : self.starts[index + 1]].tolist()))

    def in_order(self) -> Points:
        """As if points without a step had the steps 0, 1, 2, ...; only for points that all have none."""
        size = self.loose.size
        none = np.empty(0)
        return Points(np.arange(size), self.loose, np.zeros(size, np.bool_), none, np.arange(size + 1), self.loose)


def _one_per_step(
    values: NDArray[np.float64], first: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    if not first.size:
        return np.empty(0), np.empty(0, np.bool_)
    low, high = np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)
    return np.where(np.isnan(low), np.nan, values[first]), low < high
