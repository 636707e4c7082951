"""Check 3, `shift`: a small move that the steps of a gate spec share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gate.case import Answer, Case
from gate.corridor import Corridor
from gate.history import RunRef, StoredSeries
from gate.levels import levels_of
from gate.numbers import counted, written
from gate.reduction import reduced
from gate.verdict import Notice, SpecCheck, Status

SHIFT = "shift"
MULTIPLIERS = {(20, 10): 2.0, (10, 10): 2.9, (15, 10): 2.3, (20, 7): 2.3, (20, 5): 2.7, (30, 10): 1.8}
"""(anchor runs K, newest runs m) to the multiple of the noise that is allowed, two-sided p = 0.0002: the quantile of
Student's t with K - 1 degrees of freedom times sqrt(var(median of m) + 1 / K), both for normal noise of variance 1.
"""
TRIMMED = (20, 10)
"""At this size the anchor run furthest from the median is left out: one odd run must not widen what is allowed."""
TRIM_FACTOR = 1.128
"""sd of 20 normal values over the sd of the 19 nearest their median."""


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """How far the level has ``moved`` from the ``centre`` of the anchor and how far it may. All times ``scale``.

    ``kept``: the anchor runs that centre and noise were taken from, as indices, oldest first.
    """

    moved: float
    allowed: float
    centre: float
    kept: NDArray[np.intp]
    scale: float

    @property
    def too_far(self) -> bool:
        return abs(self.moved) > self.allowed


def check_shift(case: Case) -> Answer | None:
    """None where the declaration leaves it out. The facts ``moved`` and ``allowed`` are in units of the metric."""
    if SHIFT not in case.spec.checks:
        return None
    times_noise = multiplier(case.policy.anchor_runs, case.policy.shift_runs)
    common = _common(case) if times_noise is not None and _is_long_enough(case) else None
    if times_noise is None or common is None or not _is_comparable(case, common):
        return Answer(SpecCheck(Status.INACTIVE, facts=_facts(None, None)))
    move = _move(case, common, times_noise)
    moved, allowed = move.moved / move.scale, move.allowed / move.scale
    if not move.too_far:
        return Answer(SpecCheck(Status.PASS, facts=_facts(moved, allowed)))
    since = _began_with(case, common, move)
    reason = _reason(case, move, int(np.count_nonzero(common)), since)
    return Answer(SpecCheck(Status.FAIL, reason, _facts(moved, allowed, since)))


def multiplier(anchor_runs: int, shift_runs: int) -> float | None:
    """Of `MULTIPLIERS`; between two sizes that of the smaller one, which allows more; None below the smallest."""
    smaller = [allowed for (k, m), allowed in MULTIPLIERS.items() if k <= anchor_runs and m <= shift_runs]
    return min(smaller, default=None)


def incomparable_curves(case: Case) -> Iterator[Notice]:
    """The warning that too few steps are shared with the past for a common move to be seen."""
    if SHIFT not in case.spec.checks or not case.selection.steps.size or not _is_long_enough(case):
        return
    common = _common(case)
    if not _is_comparable(case, common):
        shared = f"{np.count_nonzero(common)} of {common.size} steps"
        text = (
            f"{case.spec.metric_key}: shift is inactive: only {shared} are in the last {case.policy.shift_runs - 1} "
            f"runs and in all of the anchor too; curves of different length are not compared"
        )
        yield Notice("shift_incomparable", text, case.spec.metric_key)


def _is_long_enough(case: Case) -> bool:
    return case.anchor_is_full and len(case.rows) >= case.policy.shift_runs - 1


def _common(case: Case) -> NDArray[np.bool_]:
    rows = (*case.anchor_rows, *case.rows[: case.policy.shift_runs - 1])
    return case.judgeable & case.aligned.common(rows)


def _is_comparable(case: Case, common: NDArray[np.bool_]) -> bool:
    shared = int(np.count_nonzero(common))
    return shared > 0 and 2 * shared >= case.selection.steps.size


def _move(case: Case, common: NDArray[np.bool_], times_noise: float) -> Move:
    levels, scale = _levels(case, common, case.rows[: case.policy.shift_runs - 1])
    anchor = levels[: len(case.anchor_rows)]
    kept, factor = np.arange(anchor.size), 1.0
    if (case.policy.anchor_runs, case.policy.shift_runs) == TRIMMED:
        distance = np.abs(anchor - median(anchor.tolist()))
        kept, factor = np.sort(np.argsort(distance, kind="stable")[:-1]), TRIM_FACTOR
    centre = reduced("mean", anchor[kept])
    noise = factor * math.hypot(*(anchor[kept] - centre).tolist()) / math.sqrt(kept.size - 1)
    moved = median(levels[-case.policy.shift_runs :].tolist()) - centre
    allowed = max(times_noise * noise, case.policy.shift_fraction * (_mean_band(case, common) * scale))
    return Move(moved + 0.0, allowed, centre, kept, scale)  # + 0.0: no move is 0, never -0


def _levels(case: Case, common: NDArray[np.bool_], newest: Sequence[StoredSeries]) -> tuple[NDArray[np.float64], float]:
    """The levels of the anchor's runs, of later ones of ``newest``, oldest first, and of this run; the scale."""
    rows = [*(case.aligned.values(row) for row in _in_order(case, newest)), case.selection.values]
    return levels_of(rows if common.all() else [row[common] for row in rows])


