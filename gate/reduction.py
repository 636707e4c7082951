"""One number out of many: the reductions a declaration may ask for."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gate.spec import ReduceName

HUGE = 2.0**1000
"""Beyond this magnitude sums and differences of doubles may overflow, so values are scaled first."""
DOWN = 2.0**-20
"""The scale: exact, and room for a million summands."""
_QUANTILES = {"median": 0.5, "p50": 0.5, "p95": 0.95}


def reduced(name: ReduceName, values: NDArray[np.float64]) -> float:
    """The reduction of one or more finite values; between their minimum and maximum, exact where all are equal."""
    low, high = float(values.min()), float(values.max())
    scale = DOWN if max(abs(low), abs(high)) > HUGE else 1.0
    result = _plain(name, values * scale) / scale
    return min(max(result, low), high)


def _plain(name: ReduceName, values: NDArray[np.float64]) -> float:
    match name:
        case "mean":
            return math.fsum(values.tolist()) / values.size
        case "min":
            return float(values.min())
        case "max":
            return float(values.max())
        case _:
            return float(np.quantile(values, _QUANTILES[name], method="linear"))
