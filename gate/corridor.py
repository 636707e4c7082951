"""Closed intervals around references: what checks 1 and 2 compare values with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.numbers import written
from gate.spec import Constraint

FAR_BANDS = 2.0
"""One coordinate further out than so many bands fails its gate spec alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Corridor:
    """Float64 (m,): ``lo`` = ``ref`` - ``down``, ``hi`` = ``ref`` + ``up``.

    The bands scale from the reference only, never from the value. Bounds beyond the largest double are infinite; NaN
    where the reference is.
    """

    ref: NDArray[np.float64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    down: NDArray[np.float64]
    up: NDArray[np.float64]

    @classmethod
    def around(cls, ref: NDArray[np.float64], rule: Constraint) -> Corridor:
        with np.errstate(over="ignore"):
            up = np.maximum(rule.rel_up * np.abs(ref), rule.abs_floor_up)
            down = np.maximum(rule.rel_down * np.abs(ref), rule.abs_floor_down)
            return cls(ref, ref - down, ref + up, down, up)

    def take(self, at: NDArray[np.intp]) -> Corridor:
        """Only the intervals at these indices."""
        return Corridor(self.ref[at], self.lo[at], self.hi[at], self.down[at], self.up[at])

    def excludes(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        return (values < self.lo) | (values > self.hi)

    def bands_towards(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The band of the side on which each value lies."""
        return np.where(values > self.ref, self.up, self.down)

    def is_far(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether |value - ref| > `FAR_BANDS` x band. Divided by it, nothing overflows."""
        far: NDArray[np.bool_] = np.abs(values / FAR_BANDS - self.ref / FAR_BANDS) > self.bands_towards(values)
        return far


def distance(value: float, ref: float, band: float) -> str:
    """``1.3 bands above``, or only the side where a number of bands would say nothing."""
    side = "above" if value > ref else "below"
    bands = abs(value / 2 - ref / 2) / band * 2 if band else math.inf
    return f"{written(bands, 1.0, FAR_BANDS, digits=2)[0]} bands {side}" if 1 < bands < math.inf else side
