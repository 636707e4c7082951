"""Seeded histories of a test's metrics: noise of several shapes, and at most one kind of change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NoiseShape = Literal["normal", "t3", "ar", "lognormal", "bounded"]
ChangeKind = Literal["none", "step", "ramp", "outliers", "spread", "late_step"]

AR_COEFFICIENT = 0.3
OUTLIER_EVERY = 10
LATE_SHARE = 0.2
LENGTH_SPREAD = 3
"""With varying length, a run has up to so many steps fewer than the longest."""


@dataclass(frozen=True, slots=True)
class Noise:
    """``sigma``: sd of one value; ``shared``: the share of its variance that all steps of a metric have in common.

    ``t3``: Student's t with 3 degrees of freedom, scaled to ``sigma``. ``ar``: each night correlates with the one
    before by `AR_COEFFICIENT`. ``lognormal``: positive and skewed, as KL is. ``bounded``: cut off at 1, as rewards are.
    """

    shape: NoiseShape = "normal"
    sigma: float = 0.004
    shared: float = 0.5


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to the first metric from run ``at`` (counted from 0) on; the other metrics stay as they were.

    ``size``: of a ``ramp`` the move per run, in the metric's unit (its first run has moved by one ``size``); of a
    ``spread`` the factor on the noise; else the move in sigmas. ``late_step`` moves the last fifth of the steps,
    ``outliers`` every tenth run alone.
    """

    kind: ChangeKind = "none"
    at: int = 40
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Layout:
    """``varying_length``: each run lacks up to `LENGTH_SPREAD` of its last steps."""

    runs: int = 140
    metrics: int = 5
    steps: int = 50
    level: float = 0.05
    varying_length: bool = False


def simulate(noise: Noise, change: Change, layout: Layout, seed: tuple[str, int]) -> Floats:
    """Values float64 (runs, metrics, steps), NaN where a run had no such step. Equal arguments, equal values."""
    name, index = seed
    rng = np.random.default_rng([crc32(name.encode()), index])
    unit = _unit_noise(noise, layout, rng)
    level = layout.level + _moves(noise, change, layout)
    values = _shaped(noise, level, unit * _spread(change, layout))
    if layout.varying_length:
        lengths = layout.steps - rng.integers(0, LENGTH_SPREAD + 1, layout.runs)
        absent = np.arange(layout.steps) >= lengths[:, None]
        values[np.broadcast_to(absent[:, None, :], values.shape)] = np.nan
    return values


def changed_runs(change: Change, runs: int) -> NDArray[np.int64]:
    """Which runs differ from the runs before the change."""
    if change.kind == "none":
        return np.empty(0, np.int64)
    return np.arange(change.at, runs, OUTLIER_EVERY if change.kind == "outliers" else 1)


def _unit_noise(noise: Noise, layout: Layout, rng: np.random.Generator) -> Floats:
    """Mean 0, variance 1, (runs, metrics, steps); correlation ``shared`` between the steps of one run."""
    common = _draw(noise.shape, (layout.runs, layout.metrics, 1), rng)
    own = _draw(noise.shape, (layout.runs, layout.metrics, layout.steps), rng)
    return np.asarray(np.sqrt(noise.shared) * common + np.sqrt(1 - noise.shared) * own)


def _draw(shape: NoiseShape, size: tuple[int, int, int], rng: np.random.Generator) -> Floats:
    if shape == "t3":
        return np.asarray(rng.standard_t(3, size) / np.sqrt(3))
    drawn = rng.standard_normal(size)
    if shape == "ar":
        for run in range(1, size[0]):
            drawn[run] = AR_COEFFICIENT * drawn[run - 1] + np.sqrt(1 - AR_COEFFICIENT**2) * drawn[run]
    return drawn


def _moves(noise: Noise, change: Change, layout: Layout) -> Floats:
    """How far each level has moved, in the metric's unit, (runs, metrics, steps)."""
    moves = np.zeros((layout.runs, layout.metrics, layout.steps))
    runs = changed_runs(change, layout.runs)
    if change.kind == "ramp":
        moves[runs, 0] = (change.size * (runs - change.at + 1))[:, None]
    elif change.kind in ("step", "outliers"):
        moves[runs, 0] = change.size * noise.sigma
    elif change.kind == "late_step":
        moves[runs, 0, layout.steps - round(LATE_SHARE * layout.steps) :] = change.size * noise.sigma
    return moves


def _spread(change: Change, layout: Layout) -> Floats:
    factor = np.ones((layout.runs, layout.metrics, 1))
    if change.kind == "spread":
        factor[change.at :, 0] = change.size
    return factor


def _shaped(noise: Noise, level: Floats, unit: Floats) -> Floats:
    if noise.shape == "lognormal":
        log_sd = np.sqrt(np.log1p((noise.sigma / level) ** 2))
        return np.asarray(level * np.exp(log_sd * unit - log_sd**2 / 2))
    values = level + noise.sigma * unit
    return np.minimum(values, 1.0) if noise.shape == "bounded" else values
