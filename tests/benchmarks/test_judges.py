"""The judges: what reaches the gate, and what each of them sees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.detection.judges import GateJudge, Trial, declare, ours, run_means, verdicts
from benchmarks.detection.scenarios import PRESET_KL, sds
from benchmarks.detection.simulate import Change, Layout, Noise, simulate
from gate.policy import GatePolicy
from gate.record import MetricSeries, Record

BALANCED, STRICT, CORRIDOR = ours()
CALM = Noise(sigma=0.002)
SLOW = Change("ramp", at=40, size=0.001)
SMALL = Layout(runs=70, metrics=2, steps=20)


def trial(change=SLOW, layout=SMALL, band=PRESET_KL, stop_from=None, noise=CALM):
    values = simulate(noise, change, layout, ("a judge's test", 0))
    return Trial(values, tuple(declare(f"m{index}", band) for index in range(layout.metrics)), stop_from)


def red_runs(judge: GateJudge, given: Trial) -> list[int]:
    return np.flatnonzero(judge.judge([given])[0].red).tolist()


def test_the_corridor_alone_never_sees_the_slow_ramp():
    """Its rolling mean follows: thirty runs and a move of fifteen sds, and no run is red."""
    assert red_runs(CORRIDOR, trial()) == []


@pytest.mark.parametrize("judge", [BALANCED, STRICT], ids=lambda judge: judge.name)
def test_our_gate_catches_the_slow_ramp(judge):
    """The same history is red within 29 runs of the ramp's beginning, and not before it."""
    first = red_runs(judge, trial())[0]
    assert SLOW.at <= first < SLOW.at + 29


def test_judging_ends_with_the_first_red_run_that_matters():
    """``stop_from`` spares the runs after it and changes no answer before."""
    whole = BALANCED.judge([trial()])[0].red
    short = BALANCED.judge([trial(stop_from=40)])[0].red
    assert short[-1]
    assert not short[:-1].any()
    np.testing.assert_array_equal(short, whole[: short.size])


def test_a_red_run_enters_no_baseline():
    """Outliers in a row are each red: were the first one a baseline, the next would be compared with it."""
    given = trial(Change(), band=sds(CALM, 6.0))
    values = given.values.copy()
    values[30:36, 0] += 1.0
    assert red_runs(CORRIDOR, replace(given, values=values)) == list(range(30, 36))


def test_each_run_is_judged_by_earlier_ones_alone():
    """Cutting the future off changes no answer."""
    given = trial()
    whole = BALANCED.judge([given])[0].red
    cut = BALANCED.judge([replace(given, values=given.values[:50])])[0].red
    np.testing.assert_array_equal(cut, whole[:50])


def test_runs_of_different_length_are_judged():
    """An absent step is no point of the record, and no error."""
    given = trial(Change(), layout=replace(SMALL, varying_length=True, steps=50))
    assert red_runs(BALANCED, given) == []


def test_a_value_that_is_not_finite_is_red_and_left_out():
    """The run is untrusted, and its finite neighbour steps serve nobody."""
    spec = declare("m", {"abs_floor_up": 0.5, "abs_floor_down": 0.5})
    runs = [[1.0, 1.0], [np.nan, 1.4], [1.0, 1.45]]
    records = (Record({"m": MetricSeries((0, 1), tuple(run))}) for run in runs)
    answers = list(verdicts([spec], records, GatePolicy()))
    assert [answer.trusted for answer in answers] == [True, False, True]
    assert answers[2].specs[0].baseline == answers[1].specs[0].baseline


def test_run_means_leave_absent_steps_out():
    """What rivals get of a short run is the mean of the steps it has."""
    assert run_means(np.array([[[1.0, 3.0], [5.0, np.nan]]])).tolist() == [[2.0, 5.0]]
