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

    ``name`` is what reasons call the corridor. ``reasons`` gives a sentence for each of the indices it is given.
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


def compare(case: Case, comparison: Comparison) -> Answer:
    """A coordinate outside is FAIL under ``strict`` and OUTSIDE under ``balanced``."""
    corridor, active = comparison.corridor, comparison.active
    outside = active & corridor.excludes(case.selection.values)
    status = case.statuses(Status.INACTIVE)
    status[active] = Status.PASS
    status[outside] = Status.FAIL if case.policy.profile == "strict" else Status.OUTSIDE
    at = np.flatnonzero(outside)
    sentences = comparison.reasons(case, corridor, at)
    reasons = dict(case.selection.errors) | dict(zip(at.tolist(), sentences, strict=True))
    columns = CheckColumns(status, comparison.n, corridor.ref, corridor.lo, corridor.hi, reasons)
    far = np.flatnonzero(outside & corridor.is_far(case.selection.values))
    judged = int(np.count_nonzero(active))
    return Answer(_spec_check(case, comparison.name, judged, at.size, far), columns)


def _spec_check(case: Case, name: str, judged: int, outside: int, far: NDArray[np.intp]) -> SpecCheck:
    facts = {"outside": outside, "of": judged}
    if not judged:
        return SpecCheck(Status.INACTIVE, facts=facts)
    needed = needed_outside(case.policy.profile, judged)
    if outside >= needed:
        allowed = f", at most {needed - 1} may be" if needed > 1 else ""
        return SpecCheck(Status.FAIL, f"{outside} of {judged} outside {name}{allowed}", facts)
    if far.size:
        worst = place(case.spec, int(case.selection.steps[far[0]]))
        reason = f"{outside} of {judged} outside {name}, {worst} by more than {FAR_BANDS:g} bands"
        return SpecCheck(Status.FAIL, reason, facts)
    return SpecCheck(Status.PASS, facts=facts)
