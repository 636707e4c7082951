"""Check 4: absolute bounds, judged without history from the first run on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gate.case import Answer, Case
from gate.numbers import written
from gate.selection import place
from gate.spec import Limits
from gate.verdict import CheckColumns, SpecCheck, Status


def check_limits(case: Case) -> Answer | None:
    """Both bounds included; None where the declaration gives no limits."""
    limits = case.spec.limits
    if limits is None:
        return None
    low = -np.inf if limits.min is None else limits.min
    high = np.inf if limits.max is None else limits.max
    values = case.selection.values
    status = case.statuses(Status.PASS)
    judged = status != Status.ERROR
    beyond = judged & ((values < low) | (values > high))
    status[beyond] = Status.FAIL
    at = np.flatnonzero(beyond)
    reasons = dict(case.selection.errors) | dict(zip(at.tolist(), _reasons(case, limits, at), strict=True))
    return Answer(_spec_check(at.size, int(np.count_nonzero(judged))), CheckColumns(status, reasons=reasons))


def _spec_check(beyond: int, judged: int) -> SpecCheck:
    facts = {"outside": beyond, "of": judged}
    if not beyond:
        return SpecCheck(Status.PASS, facts=facts)
    return SpecCheck(Status.FAIL, f"{beyond} of {judged} outside the limits", facts)


def _reasons(case: Case, limits: Limits, at: NDArray[np.intp]) -> Iterator[str]:
    for step, value in zip(case.selection.steps[at].tolist(), case.selection.values[at].tolist(), strict=True):
        yield f"{place(case.spec, step)}: {_comparison(value, limits)}"


def _comparison(value: float, limits: Limits) -> str:
    if limits.max is not None and value > limits.max:
        return "{} is above the limit {}".format(*written(value, limits.max))
    return "{} is below the limit {}".format(*written(value, limits.min or 0.0))
