"""The reference: newest values at exactly this coordinate, and a mean without surprises."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.baseline import Baseline
from gate.columns import column_means

FINITE = st.floats(allow_nan=False, allow_infinity=False)
HISTORIES = st.lists(st.dictionaries(st.integers(0, 6), FINITE, min_size=1), max_size=12)


def test_each_step_has_its_own_newest_values(build):
    """Where newer runs lack a step, older runs serve it."""
    rows = build.rows([{0: 1.0}, {0: 2.0, 1: 10.0}, {0: 4.0, 1: 20.0}, {1: 60.0}])
    baseline = Baseline.of(rows, np.array([0, 1, 2]), 2)
    assert baseline.n.tolist() == [2, 2, 0]
    assert baseline.mean.tolist()[:2] == [1.5, 15.0]
    assert np.isnan(baseline.mean[2])


def test_the_runs_named_are_those_used_and_the_newest_five(build):
    """Used by a mean, or by the usual number of points; newest first; nothing else."""
    rows = build.rows([{9: 1.0}] * 6 + [{0: 1.0}] * 3)
    baseline = Baseline.of(rows, np.array([0]), 2)
    assert baseline.run_ids == tuple(rows[index].run.run_id for index in (0, 1, 2, 3, 4, 6, 7))


@given(HISTORIES, st.integers(1, 5), st.sets(st.integers(0, 6)))
def test_the_named_runs_alone_give_the_same_baseline(build, history, limit, steps):
    """What a replay reads is enough, to the last bit."""
    rows, at = build.rows(history), np.array(sorted(steps), np.int64)
    baseline = Baseline.of(rows, at, limit)
    again = Baseline.of([row for row in rows if row.run.run_id in baseline.run_ids], at, limit)
    assert again.run_ids == baseline.run_ids
    assert np.array_equal(again.n, baseline.n)
    assert again.mean.tobytes() == baseline.mean.tobytes()


@pytest.mark.parametrize("value", [0.1, 1 / 3, -0.1, 5e-324, 1.7e308, -sys.float_info.max, 1e-300, 3.0000000000000004])
@pytest.mark.parametrize("count", [1, 3, 7, 19, 20, 500])
def test_the_mean_of_equal_values_is_the_value(value, count):
    """0.1 twenty times is 0.1, and twenty largest doubles do not overflow."""
    assert column_means(np.full((count, 1), value)).tolist() == [value]


@given(st.lists(FINITE, min_size=1, max_size=20))
def test_the_mean_lies_between_its_values(values):
    """Also where the plain sum would overflow."""
    (mean,) = column_means(np.array(values)[:, None]).tolist()
    assert min(values) <= mean <= max(values)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_the_mean_is_the_mean(values):
    """As numpy computes it, up to rounding."""
    (mean,) = column_means(np.array(values)[:, None]).tolist()
    assert mean == pytest.approx(np.mean(values), rel=1e-12, abs=1e-9)


def test_no_rows_and_no_steps_are_a_cold_start(build):
    """An empty history is no special case for the checks."""
    assert Baseline.of((), np.array([0, 1]), 20).n.tolist() == [0, 0]
    assert Baseline.of(build.rows([{0: 1.0}]), np.array([], np.int64), 20).mean.size == 0
