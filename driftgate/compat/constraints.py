"""One value against the corridor around one reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

from gate.spec import Constraint


@dataclass(frozen=True)
class ConstraintOutcome:
    """Whether the value lies in the closed interval from ``lo`` to ``hi``."""

    ok: bool
    lo: float
    hi: float


def evaluate_constraint(constraint: Mapping[str, float], cur: float, ref: float) -> ConstraintOutcome:
    """Whether ``cur`` is in the corridor of ``constraint`` around ``ref``; a parameter left out is 0.

    The bands scale from ``ref`` alone. Raises TypeError for a parameter that no constraint has, and for what is no
    number.
    """
    numbers: dict[str, object] = {"cur": cur, "ref": ref, **constraint}
    for name, number in numbers.items():
        if not isinstance(number, Real):
            raise TypeError(f"{name}: expected a number, got {type(number).__name__}")
    import numpy as np

    from gate.corridor import Corridor

    corridor = Corridor.around(np.array([ref], np.float64), Constraint(**constraint))
    lo, hi = float(corridor.lo[0]), float(corridor.hi[0])
    return ConstraintOutcome(lo <= cur <= hi, lo, hi)
