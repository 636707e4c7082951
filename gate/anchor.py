"""Check 2, `anchor`: how far has each value moved since the epoch began."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gate.case import Answer, Case
from gate.corridor import Corridor, distance
from gate.numbers import counted, written
from gate.quorum import Comparison, compare
from gate.recent import recent_comparison
from gate.selection import place
from gate.verdict import Notice

ANCHOR = "anchor"


def check_anchor(case: Case) -> Answer | None:
    """None where the declaration leaves it out. ``n`` counts the anchor's runs so far that have the step; there is a
    corridor once the anchor is full.
    """
    if ANCHOR not in case.spec.checks:
        return None
    mean = case.anchor.mean if case.anchor_is_full else np.full(case.anchor.mean.size, np.nan)
    corridor = Corridor.around(mean, case.spec.constraint)
    enough = case.anchor_is_full and 2 * case.anchor.n >= case.policy.anchor_runs
    return compare(
        case, Comparison("the anchor's corridor", corridor, case.anchor.n, case.judgeable & enough, _reasons)
    )


def anchor_lost(case: Case) -> Iterator[Notice]:
    """The warning that an anchor which was full is no longer, so that slow drift goes unseen until it is again."""
    wanted, left = case.policy.anchor_runs, len(case.anchor_rows)
    if case.spec.checks and left < wanted <= case.history.anchor_ever:
        text = (
            f"{case.spec.metric_key}: anchor lost: of its {counted(wanted, 'run')} only {left} still count; "
            f"the drift checks are inactive until there are {wanted} again"
        )
        yield Notice("anchor_lost", text, case.spec.metric_key)


def _reasons(case: Case, corridor: Corridor, at: NDArray[np.intp]) -> Iterator[str]:
    values = case.selection.values[at]
    recent = recent_comparison(case)
    normal = recent.active[at] & ~recent.corridor.take(at).excludes(values)
    bounds = (corridor.lo, corridor.hi, corridor.bands_towards(values))
    columns = (case.selection.steps[at], values, corridor.ref, *bounds, normal)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for step, value, mean, lo, hi, band, is_normal in rows:
        bound = hi if value > mean else lo
        value_text, mean_text, bound_text = written(value, mean, bound)
        yield (
            f"{place(case.spec, step)}: {value_text} is {distance(value, mean, band)} the epoch's anchor {mean_text} "
            f"(allowed {'to' if value > mean else 'from'} {bound_text})"
            f"{'; within the corridor of recent runs' if is_normal else ''}"
        )
