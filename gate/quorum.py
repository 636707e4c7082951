"""Values against a corridor, and how many of them outside fail a gate spec: one rule for checks 1 and 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.case import Answer, Case
from gate.corridor import FAR_BANDS, Corridor
from gate.policy import Profile
from gate.selection import place
from gate.verdict import CheckColumns, SpecCheck, Status

QUORUM_FROM = 10
"""With fewer judged coordinates than this, ``balanced`` lets any one outside fail the gate spec."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The coordinates of a case against ``corridor`` where ``active``; ``n`` int64 (m,) values made each reference.

    ``name`` is what reasons call the corridor. ``reasons`` gives a sentence for each of the indices that it is given
    with the corridor there.
    """

    name: str
    corridor: Corridor
    n: NDArray[np.int64]
    active: NDArray[np.bool_]
    reasons: Callable[[Case, Corridor, NDArray[np.intp]], Iterator[str]]


def quorum(judged: int) -> int:
    """How many of ``judged`` coordinates outside make ``balanced`` fail: max(2, 5 % rounded up), or 1 of few."""
    return 1 if judged < QUORUM_FROM else max(2, (judged + 19) // 20)


def needed_outside(profile: Profile, judged: int) -> int:
    """How many of ``judged`` coordinates outside fail a gate spec, however near they are."""
    return 1 if profile == "strict" else quorum(judged)


def fails(profile: Profile, judged: int, outside: int, *, any_far: bool) -> bool:
    return judged > 0 and (outside >= needed_outside(profile, judged) or any_far)


def compare(case: Case, comparison: Comparison) -> Answer:
    """A coordinate outside is FAIL under ``strict`` and OUTSIDE under ``balanced``."""
    corridor, active = comparison.corridor, comparison.active
    at = np.flatnonzero(active & corridor.excludes(case.selection.values))
    outside = corridor.take(at)
    status = case.statuses(Status.INACTIVE)
    status[active] = Status.PASS
    status[at] = Status.FAIL if case.policy.profile == "strict" else Status.OUTSIDE
    sentences = comparison.reasons(case, outside, at)
    reasons = dict(case.selection.errors) | dict(zip(at.tolist(), sentences, strict=True))
    columns = CheckColumns(status, comparison.n, corridor.ref, corridor.lo, corridor.hi, reasons)
    far = at[outside.is_far(case.selection.values[at])]
    judged = int(np.count_nonzero(active))
    return Answer(_spec_check(case, comparison.name, judged, at.size, far), columns)


def _spec_check(case: Case, name: str, judged: int, outside: int, far: NDArray[np.intp]) -> SpecCheck:
    facts = {"outside": outside, "of": judged}
    if not judged:
        return SpecCheck(Status.INACTIVE, facts=facts)
    if not fails(case.policy.profile, judged, outside, any_far=far.size > 0):
        return SpecCheck(Status.PASS, facts=facts)
    needed = needed_outside(case.policy.profile, judged)
    reason = f"{outside} of {judged} outside {name}"
    if outside < needed:
        reason += f", {place(case.spec, int(case.selection.steps[far[0]]))} by more than {FAR_BANDS:g} bands"
    elif needed > 1:
        reason += f", at most {needed - 1} may be"
    return SpecCheck(Status.FAIL, reason, facts)
