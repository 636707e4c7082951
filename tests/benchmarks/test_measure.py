"""From red runs to numbers with intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.detection.judges import Reds
from benchmarks.detection.measure import WARM_UP, outcome, share_of, share_of_runs, wilson

NO_CHANGE = np.empty(0, np.int64)


def reds(*runs, of=60):
    red = np.zeros(of, np.bool_)
    red[list(runs)] = True
    return Reds(red, seconds=0.06)


def test_wilson_gives_the_known_interval():
    """Of 10 hits in 100 trials: 5.5 % to 17.4 %; none in 100 still leaves 3.7 % possible."""
    assert wilson(0.1, 100) == pytest.approx((0.0552, 0.1744), abs=1e-4)
    assert wilson(0.0, 100) == pytest.approx((0.0, 0.0370), abs=1e-4)
    assert wilson(0.0, 0) == (0.0, 1.0)


def test_red_runs_that_cluster_widen_the_interval():
    """Ten red runs in one history tell less than one in each of ten."""
    spread = share_of_runs([[25]] * 10 + [[]] * 10, 60)
    clustered = share_of_runs([list(range(25, 35))] + [[]] * 19, 60)
    assert spread.hits == clustered.hits == 10
    assert clustered.high - clustered.low > 2 * (spread.high - spread.low)


def test_false_alarms_are_counted_after_the_warm_up_and_before_the_change():
    """Early red runs are told apart, and those after the change are no false alarms."""
    found = outcome("j", [reds(5, 30, 45)], np.arange(40, 60))
    assert (found.early_reds.hits, found.early_reds.of) == (1, WARM_UP)
    assert (found.false_alarms.hits, found.false_alarms.of) == (1, 40 - WARM_UP)


def test_between_outliers_nothing_has_changed():
    """A red run beside an outlier is a false alarm."""
    found = outcome("j", [reds(40, 41, 50)], np.array([40, 50]))
    assert (found.false_alarms.hits, found.false_alarms.of) == (1, 40 - 2)


def test_the_first_changed_run_is_delay_one():
    """A change that is never caught counts as infinite and moves the median."""
    found = outcome("j", [reds(40), reds(41), reds()], np.arange(40, 60))
    assert found.delays == (1.0, 2.0, math.inf)
    assert found.median_delay == 2.0
    assert found.caught_within(1) == share_of([True, False, False])
    assert [share.hits for share in found.caught] == [2, 2, 2, 2]


def test_where_nothing_changes_nothing_is_caught():
    """A history without a change has no delays, and the cost is per judged run."""
    found = outcome("j", [reds(30)], NO_CHANGE)
    assert found.caught == found.delays == ()
    assert found.ms_per_run == pytest.approx(1.0)
