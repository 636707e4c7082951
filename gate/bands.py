"""The narrowest constraint that leaves room for given noise, as the literal of a declaration."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

import numpy as np
from numpy.typing import NDArray

from gate.noise import Noise

BANDS_OF_SD = 4.5
"""Narrower ones turn red by chance."""
SEEN_AND_MORE = 1.1
"""A band also holds the furthest ordinary value seen, and so much more."""
CLEARLY_NARROWER = 0.9
"""Bands that scale with the mean, or two parameters instead of one, are proposed only if so much narrower."""
NEAR_ZERO = 1.0
"""A band that is a larger share of the mean says that the mean is near zero."""
DIGITS = 2


@dataclass(frozen=True, slots=True)
class Side:
    """Half a constraint: a share of the mean and an absolute floor, either of them 0."""

    rel: float
    floor: float

    def band(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(self.rel * level, self.floor)


def constraint_for(noise: Noise) -> dict[str, float] | None:
    """Bands of at least 4.5 sd at every step; None where nothing varies or the values are too large to say."""
    level = np.abs(noise.level)
    literal: dict[str, float] = {}
    for name, furthest in (("up", noise.up), ("down", noise.down)):
        with np.errstate(over="ignore"):
            need = np.maximum(BANDS_OF_SD * noise.sd, SEEN_AND_MORE * furthest)
        if not np.any(need > 0) or not np.all(np.isfinite(need)):
            return None
        side = narrowest(level, need)
        literal |= {f"rel_{name}": side.rel, f"abs_floor_{name}": side.floor}
    return {parameter: number for parameter, number in literal.items() if number}


def narrowest(level: NDArray[np.float64], need: NDArray[np.float64]) -> Side:
    """The side whose bands hold every ``need`` (m,) at these ``level`` (m,), both >= 0, and are least wide.

    An absolute floor wherever it does: where the mean is near zero, or noise does not grow with it. Both numbers are
    rounded up.
    """
    floor = Side(0.0, _rounded_up(float(np.max(need))))
    best, width = floor, _width(floor, level, need)
    for side in _candidates(level, need):
        its_width = _width(side, level, need)
        if its_width < width * (CLEARLY_NARROWER if best is floor or side.floor else 1.0):
            best, width = side, its_width
    return best


def _candidates(level: NDArray[np.float64], need: NDArray[np.float64]) -> list[Side]:
    """Shares of the mean that hold some or all of the needs, the one that holds all first; a floor for the rest."""
    noisy = (level > 0) & (need > 0)
    with np.errstate(over="ignore"):
        shares = np.unique(need[noisy] / level[noisy])[::-1]
    sides = []
    for share in shares[shares <= NEAR_ZERO].tolist():
        rel = _rounded_up(share)
        left = need[rel * level < need]
        sides.append(Side(rel, _rounded_up(float(np.max(left))) if left.size else 0.0))
    return sides


def _width(side: Side, level: NDArray[np.float64], need: NDArray[np.float64]) -> float:
    """The geometric mean of band over need, 1 at best."""
    noisy = need > 0
    if not np.any(noisy):
        return 1.0
    with np.errstate(over="ignore"):
        ratio = np.maximum(side.band(level)[noisy] / need[noisy], 1.0)
        return float(np.exp(np.mean(np.log(ratio))))


def _rounded_up(number: float) -> float:
    """To `DIGITS` significant digits."""
    exact = Decimal(number)
    if not exact:
        return 0.0
    return float(exact.quantize(Decimal((0, (1,), exact.adjusted() - DIGITS + 1)), ROUND_CEILING))
