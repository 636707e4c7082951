"""Least squares by stochastic gradient descent: the code under test, in the standard library alone."""

from __future__ import annotations

import random
from collections.abc import Iterator

TRUTH = (1.5, -2.0, 0.5)


def residuals(steps: int, rate: float, seed: int | None = None) -> Iterator[float]:
    """The mean squared error of each step, on samples drawn for it."""
    source = random.Random(seed)
    weights = [0.0 for _ in TRUTH]
    for _ in range(steps):
        rows = [[source.gauss(0.0, 1.0) for _ in TRUTH] for _ in range(64)]
        errors = [_dot(weights, row) - _dot(TRUTH, row) - source.gauss(0.0, 0.1) for row in rows]
        for index in range(len(weights)):
            slope = sum(error * row[index] for error, row in zip(errors, rows, strict=True)) / len(rows)
            weights[index] -= rate * 2 * slope
        yield sum(error * error for error in errors) / len(errors)


def _dot(left: list[float] | tuple[float, ...], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
