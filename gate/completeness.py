"""Check `selection`: is everything there that was asked for, and can it be compared with the history.

What the record alone shows was found by `gate.selection`; here the history is asked as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from statistics import median

import numpy as np

from gate.case import Answer, Case
from gate.history import POINT_COUNT_RUNS
from gate.numbers import counted
from gate.verdict import CheckColumns, Notice, SpecCheck, Status

ENOUGH_RUNS = 3
"""Fewer counting runs than this only warn that a run has few points."""


def check_selection(case: Case) -> Answer | None:
    """None where nothing is wrong. The fact ``problems`` holds what the record alone shows, for a replay."""
    selection = case.selection
    problems = (*selection.problems, *_history_problems(case))
    if not problems and not selection.errors:
        return None
    reason = "; ".join(problems) or f"{len(selection.errors)} of {selection.steps.size} cannot be judged"
    columns = CheckColumns(case.statuses(Status.PASS), reasons=selection.errors)
    return Answer(SpecCheck(Status.ERROR, reason, {"problems": list(selection.problems)}), columns)


def few_points(case: Case) -> Iterator[Notice]:
    """The warning about an early end while the history is too short to make it an error."""
    if len(case.rows) < ENOUGH_RUNS and _ended_early(case):
        yield Notice("few_points", _early_end_text(case), case.spec.metric_key)


def _history_problems(case: Case) -> Iterator[str]:
    if len(case.rows) < ENOUGH_RUNS:
        return
    if _ended_early(case):
        yield _early_end_text(case)
    steps = case.selection.steps.size
    known = int(np.count_nonzero(case.baseline.n))
    if case.spec.steps == "all" and 2 * known < steps:
        yield f"{case.spec.metric_key}: steps do not match history: only {known} of {steps} steps have a baseline"


def _usual_points(case: Case) -> Fraction:
    return Fraction(median(row.points for row in case.rows[:POINT_COUNT_RUNS]))


def _ended_early(case: Case) -> bool:
    """Exact: the ratio is taken as the decimal number it was written as."""
    if case.spec.expect_points is not None or not case.rows or not case.selection.points:
        return False
    return case.selection.points < Fraction(str(case.policy.min_points_ratio)) * _usual_points(case)


def _early_end_text(case: Case) -> str:
    ratio = case.policy.min_points_ratio
    needed = math.ceil(Fraction(str(ratio)) * _usual_points(case))
    return (
        f"{case.spec.metric_key} ended early: {counted(case.selection.points, 'point')}, needs {needed} "
        f"({ratio:g} of the usual {float(_usual_points(case)):g})"
    )
