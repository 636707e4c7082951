"""Means and spreads of columns, one column a coordinate and one row a run, without overflow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gate.reduction import DOWN, HUGE

Rows = Sequence[NDArray[np.float64]] | NDArray[np.float64]
"""Equally long rows of float64, NaN marking no value: a list of arrays, or a matrix."""
LARGEST_POWER = 1000
"""Powers of two that scale by no more than this can be multiplied with their inverse."""
USUAL_SQUARES = (1e-280, 1e280)
"""A sum of squares in between has lost nothing to overflow or underflow."""
BLOCK = 2**14
"""So many numbers are worked on at a time, more only where one row has more: few calls, and all in the cache."""


def blocks(values: Rows, size: int) -> list[NDArray[np.float64]]:
    """The rows in order, as matrices (k, ``size``) of several rows where they are short."""
    rows = max(1, BLOCK // max(1, size))
    if rows == 1:
        return [row[np.newaxis] for row in values]
    return [np.asarray(values[start : start + rows]) for start in range(0, len(values), rows)]


def column_means(values: Rows, size: int | None = None) -> NDArray[np.float64]:
    """The mean of each of the ``size`` columns of ``values``, NaN for a column without any; an empty list needs
    ``size``.

    Rows are added in order, so that the sum does not depend on how numpy is built. Values near the largest double
    are scaled by a power of two, so that their sum does not overflow.
    """
    size = len(values[0]) if size is None else size
    parts = blocks(values, size)
    low, high = _bounds(parts, size)
    scale = np.where(np.maximum(np.abs(low), np.abs(high)) > HUGE, DOWN, 1.0)
    scaled = bool(np.any(scale != 1.0))
    total, count = np.zeros(size), np.full(size, len(values))
    for row in () if scaled else (row for block in parts for row in block):
        total += row
    if scaled or np.isnan(total).any():
        total, count = _sums_of_known(parts, scale)
    with np.errstate(over="ignore"):  # rounding may lift a mean of largest doubles past them; the bounds bring it back
        mean: NDArray[np.float64] = total / np.maximum(count, 1) / scale
    return np.clip(mean, low, high)


def _sums_of_known(
    parts: Sequence[NDArray[np.float64]], scale: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The sum of each column times its ``scale`` and how many values it has, those that are missing left out."""
    total, count = np.zeros(scale.size), np.zeros(scale.size, np.int64)
    for block in parts:
        known = ~np.isnan(block)
        count += np.count_nonzero(known, axis=0)
        for row in np.where(known, block * scale, 0.0):
            total += row
    return total, count


def column_sds(values: Rows, mean: NDArray[np.float64], least: int = 2) -> NDArray[np.float64]:
    """The sample sd (ddof 1) of each column of ``values`` (r, m) around ``mean`` (m,); NaN below ``least`` >= 2 values.

    Where squares may overflow or vanish each column is scaled to about 1 by a power of two.
    """
    parts = blocks(values, mean.size)
    squares = _plain_squares(parts, mean)
    if len(values) >= least and np.all((squares > USUAL_SQUARES[0]) & (squares < USUAL_SQUARES[1])):
        return np.sqrt(squares / (len(values) - 1))
    return _scaled_sds(parts, mean, len(values), least)


def _plain_squares(parts: Sequence[NDArray[np.float64]], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of squares around ``mean`` of each column; NaN where a value is missing."""
    squares = np.zeros(mean.size)
    with np.errstate(over="ignore", invalid="ignore"):
        for block in parts:
            deviations = block - mean
            squares += np.einsum("ij,ij->j", deviations, deviations)
    return squares


def _scaled_sds(
    parts: Sequence[NDArray[np.float64]], mean: NDArray[np.float64], rows: int, least: int
) -> NDArray[np.float64]:
    low, high = _bounds(parts, mean.size)
    _, exponent = np.frexp(np.fmax(np.abs(low), np.abs(high)))
    scale = np.ldexp(1.0, np.clip(-exponent, -LARGEST_POWER, LARGEST_POWER))
    scaled_mean = mean * scale
    squares, count = np.zeros(mean.size), np.full(mean.size, rows)
    for block in parts:
        deviations = block * scale
        deviations -= scaled_mean
        deviations *= deviations
        missing = np.isnan(block)
        if missing.any():
            deviations[missing] = 0.0
            count -= np.count_nonzero(missing, axis=0)
        squares += deviations.sum(axis=0)
    with np.errstate(over="ignore"):
        return np.where(count >= least, np.sqrt(squares / np.maximum(count - 1, 1)) / scale, np.nan)


def _bounds(parts: Sequence[NDArray[np.float64]], size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest value of each column, NaN without any."""
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    for block in parts:
        least, largest = (block[0],) * 2 if len(block) == 1 else (np.fmin.reduce(block), np.fmax.reduce(block))
        np.fmin(low, least, out=low)
        np.fmax(high, largest, out=high)
    return low, high
