"""Numbers in sentences: as few digits as keep every stated comparison visibly true."""

from __future__ import annotations

import math
from itertools import pairwise

FEWEST_DIGITS = 3
EXACT_DIGITS = 17
"""So many significant digits tell any two doubles apart."""
WHOLE_BELOW = 1e7
"""Smaller numbers are written with all digits before the point rather than with an exponent."""


def written(*numbers: float, digits: int = FEWEST_DIGITS) -> tuple[str, ...]:
    """The numbers as text, all with the same number of significant digits, at least ``digits``.

    Read back, the texts are in the same order as the numbers, and equal only where these are; NaN has no order.
    """
    ascending = sorted({number for number in numbers if not math.isnan(number)})
    while digits < EXACT_DIGITS and not _all_apart(ascending, digits):
        digits += 1
    return tuple(_text(number, digits) for number in numbers)


def counted(number: int, noun: str) -> str:
    """``1 run``, ``20 runs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _all_apart(ascending: list[float], digits: int) -> bool:
    texts = [_text(number, digits) for number in ascending]
    return all(float(lower) < float(upper) for lower, upper in pairwise(texts))


def _text(number: float, digits: int) -> str:
    if math.isfinite(number) and abs(number) < WHOLE_BELOW:
        digits = max(digits, len(str(int(abs(number)))))
    return f"{number:.{digits}g}"
