"""A further drift check, `spread`: noise that grows or shrinks, or a curve that changes its form, over many steps.

The number of a run is the log of its spread: the sd over the steps of what is left once the anchor's mean of each step
is taken off. It is followed by the rule of `shift`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gate.case import Answer, Case
from gate.columns import USUAL_SQUARES, blocks
from gate.drift import Comparable, Move, move_of
from gate.history import RunRef
from gate.numbers import written
from gate.verdict import SpecCheck, Status

SPREAD = "spread"
FEWEST_STEPS = 8
"""An sd of 8 values is known to a quarter of itself, 1 / sqrt(2 * 7), and one that is known worse is not followed."""
LEAST_RATIO = 1.25
"""However steady the anchor's spread is, it may become so many times larger or smaller."""
TIMES_SHIFT = 1.15
"""On the multipliers of `shift`, 2.3 for its 2.0: the second question about a gate spec must cost hardly any reds."""
LOG_LARGEST = math.log(sys.float_info.max)


def check_spread(case: Case) -> Answer | None:
    """None where the declaration leaves it out. Of the facts ``ratio`` is the newest spread over the anchor's;
    ``allowed`` >= 1 bounds it, and its inverse from below.

    A spread below `shift_fraction` of the band counts as that much: it matters to nobody, and where nothing varies
    there is a number still. A band of nothing, or one without end, has no such least spread: INACTIVE, as below
    `FEWEST_STEPS` common steps.
    """
    if SPREAD not in case.spec.checks:
        return None
    compared = case.once(Comparable.of)
    least = 0.0 if compared is None else case.policy.shift_fraction * compared.mean_band
    if compared is None or compared.steps < FEWEST_STEPS or not 0 < least < math.inf:
        return Answer(SpecCheck(Status.INACTIVE, facts=_facts(None)))

    def spreads(values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        mean = case.anchor.mean[compared.common]
        return np.maximum(log_spreads(values, mean, case.policy.anchor_runs), math.log(least))

    times_noise = TIMES_SHIFT * compared.times_noise
    move = move_of(spreads(compared.values), case.policy, times_noise, math.log(LEAST_RATIO))
    if not move.too_far:
        return Answer(SpecCheck(Status.PASS, facts=_facts(move)))
    since = compared.began_with(move, spreads)
    return Answer(SpecCheck(Status.FAIL, _reason(compared, move, since), _facts(move, since)))


def log_spreads(
    rows: Sequence[NDArray[np.float64]], mean: NDArray[np.float64], anchor_runs: int
) -> NDArray[np.float64]:
    """The log of the sd (ddof 1) over the steps of each row less ``mean``; -inf where nothing is left.

    The first ``anchor_runs`` rows are those whose mean that is. From each the mean of the others is taken off, which
    is K / (K - 1) times the distance from the mean of all K: with itself inside, its rest would be too small.
    """
    logs = np.concatenate([_log_sds(block, mean) for block in blocks(rows, mean.size)])
    logs[:anchor_runs] += math.log(anchor_runs / (anchor_runs - 1))
    return logs


def _log_sds(block: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore", invalid="ignore"):
        squares, log_scale = _squares(block - mean), np.zeros(len(block))
    if not np.all((squares > USUAL_SQUARES[0]) & (squares < USUAL_SQUARES[1])):
        squares, log_scale = _scaled_squares(block, mean)
    with np.errstate(divide="ignore"):
        logs: NDArray[np.float64] = log_scale + np.log(squares / (mean.size - 1)) / 2
    return logs


def _squares(rest: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of squares of each row around its own mean; overwrites ``rest``."""
    rest -= np.add.reduce(rest, axis=1, keepdims=True) / rest.shape[1]
    squares: NDArray[np.float64] = np.einsum("ij,ij->i", rest, rest)
    return squares


def _scaled_squares(
    block: NDArray[np.float64], mean: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each row divided by its largest, so that no square overflows or vanishes; the logs of what it was divided by."""
    rest = block / 2 - mean / 2  # the difference of halves does not overflow
    largest = np.abs(rest).max(axis=1)
    largest[largest == 0.0] = 1.0
    return _squares(rest / largest[:, np.newaxis]), np.log(largest) + math.log(2)


def _reason(compared: Comparable, move: Move, since: RunRef) -> str:
    spread, anchor = written(_exp(move.centre + move.moved), _exp(move.centre))
    grown = move.moved > 0
    ratio, allowed = written(_exp(move.moved), _exp(move.allowed if grown else -move.allowed))
    return (
        f"{compared.where} the spread around the anchor's curve is {spread} in the median of the last "
        f"{compared.case.policy.shift_runs} runs, {ratio} times the anchor's {anchor} "
        f"(allowed {'up to' if grown else 'down to'} {allowed} times); "
        f"it probably began with run {since.run_id} of {since.created_at:%Y-%m-%d}"
    )


def _facts(move: Move | None, since: RunRef | None = None) -> dict[str, Any]:
    """By their JSON names."""
    return {
        "ratio": move and _exp(move.moved),
        "allowed": move and _exp(move.allowed),
        "since_run_id": since and since.run_id,
    }


def _exp(log: float) -> float:
    """At most the largest double."""
    return math.exp(min(log, LOG_LARGEST))
