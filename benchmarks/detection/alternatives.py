"""Checks that might be added, tried on many histories of one metric at once before anyone builds them.

Each check watches one number per run (a `Feature`) by the rule of the shift check with sizes of its own. These are
prototypes: the checks that judge runs are the gate's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.simulate import Floats

ANCHOR = 20
TRIM_FACTOR = 1.128
"""On the sd (ddof 1) of the 19 of 20 normal values nearest their median; `trim_factor` measures what it should be."""

Feature = Callable[[Floats], Floats]
"""From values (histories, runs, steps) to one number per history and run."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Red iff |median of the last ``recent`` runs - centre of the first ``anchor``| > max(multiplier x s, floor).

    Of an anchor of 20 the run furthest from the median is left out and s is scaled by `TRIM_FACTOR`.
    """

    feature: Feature
    multiplier: float = 2.0
    anchor: int = ANCHOR
    recent: int = 10
    floor: float = 0.0


def level(values: Floats) -> Floats:
    return np.asarray(values.mean(axis=2))


def block(index: int, of: int) -> Feature:
    """The level of the ``index``-th of ``of`` equal blocks of steps."""

    def block_level(values: Floats) -> Floats:
        return level(np.array_split(values, of, axis=2)[index])

    return block_level


def log_spread(values: Floats) -> Floats:
    """Log of the sd over the steps (ddof 1) of what is left once each step's mean of the first runs is taken off.

    From a run that is one of them the mean of the others is taken off; with it inside, its rest would be too small.
    """
    left = values - values[:, :ANCHOR].mean(axis=1, keepdims=True)
    left[:, :ANCHOR] *= ANCHOR / (ANCHOR - 1)
    return np.asarray(np.log(left.std(axis=2, ddof=1)))


def reds(rules: Sequence[Rule], values: Floats) -> NDArray[np.bool_]:
    """Which runs any rule makes red, bool (histories, runs). A red run enters neither anchor nor recent runs."""
    features = [rule.feature(values) for rule in rules]
    counted = [np.full(feature.shape, np.nan) for feature in features]
    counts = np.zeros(values.shape[0], np.int64)
    red = np.zeros(values.shape[:2], np.bool_)
    every = np.arange(values.shape[0])
    for run in range(values.shape[1]):
        for rule, feature, trusted in zip(rules, features, counted, strict=True):
            red[:, run] |= _fires(rule, feature[:, run], trusted, counts)
        good = ~red[:, run]
        for feature, trusted in zip(features, counted, strict=True):
            trusted[every[good], counts[good]] = feature[good, run]
        counts += good
    return red


def centre_and_scale(anchor: Floats) -> tuple[Floats, Floats]:
    """Mean and sd (ddof 1) of each row, of 20 without the one furthest from the row's median."""
    if anchor.shape[1] != ANCHOR:
        return anchor.mean(axis=1), anchor.std(axis=1, ddof=1)
    distance = np.abs(anchor - np.median(anchor, axis=1, keepdims=True))
    nearest = np.take_along_axis(anchor, np.argsort(distance, axis=1)[:, :-1], axis=1)
    return nearest.mean(axis=1), TRIM_FACTOR * nearest.std(axis=1, ddof=1)


def trim_factor(samples: int, seed: int = 1) -> tuple[float, float]:
    """What makes the square, and what the trimmed sd of 20 normal values itself, right on average over ``samples``."""
    drawn = np.random.default_rng(seed).standard_normal((samples, ANCHOR))
    trimmed = centre_and_scale(drawn)[1] / TRIM_FACTOR
    return float(1 / np.sqrt(np.mean(trimmed**2))), float(1 / trimmed.mean())


def median_error(samples: int, size: int = 10, seed: int = 2) -> float:
    """The sd of the median of ``size`` standard normal values."""
    return float(np.median(np.random.default_rng(seed).standard_normal((samples, size)), axis=1).std(ddof=1))


def exceedance(rule: Rule, samples: int, seed: int = 3) -> float:
    """How often independent normal runs exceed the rule once it is active: its two-sided p per run."""
    rng = np.random.default_rng(seed)
    centre, scale = centre_and_scale(rng.standard_normal((samples, rule.anchor)))
    recent = np.median(rng.standard_normal((samples, rule.recent)), axis=1)
    return float(np.mean(np.abs(recent - centre) > np.maximum(rule.multiplier * scale, rule.floor)))


def _fires(rule: Rule, now: Floats, trusted: Floats, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    fires = np.zeros(now.size, np.bool_)
    active = np.flatnonzero(counts >= max(rule.anchor, rule.recent - 1))
    if not active.size:
        return fires
    centre, scale = centre_and_scale(trusted[active, : rule.anchor])
    last = counts[active, None] - np.arange(1, rule.recent)
    recent = np.column_stack([now[active], np.take_along_axis(trusted[active], last, axis=1)])
    moved = np.abs(np.median(recent, axis=1) - centre)
    fires[active] = moved > np.maximum(rule.multiplier * scale, rule.floor)
    return fires
