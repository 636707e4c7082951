"""What the keys of stored values say about them."""

from __future__ import annotations

import json
import math

from gate.fields import parse_constraint
from gate.identity import SpecKey
from gate.spec import Constraint

UNREADABLE = Constraint(math.nan, math.nan, math.nan, math.nan)
"""Gives a corridor without bounds."""


def stored_constraint(key: SpecKey) -> Constraint:
    """The constraint of the declaration; `UNREADABLE` where the key was not made from one, as other writers may do."""
    faults: list[str] = []
    try:
        constraint = parse_constraint(json.loads(key.constraint_key), faults.append)
    except (ValueError, RecursionError):
        return UNREADABLE
    return UNREADABLE if faults else constraint
