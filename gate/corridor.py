"""Check 1: is each value inside the corridor around the mean of its baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.case import Answer, Case
from gate.numbers import counted, written
from gate.selection import place
from gate.spec import Constraint
from gate.verdict import CheckColumns, SpecCheck, Status

QUORUM_FROM = 10
"""With fewer judged coordinates than this, ``balanced`` lets any one outside fail the gate spec."""
FAR_BANDS = 2.0
"""One coordinate further out than so many bands fails the gate spec alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Corridor:
    """Closed intervals around references, float64 (m,): ``lo`` = ref - ``down``, ``hi`` = ref + ``up``.

    The bands scale from the reference only, never from the value. Bounds beyond the largest double are infinite; NaN
    where the reference is.
    """

    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    down: NDArray[np.float64]
    up: NDArray[np.float64]

    @classmethod
    def around(cls, ref: NDArray[np.float64], rule: Constraint) -> Corridor:
        with np.errstate(over="ignore"):
            up = np.maximum(rule.rel_up * np.abs(ref), rule.abs_floor_up)
            down = np.maximum(rule.rel_down * np.abs(ref), rule.abs_floor_down)
            return cls(ref - down, ref + up, down, up)

    def excludes(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        return (values < self.lo) | (values > self.hi)


def quorum(judged: int) -> int:
    """How many of ``judged`` coordinates outside make ``balanced`` fail: max(2, 5 % rounded up), or 1 of few."""
    return 1 if judged < QUORUM_FROM else max(2, (judged + 19) // 20)


def check_corridor(case: Case) -> Answer:
    """``n``, ``mean``, ``lo`` and ``hi`` are given wherever there is a baseline, active or not."""
    corridor = Corridor.around(case.baseline.mean, case.spec.constraint)
    status = case.statuses(Status.INACTIVE)
    active = (status != Status.ERROR) & (case.baseline.n >= case.policy.corridor_needs)
    outside = active & corridor.excludes(case.selection.values)
    status[active] = Status.PASS
    status[outside] = Status.FAIL if case.policy.profile == "strict" else Status.OUTSIDE
    at = np.flatnonzero(outside)
    reasons = dict(case.selection.errors) | dict(zip(at.tolist(), _reasons(case, corridor, at), strict=True))
    columns = CheckColumns(status, case.baseline.n, case.baseline.mean, corridor.lo, corridor.hi, reasons)
    return Answer(_spec_check(case, corridor, int(np.count_nonzero(active)), at), columns)


def _spec_check(case: Case, corridor: Corridor, judged: int, outside: NDArray[np.intp]) -> SpecCheck:
    facts = {"outside": outside.size, "of": judged}
    if not judged:
        return SpecCheck(Status.INACTIVE, facts=facts)
    needed = 1 if case.policy.profile == "strict" else quorum(judged)
    if outside.size >= needed:
        allowed = f", at most {needed - 1} may be" if needed > 1 else ""
        return SpecCheck(Status.FAIL, f"{outside.size} of {judged} outside the corridor{allowed}", facts)
    far = outside[_is_far(case, corridor, outside)]
    if far.size:
        worst = place(case.spec, int(case.selection.steps[far[0]]))
        reason = f"{outside.size} of {judged} outside the corridor, {worst} by more than {FAR_BANDS:g} bands"
        return SpecCheck(Status.FAIL, reason, facts)
    return SpecCheck(Status.PASS, facts=facts)


def _is_far(case: Case, corridor: Corridor, at: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether |value - ref| > `FAR_BANDS` x band, at coordinates outside. Divided by it, nothing overflows."""
    value, ref = case.selection.values[at] / FAR_BANDS, case.baseline.mean[at] / FAR_BANDS
    band = np.where(value > ref, corridor.up[at], corridor.down[at])
    return np.abs(value - ref) > band


def _reasons(case: Case, corridor: Corridor, at: NDArray[np.intp]) -> Iterator[str]:
    band = np.where(case.selection.values > case.baseline.mean, corridor.up, corridor.down)
    columns = (case.selection.steps, case.selection.values, case.baseline.mean, case.baseline.n, band)
    bounds = zip(corridor.lo[at].tolist(), corridor.hi[at].tolist(), strict=True)
    rows = zip(*(column[at].tolist() for column in columns), bounds, strict=True)
    for step, value, mean, n, width, (lo, hi) in rows:
        value_text, mean_text, lo_text, hi_text = written(value, mean, lo, hi)
        yield (
            f"{place(case.spec, step)}: {value_text} is {_distance(value, mean, width)} the mean {mean_text} "
            f"of {counted(n, 'run')} (allowed {lo_text} to {hi_text})"
        )


def _distance(value: float, mean: float, band: float) -> str:
    """``1.3 bands above``, or only the side where a number of bands would say nothing."""
    side = "above" if value > mean else "below"
    bands = abs(value / 2 - mean / 2) / band * 2 if band else math.inf
    return f"{written(bands, 1.0, FAR_BANDS, digits=2)[0]} bands {side}" if 1 < bands < math.inf else side
