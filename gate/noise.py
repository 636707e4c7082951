"""How much the values of a gate spec vary from run to run, told from a history that may drift, step and break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.history import VALID_RUNS, StoredSeries

FEWEST_RUNS = 8
"""A step of fewer runs says too little about noise."""
FEWEST_BEFORE = 4
LOOK_BACK = 20
SD_OF_MAD = 1.4826
"""sd of a normal distribution over its median absolute deviation."""
BROKEN_RUN = 4.0
"""A run whose median coordinate is so many sds away is no example of noise."""
BROKEN_VALUE = 8.0


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """Per step, float64 (m,): ``level``, the median of the newest values; ``sd`` (ddof 1) without broken runs;
    ``up`` and ``down``, how far the furthest ordinary value lay from the runs before it, to each side.

    ``steps`` int64 (m,) are those of at least `FEWEST_RUNS` runs. ``runs`` were looked at, oldest first, of which
    ``broken`` were set aside.
    """

    steps: NDArray[np.int64]
    level: NDArray[np.float64]
    sd: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    runs: tuple[str, ...]
    broken: tuple[str, ...]


@np.errstate(over="ignore", invalid="ignore")
def noise_of(rows: Sequence[StoredSeries]) -> Noise:
    """From the valid runs of one epoch, oldest first.

    Each value is held against the median of the up to `LOOK_BACK` values before it, and these moves against their own
    median, so that neither a step nor a steady drift passes for noise. The sd is never below the plain one of the
    newest `VALID_RUNS` runs. Values too far apart for doubles make numbers that are not finite.
    """
    steps, values = _matrix(rows)
    moves = np.column_stack([_moves(column) for column in values.T]) if steps.size else values
    spread = np.array([_robust_sd(column) for column in moves.T])
    away = np.abs(moves) / np.where(spread > 0, spread, np.inf)
    broken = np.array([_median(row) > BROKEN_RUN for row in away], np.bool_)
    ordinary = ~broken[:, None] & ~(away > BROKEN_VALUE)
    kept, moves = np.where(ordinary, values, np.nan), np.where(ordinary, moves, np.nan)
    return Noise(
        steps=steps,
        level=np.array([_median(column) for column in kept[-VALID_RUNS:].T]),
        sd=np.fmax(_sds(kept[-VALID_RUNS:]), _sds(moves)),
        up=np.fmax.reduce(moves, axis=0, initial=0.0),
        down=-np.fmin.reduce(moves, axis=0, initial=0.0),
        runs=tuple(row.run.run_id for row in rows),
        broken=tuple(row.run.run_id for row, is_broken in zip(rows, broken.tolist(), strict=True) if is_broken),
    )


def _matrix(rows: Sequence[StoredSeries]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The steps that enough runs have, and (r, m) the values there, NaN where a run lacks one."""
    every = np.concatenate([row.steps for row in rows] or [np.empty(0, np.int64)])
    steps, counts = np.unique(every, return_counts=True)
    steps = steps[counts >= FEWEST_RUNS]
    values = np.full((len(rows), steps.size), np.nan)
    for index, row in enumerate(rows):
        _, at, source = np.intersect1d(steps, row.steps, assume_unique=True, return_indices=True)
        values[index, at] = row.values[source]
    return steps, values


def _moves(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each value's distance from the median of those before it, less the median distance; NaN for the first ones."""
    at = np.flatnonzero(~np.isnan(column))
    known = column[at]
    moves = np.full(column.size, np.nan)
    for place in range(FEWEST_BEFORE, known.size):
        moves[at[place]] = known[place] - np.median(known[max(0, place - LOOK_BACK) : place])
    return moves - _median(moves)


def _robust_sd(column: NDArray[np.float64]) -> float:
    return SD_OF_MAD * _median(np.abs(column))


def _median(column: NDArray[np.float64]) -> float:
    known = column[~np.isnan(column)]
    return float(np.median(known)) if known.size else 0.0


def _sds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each column, 0 below two values."""
    known = (column[~np.isnan(column)] for column in values.T)
    return np.array([np.std(column, ddof=1) if column.size > 1 else 0.0 for column in known])