def _in_order(case: Case, newest: Sequence[StoredSeries]) -> list[StoredSeries]:
    """The anchor's runs and those of ``newest`` that came after it, oldest first."""
    anchored = {row.run.run_id for row in case.anchor_rows}
    return [*case.anchor_rows, *(row for row in reversed(newest) if row.run.run_id not in anchored)]


def _mean_band(case: Case, common: NDArray[np.bool_]) -> float:
    """The mean over the common steps of the tighter band around the anchor."""
    corridor = Corridor.around(case.anchor.mean[common], case.spec.constraint)
    return reduced("mean", np.minimum(corridor.up, corridor.down))


def _began_with(case: Case, common: NDArray[np.bool_], move: Move) -> RunRef:
    """The first run of the second part, where the levels of all runs known split best into two parts of the move's
    direction. At least half of the newest runs have moved, or their median would not have.
    """
    named = set(case.baseline.run_ids)
    newest = [row for row in case.rows if row.run.run_id in named and case.aligned.common([row])[common].all()]
    levels, _ = _levels(case, common, newest)
    kept = np.concatenate((move.kept, np.arange(len(case.anchor_rows), levels.size)))
    first = best_split((levels[kept] - move.centre) * np.sign(move.moved), case.policy.shift_runs // 2)
    return _in_order(case, newest)[int(kept[first])].run


def best_split(levels: NDArray[np.float64], least: int) -> int:
    """Where ``levels`` (n,) rise most: the first index of the second part, which has at least ``least`` members.

    Of all splits into two samples the one with the largest difference of means in units of its standard error.
    """
    first = np.arange(1, levels.size - least + 1)
    rest = levels.size - first
    before = np.cumsum(levels)[first - 1]
    after = levels.sum() - before
    rise = (after / rest - before / first) * np.sqrt(first * rest)
    return int(first[np.argmax(rise)])


def _reason(case: Case, move: Move, steps: int, since: RunRef) -> str:
    numbers = (move.centre + move.moved, move.centre, abs(move.moved), move.allowed)
    level, centre = written(*(number / move.scale for number in numbers[:2]))
    moved, allowed = written(*(number / move.scale for number in numbers[2:]))
    side = "above" if move.moved > 0 else "below"
    where = f"{case.spec.metric_key}: over {counted(steps, 'step')}"
    return (
        f"{where} the median of the last {case.policy.shift_runs} runs is {level}, "
        f"{moved} {side} the epoch's anchor {centre} (allowed {allowed}); "
        f"the move probably began with run {since.run_id} of {since.created_at:%Y-%m-%d}"
    )


def _facts(moved: float | None, allowed: float | None, since: RunRef | None = None) -> dict[str, Any]:
    """By their JSON names; a number beyond the largest double is None."""
    numbers = {"moved": moved, "allowed": allowed}
    finite = {
        name: number if number is not None and math.isfinite(number) else None for name, number in numbers.items()
    }
    return finite | {"since_run_id": since and since.run_id}
