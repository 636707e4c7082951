"""A constraint out of a metric's own history: as narrow as its noise allows, and no narrower."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.detection.simulate import Floats

BAND_SDS = 5.0
"""Half-width in sds. The lint warns below 4.5, and an sd out of 20 runs is only known to about a sixth."""
SUGGEST_FROM = 20
"""Bands are suggested from so many first runs."""
FAR_SDS = 5.0
"""Values further from their median than so many robust sds are broken runs, not noise."""
MAD_TO_SD = 1.4826
"""The sd of normal values over their median absolute deviation: 1 / Phi^-1(3/4)."""
DIGITS = 2


def suggest_constraint(values: Floats, band_sds: float = BAND_SDS) -> dict[str, float]:
    """A ``constraint`` literal for ``steps="all"`` from valid runs, float64 (runs, steps), NaN where a step is missing.

    Each side is at least ``band_sds`` times the sd at every step, more on a side to which the noise leans, and of all
    pairs of a relative part and a floor the one with the least total width. Single broken runs do not widen it.
    Raises ValueError where no step has 2 values or nothing ever varied: noise cannot be seen there.
    """
    kept = _without_broken(values[:, np.count_nonzero(~np.isnan(values), axis=0) >= 2])
    centre = np.nanmean(kept, axis=0)
    sd = np.nanstd(kept, axis=0, ddof=1)
    if not sd.size or not sd.max() > 0:
        raise ValueError("the values never vary, so they show no noise; declare a constraint by hand")
    up, down = (np.maximum(sd, _one_sided(sign * (kept - centre))) for sign in (1.0, -1.0))
    return _side("up", np.abs(centre), band_sds * up) | _side("down", np.abs(centre), band_sds * down)


def _without_broken(values: Floats) -> Floats:
    middle = np.nanmedian(values, axis=0)
    spread = MAD_TO_SD * np.nanmedian(np.abs(values - middle), axis=0)
    far = (np.abs(values - middle) > FAR_SDS * spread) & (spread > 0)
    return np.where(far, np.nan, values)


def _one_sided(deviations: Floats) -> Floats:
    """The root mean square of the positive deviations of each step; 0 without any."""
    above = np.where(deviations > 0, deviations, np.nan)
    count = np.count_nonzero(~np.isnan(above), axis=0)
    return np.asarray(np.sqrt(np.nansum(above**2, axis=0) / np.maximum(count, 1)))


def _side(name: str, centre: Floats, need: Floats) -> dict[str, float]:
    """The relative part and the floor whose larger one covers ``need`` at every step, with the least total width.

    The floor is at least the least width that any step gets: that widens nothing, and keeps a band where one night
    seeds a reference near zero.
    """
    rels = [0.0, *(need[centre > 0] / centre[centre > 0]).tolist()]
    pairs = [(rel, float(np.max(need[rel * centre < need], initial=0.0))) for rel in rels]
    rel, floor = min(pairs, key=lambda pair: float(np.maximum(pair[0] * centre, pair[1]).sum()))
    floor = float(np.maximum(rel * centre, floor).min())
    parts = {f"rel_{name}": _rounded_up(rel), f"abs_floor_{name}": _rounded_up(floor)}
    return {key: value for key, value in parts.items() if value > 0}


def _rounded_up(value: float) -> float:
    """To `DIGITS` significant digits, so that the literal reads well and still covers what it must."""
    if value <= 0:
        return 0.0
    unit = DIGITS - 1 - math.floor(math.log10(value))
    return round(math.ceil(round(value * 10.0**unit, 6)) / 10.0**unit, max(unit, 0))
