"""Check 1, `corridor`: is each value inside the corridor around the mean of its baseline."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gate.case import Answer, Case
from gate.corridor import Corridor, distance
from gate.numbers import counted, written
from gate.quorum import Comparison, compare
from gate.selection import place


def check_corridor(case: Case) -> Answer:
    """``n``, ``mean``, ``lo`` and ``hi`` are given wherever there is a baseline, active or not."""
    return compare(case, recent_comparison(case))


def recent_comparison(case: Case) -> Comparison:
    active = case.judgeable & (case.baseline.n >= case.policy.corridor_needs)
    return Comparison("the corridor", case.corridor, case.baseline.n, active, _reasons)


def _reasons(case: Case, corridor: Corridor, at: NDArray[np.intp]) -> Iterator[str]:
    values = case.selection.values[at]
    bounds = (corridor.lo, corridor.hi, corridor.bands_towards(values))
    columns = (case.selection.steps[at], values, corridor.ref, case.baseline.n[at], *bounds)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for step, value, mean, n, lo, hi, width in rows:
        value_text, mean_text, lo_text, hi_text = written(value, mean, lo, hi)
        yield (
            f"{place(case.spec, step)}: {value_text} is {distance(value, mean, width)} the mean {mean_text} "
            f"of {counted(n, 'run')} (allowed {lo_text} to {hi_text})"
        )
