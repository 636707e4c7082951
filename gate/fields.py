"""The values a declaration's fields may have: each function parses one literal and complains about every mistake.

A result is meaningful only where nothing was complained about. The configuration's defaults table is held to the
same rules. Standard library only.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator
from typing import Any, get_args

from gate.calls import Complain
from gate.spec import DRIFT_CHECKS, Constraint, ExpectPoints, Limits, ReduceName, Reduction, Steps
from gate.wording import listed, nearest, shown

REDUCE_NAMES: tuple[str, ...] = get_args(ReduceName)
CONSTRAINT_SIDES = (("rel_up", "abs_floor_up"), ("rel_down", "abs_floor_down"))
CONSTRAINT_NAMES = tuple(name for side in CONSTRAINT_SIDES for name in side)
MAX_INT = 2**63 - 1
_STEPS_FORMS = '"last", "all", a non-empty list of distinct ints >= 0, or {"reduce": "mean", "last": n, "from": k}'


def parse_metric_key(value: Any, complain: Complain) -> str:
    """The name in NFC, the form in which records hold it."""
    if not isinstance(value, str) or not value.strip():
        complain(f"found {shown(value)}; write the metric's name as a non-empty string")
        return ""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
        complain(f"found {shown(value)}; remove the control characters")
    return unicodedata.normalize("NFC", value)


def parse_steps(value: Any, complain: Complain) -> Steps:
    match value:
        case "last" | "all":
            return value  # type: ignore[no-any-return]
        case list():
            return _step_list(value, complain)
        case dict():
            return _reduction(value, complain)
    complain(f"found {shown(value)}{nearest(value, ('last', 'all'))}; valid: {_STEPS_FORMS}")
    return "all"


def _step_list(value: list[Any], complain: Complain) -> tuple[int, ...]:
    if not value:
        complain(f"found an empty list; valid: {_STEPS_FORMS}")
    wrong = [step for step in value if not _is_int(step, at_least=0)]
    for step in wrong:
        complain(f"found {shown(step)} in the list; write steps as ints >= 0")
    if not wrong and len(set(value)) != len(value):
        twice = sorted({step for step in value if value.count(step) > 1})
        complain(f"steps {listed(map(str, twice))} listed twice; write each once")
    return tuple(value)


def _reduction(value: dict[Any, Any], complain: Complain) -> Reduction:
    unknown = _unknown_keys(value, ("reduce", "last", "from"), complain)
    name = value.get("reduce")
    if "reduce" not in value and not unknown:
        complain(f"found no reduce; valid: {listed(REDUCE_NAMES)}")
    elif "reduce" in value and name not in REDUCE_NAMES:
        complain(f"found reduce {shown(name)}{nearest(name, REDUCE_NAMES)}; valid: {listed(REDUCE_NAMES)}")
    for key, least in (("last", 1), ("from", 0)):
        if key in value and not _is_int(value[key], at_least=least):
            complain(f"found {key} {shown(value[key])}; write an int >= {least}")
    return Reduction(name, value.get("last"), value.get("from"))  # type: ignore[arg-type]


def parse_constraint(value: Any, complain: Complain) -> Constraint:
    if not isinstance(value, dict):
        complain(f"found {shown(value)}; write a dict of {listed(CONSTRAINT_NAMES)}")
        return Constraint()
    unknown = _unknown_keys(value, CONSTRAINT_NAMES, complain)
    for name in CONSTRAINT_NAMES:
        if name in value and not (_is_finite(value[name]) and value[name] >= 0):
            complain(f"found {name} {shown(value[name])}; write a finite number >= 0")
    for side in CONSTRAINT_SIDES:
        if not unknown and not any(name in value for name in side):
            complain(f"this side would have a band of zero: give {' or '.join(side)}")
    return Constraint(**dict(_floats(value, CONSTRAINT_NAMES)))


def parse_limits(value: Any, complain: Complain) -> Limits:
    if not isinstance(value, dict) or not value:
        complain(f'found {shown(value)}; write {{"min": number}}, {{"max": number}} or both')
        return Limits()
    _unknown_keys(value, ("min", "max"), complain)
    wrong = [name for name in ("min", "max") if name in value and not _is_finite(value[name])]
    for name in wrong:
        complain(f"found {name} {shown(value[name])}; write a finite number")
    limits = Limits(**dict(_floats(value, ("min", "max"))))
    if limits.min is not None and limits.max is not None and limits.min > limits.max:
        complain(f"min {shown(value['min'])} is above max {shown(value['max'])}; swap them")
    return limits


def parse_expect_points(value: Any, complain: Complain) -> ExpectPoints:
    at_least = isinstance(value, dict)
    count: Any = value.get("min") if at_least else value
    unknown = at_least and _unknown_keys(value, ("min",), complain)
    if not unknown and not _is_int(count, at_least=1):
        complain(f'found {shown(value)}; write an int >= 1 or {{"min": n}}')
    return ExpectPoints(count, at_least)


def parse_enforce(value: Any, complain: Complain) -> bool:
    if not isinstance(value, bool):
        complain(f"found {shown(value)}; write True or False")
    return bool(value)


def parse_reason(value: Any, complain: Complain) -> str:
    if not isinstance(value, str) or not value.strip():
        complain(f"found {shown(value)}; say in a non-empty string why")
        return ""
    return value


def parse_checks(value: Any, complain: Complain) -> tuple[str, ...]:
    """Which drift checks apply, in their own order; an empty list means none."""
    if not isinstance(value, list):
        complain(f"found {shown(value)}; write a list of {listed(DRIFT_CHECKS)}")
        return ()
    for name in value:
        if name not in DRIFT_CHECKS:
            complain(f"unknown check {shown(name)}{nearest(name, DRIFT_CHECKS)}; valid: {listed(DRIFT_CHECKS)}")
        elif value.count(name) > 1:
            complain(f"{shown(name)} listed twice; write each once")
            break
    return tuple(name for name in DRIFT_CHECKS if name in value)


def _unknown_keys(value: dict[Any, Any], valid: tuple[str, ...], complain: Complain) -> bool:
    """Whether there are any; a key that is missing beside one was probably misspelt, which is one mistake."""
    unknown = [key for key in value if key not in valid]
    for key in unknown:
        complain(f"unknown key {shown(key)}{nearest(key, valid)}; valid: {listed(valid)}")
    return bool(unknown)


def _is_int(value: Any, *, at_least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and at_least <= value <= MAX_INT


def _is_finite(value: Any) -> bool:
    """Whether ``value`` is a number that a double can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _floats(value: dict[str, Any], names: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    return ((name, float(value[name])) for name in names if name in value and _is_finite(value[name]))
