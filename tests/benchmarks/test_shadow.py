"""Bands from the first nights are those that the shipped tool prints."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.detection.judges import IDENTITY, declare, records_of, verdicts
from benchmarks.detection.shadow import SHADOW_RUNS, suggestions
from benchmarks.detection.stored import as_stored
from gate.backtest import Proposal
from gate.past import SeriesPast
from gate.policy import GatePolicy
from gate.suggest import suggest

NAMES = ("loss", "kl")
VALUES = 1.0 + 0.01 * np.random.default_rng(7).standard_normal((SHADOW_RUNS + 10, 2, 12))


def records(values=VALUES):
    return list(records_of(values, NAMES))


def test_they_are_what_suggest_prints_for_the_stored_nights():
    """The same nights under another first declaration, through the whole tool: equal literals."""
    specs = tuple(declare(name, {"rel_up": 0.5, "rel_down": 0.5}) for name in NAMES)
    judged = verdicts(specs, iter(records()[:SHADOW_RUNS]), GatePolicy())
    series = SeriesPast(IDENTITY, tuple(as_stored(night, verdict) for night, verdict in enumerate(judged)))
    printed = suggest(series, Proposal(specs, GatePolicy())).each
    assert [one.spec.key for one in suggestions(NAMES, records())] == [one.spec.key for one in printed]


def test_later_runs_have_no_say():
    """A band is chosen before the change, or the change would widen it."""
    moved = VALUES.copy()
    moved[SHADOW_RUNS:] += 5.0
    assert suggestions(NAMES, records(moved))[0].constraint == suggestions(NAMES, records())[0].constraint


def test_a_night_with_a_value_that_is_not_finite_is_no_example_of_noise():
    """It is not valid for any metric, as in the store."""
    broken = VALUES.copy()
    broken[3, 1, 4] = np.inf
    assert [one.runs for one in suggestions(NAMES, records(broken))] == [SHADOW_RUNS - 1] * 2


@pytest.mark.parametrize("values", [np.ones((SHADOW_RUNS, 2, 3)), VALUES[:5]])
def test_without_noise_nothing_is_suggested(values):
    """No variation, or too few nights: a reason in place of a band."""
    assert all(one.reason for one in suggestions(NAMES, records(values)))


def test_equal_steps_are_one_array():
    """Rows that a reader can tell to be aligned without comparing them."""
    specs = [declare(name, {"abs_floor_up": 1.0}) for name in NAMES]
    first, second = (
        as_stored(night, verdict) for night, verdict in enumerate(verdicts(specs, iter(records()[:2]), GatePolicy()))
    )
    assert first.values[0].steps is second.values[1].steps
