"""Check 3, `shift`: a small move that the steps of a gate spec share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gate.case import Answer, Case
from gate.drift import Comparable, Move, common_steps, is_comparable, is_long_enough, move_of
from gate.history import RunRef
from gate.levels import levels_of
from gate.numbers import written
from gate.verdict import Notice, SpecCheck, Status

SHIFT = "shift"


def check_shift(case: Case) -> Answer | None:
    """None where the declaration leaves it out. The facts ``moved`` and ``allowed`` are in units of the metric."""
    if SHIFT not in case.spec.checks:
        return None
    compared = case.once(Comparable.of)
    if compared is None:
        return Answer(SpecCheck(Status.INACTIVE, facts=_facts(None, None)))
    levels, scale = levels_of(compared.values)
    least = case.policy.shift_fraction * (compared.mean_band * scale)
    move = move_of(levels, case.policy, compared.times_noise, least)
    moved, allowed = move.moved / scale, move.allowed / scale
    if not move.too_far:
        return Answer(SpecCheck(Status.PASS, facts=_facts(moved, allowed)))
    since = compared.began_with(move, lambda values: levels_of(values)[0])
    reason = _reason(compared, move, scale, since)
    return Answer(SpecCheck(Status.FAIL, reason, _facts(moved, allowed, since)))


def incomparable_curves(case: Case) -> Iterator[Notice]:
    """The warning that too few steps are shared with the past for a common move to be seen."""
    if SHIFT not in case.spec.checks or not case.selection.steps.size or not is_long_enough(case):
        return
    common = case.once(common_steps)
    if not is_comparable(case, common):
        shared = f"{np.count_nonzero(common)} of {common.size} steps"
        text = (
            f"{case.spec.metric_key}: shift is inactive: only {shared} are in the last {case.policy.shift_runs - 1} "
            f"runs and in all of the anchor too; curves of different length are not compared"
        )
        yield Notice("shift_incomparable", text, case.spec.metric_key)


def _reason(compared: Comparable, move: Move, scale: float, since: RunRef) -> str:
    """The numbers of ``move`` are times ``scale``."""
    level, centre = written(*(number / scale for number in (move.centre + move.moved, move.centre)))
    moved, allowed = written(*(number / scale for number in (abs(move.moved), move.allowed)))
    side = "above" if move.moved > 0 else "below"
    return (
        f"{compared.where} the median of the last {compared.case.policy.shift_runs} runs is {level}, "
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
