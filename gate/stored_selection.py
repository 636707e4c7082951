"""What a run's record gave to judge, from what is stored of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gate.identity import AGGREGATE_STEP
from gate.selection import NO_STEP, Selection
from gate.verdict import SpecVerdict


def stored_selection(spec: SpecVerdict, found: Mapping[int, float], at_step: int | None) -> Selection:
    """The stored values, and between them the coordinates that had none to store.

    ``spec`` is the stored verdict, which alone knows what was wrong with the record; ``found`` the stored values by
    step; ``at_step`` where a single one came from.
    """
    values = {step: (_came_from(step, at_step), value, "") for step, value in found.items()} | _erroneous(spec)
    steps = sorted(values)
    problems = spec.checks["selection"].facts["problems"] if "selection" in spec.checks else ()
    return Selection(
        steps=np.array(steps, np.int64),
        at_steps=np.array([values[step][0] for step in steps], np.int64),
        values=np.array([values[step][1] for step in steps], np.float64),
        errors={index: values[step][2] for index, step in enumerate(steps) if values[step][2]},
        problems=tuple(problems),
        points=spec.points,
    )


def _came_from(step: int, at_step: int | None) -> int:
    if step != AGGREGATE_STEP:
        return step
    return NO_STEP if at_step is None else at_step


def _erroneous(spec: SpecVerdict) -> dict[int, tuple[int, float, str]]:
    """Step to (at_step, value, what is wrong) of the coordinates that selection could not judge."""
    errors = spec.columns["selection"].reasons if "selection" in spec.columns else {}
    return {
        int(spec.steps[index]): (int(spec.at_steps[index]), float(spec.values[index]), text)
        for index, text in errors.items()
    }
