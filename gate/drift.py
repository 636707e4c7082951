"""What `shift` and `spread` share: one number per run, followed from the epoch's anchor to the newest runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np
from numpy.typing import NDArray

from gate.case import Case
from gate.corridor import Corridor
from gate.history import RunRef, StoredSeries
from gate.numbers import counted
from gate.policy import GatePolicy
from gate.reduction import reduced

MULTIPLIERS = {(20, 10): 2.0, (10, 10): 2.9, (15, 10): 2.3, (20, 7): 2.3, (20, 5): 2.7, (30, 10): 1.8}
"""(anchor runs K, newest runs m) to the multiple of the noise that is allowed, two-sided p = 0.0002: the quantile of
Student's t with K - 1 degrees of freedom times sqrt(var(median of m) + 1 / K), both for normal noise of variance 1.
"""
TRIMMED = (20, 10)
"""At this size the anchor run furthest from the median is left out: one odd run must not widen what is allowed."""
TRIM_FACTOR = 1.128
"""sd of 20 normal values over the sd of the 19 nearest their median."""

RunNumbers = Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]
"""From the values of several runs over the same steps, the anchor's first, to one number for each."""


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """How far a number has ``moved`` from the ``centre`` of the anchor and how far it may.

    ``kept``: the anchor runs that centre and noise were taken from, as indices, oldest first.
    """

    moved: float
    allowed: float
    centre: float
    kept: NDArray[np.intp]

    @property
    def too_far(self) -> bool:
        return abs(self.moved) > self.allowed


@dataclass(frozen=True, eq=False)
class Comparable:
    """The anchor, the newest runs and the judged one over the steps that all have: ``common``, bool (m,).

    ``values``: those of the anchor's runs, of the newest that came after it, oldest first, and of the judged run.
    ``mean_band``: the mean over the common steps of the tighter band around the anchor.
    """

    case: Case
    common: NDArray[np.bool_]
    times_noise: float

    @classmethod
    def of(cls, case: Case) -> Comparable | None:
        """None while runs are too few, and where the curves have too few steps in common."""
        times_noise = multiplier(case.policy.anchor_runs, case.policy.shift_runs)
        if times_noise is None or not is_long_enough(case):
            return None
        common = case.once(common_steps)
        return cls(case, common, times_noise) if is_comparable(case, common) else None

    @cached_property
    def steps(self) -> int:
        return int(np.count_nonzero(self.common))

    @property
    def where(self) -> str:
        """How a reason begins."""
        return f"{self.case.spec.metric_key}: over {counted(self.steps, 'step')}"

    @cached_property
    def values(self) -> list[NDArray[np.float64]]:
        return self._values_with(self.case.rows[: self.case.policy.shift_runs - 1])

    @cached_property
    def mean_band(self) -> float:
        corridor = Corridor.around(self.case.anchor.mean[self.common], self.case.spec.constraint)
        return reduced("mean", np.minimum(corridor.up, corridor.down))

    def began_with(self, move: Move, numbers_of: RunNumbers) -> RunRef:
        """The first run of the second part, where the numbers of all runs known split best into two parts of the
        move's direction. At least half of the newest runs have moved, or their median would not have.
        """
        named = set(self.case.baseline.run_ids)
        carrying = (row for row in self.case.rows if row.run.run_id in named)
        newest = [row for row in carrying if self.case.aligned.common([row])[self.common].all()]
        numbers = numbers_of(self._values_with(newest))
        kept = np.concatenate((move.kept, np.arange(len(self.case.anchor_rows), numbers.size)))
        split = best_split((numbers[kept] - move.centre) * np.sign(move.moved), self.case.policy.shift_runs // 2)
        return self._in_order(newest)[int(kept[split])].run

    def _values_with(self, newest: Sequence[StoredSeries]) -> list[NDArray[np.float64]]:
        rows = [*map(self.case.aligned.values, self._in_order(newest)), self.case.selection.values]
        return rows if self.common.all() else [row[self.common] for row in rows]

    def _in_order(self, newest: Sequence[StoredSeries]) -> list[StoredSeries]:
        """The anchor's runs and those of ``newest`` that came after it, oldest first."""
        anchored = {row.run.run_id for row in self.case.anchor_rows}
        return [*self.case.anchor_rows, *(row for row in reversed(newest) if row.run.run_id not in anchored)]


def multiplier(anchor_runs: int, shift_runs: int) -> float | None:
    """Of `MULTIPLIERS`; between two sizes that of the smaller one, which allows more; None below the smallest."""
    smaller = [allowed for (k, m), allowed in MULTIPLIERS.items() if k <= anchor_runs and m <= shift_runs]
    return min(smaller, default=None)


def is_long_enough(case: Case) -> bool:
    return case.anchor_is_full and len(case.rows) >= case.policy.shift_runs - 1


def common_steps(case: Case) -> NDArray[np.bool_]:
    """Where this run, the newest before it and all of the anchor have a value, bool (m,)."""
    rows = (*case.anchor_rows, *case.rows[: case.policy.shift_runs - 1])
    return case.judgeable & case.aligned.common(rows)


def is_comparable(case: Case, common: NDArray[np.bool_]) -> bool:
    shared = int(np.count_nonzero(common))
    return shared > 0 and 2 * shared >= case.selection.steps.size


def move_of(numbers: NDArray[np.float64], policy: GatePolicy, times_noise: float, least: float) -> Move:
    """Of ``numbers``, the anchor's first and the judged run's last: their newest median against the anchor's mean.

    Allowed is ``times_noise`` times the anchor's sd (ddof 1), however small that is ``least``.
    """
    anchor = numbers[: policy.anchor_runs]
    kept, factor = np.arange(anchor.size), 1.0
    if (policy.anchor_runs, policy.shift_runs) == TRIMMED:
        distance = np.abs(anchor - median(anchor.tolist()))
        kept, factor = np.sort(np.argsort(distance, kind="stable")[:-1]), TRIM_FACTOR
    centre = reduced("mean", anchor[kept])
    noise = factor * math.hypot(*(anchor[kept] - centre).tolist()) / math.sqrt(kept.size - 1)
    moved = median(numbers[-policy.shift_runs :].tolist()) - centre
    return Move(moved + 0.0, max(times_noise * noise, least), centre, kept)  # + 0.0: no move is 0, never -0


def best_split(numbers: NDArray[np.float64], least: int) -> int:
    """Where ``numbers`` (n,) rise most: the first index of the second part, which has at least ``least`` members.

    Of all splits into two samples the one with the largest difference of means in units of its standard error.
    """
    first = np.arange(1, numbers.size - least + 1)
    rest = numbers.size - first
    before = np.cumsum(numbers)[first - 1]
    after = numbers.sum() - before
    rise = (after / rest - before / first) * np.sqrt(first * rest)
    return int(first[np.argmax(rise)])
