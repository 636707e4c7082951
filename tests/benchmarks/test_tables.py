"""The tables: what is told of a judge, and when a target counts as missed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np

from benchmarks.detection import tables
from benchmarks.detection.alternatives import Rule, exceedance, level, median_error, reds, trim_factor
from benchmarks.detection.judges import HELD, Reds
from benchmarks.detection.measure import outcome, share_of
from benchmarks.detection.runner import Plan, measure_one
from benchmarks.detection.scenarios import Change, Layout, Noise, Scenario, Target, sds

CAUGHT = Target("caught", 0.95, within=10)
DRIFT = Scenario("a drift", Noise(), sds(Noise()), Change("ramp", size=0.001), target=CAUGHT)


class NeverRed:
    name = HELD

    def judge(self, trials):
        return [Reds(np.zeros(trial.values.shape[0], np.bool_), 0.1) for trial in trials]


def judged(*first_reds):
    """The outcome of one history for each: its first red run, None for none."""
    red = np.zeros((len(first_reds), 140), np.bool_)
    for row, run in zip(red, first_reds, strict=True):
        if run is not None:
            row[run] = True
    return outcome(HELD, [Reds(row, 0.1) for row in red], np.arange(40, 140))


def test_a_target_is_missed_where_too_few_are_caught():
    """Nineteen of twenty within ten runs is met, eighteen is not; a late one counts as not caught."""
    for reds_at, missed in (([49] * 19 + [None], []), ([49] * 18 + [50, None], ["a drift"])):
        measured = [(DRIFT, [judged(*reds_at)])]
        assert tables.missed_targets(measured) == missed
        assert ("**MISSED**" in tables.targets(measured)) == bool(missed)


def test_a_target_is_met_as_a_point_or_with_its_interval():
    """Thirty of thirty leave 88 % possible; of a hundred and twenty, all or all but one clear 95 %, and three do not."""
    for late, of, expected in ((0, 30, "point"), (0, 120, "interval"), (1, 120, "interval"), (3, 120, "point")):
        (row,) = tables.targets([(DRIFT, [judged(*[49] * (of - late), *[None] * late)])]).splitlines()[2:]
        assert row.endswith({"point": "| as a point only |", "interval": "| with its interval |"}[expected])


def test_few_false_alarms_are_held_against_the_upper_end():
    """None of 400 runs red leaves 1 % possible, which is more than the promised 1 in 200; none of 2000 does not."""
    few = Target("false_alarms", 1 / 200)
    assert [tables.is_clear(few, share_of([False] * of)) for of in (400, 2000)] == [False, True]


def test_a_judge_that_sees_nothing_is_told_as_such():
    """No delay is a number where most histories were never caught."""
    found = measure_one(DRIFT, NeverRed(), 3)
    assert "| never |" in tables.changes([(DRIFT, [found])])
    assert tables.missed_targets([(DRIFT, [found])]) == ["a drift"]


def test_a_history_without_change_tells_false_alarms_alone():
    """It has its row in one table and none in the other."""
    quiet = Scenario("quiet", Noise(), sds(Noise()), layout=Layout(runs=40))
    measured = [(quiet, [measure_one(quiet, NeverRed(), 2)])]
    assert "0 of 40" in tables.quiet(measured)
    assert "quiet" not in tables.changes(measured)


def test_targets_get_the_most_histories():
    """The judge that is held to a target is measured best."""
    plan = Plan(caught=120, quiet=30, ours=10, others=4)
    assert plan.count(DRIFT, NeverRed()) == 120
    assert plan.count(replace(DRIFT, target=Target("false_alarms", 1 / 200)), NeverRed()) == 30
    assert plan.count(replace(DRIFT, target=None), NeverRed()) == 10


def test_the_constants_of_the_shift_check_are_what_simulation_gives():
    """1.128 makes the square of the trimmed sd right; a median of 10 errs by 0.37 sd; 2.0 s means p below 0.0005."""
    assert abs(trim_factor(40_000)[0] - 1.128) < 0.005
    assert abs(median_error(40_000) - 0.372) < 0.005
    assert 0.00005 < exceedance(Rule(level, 2.0), 100_000) < 0.0005


def test_a_prototype_waits_for_its_anchor_and_sees_a_step():
    """Nothing is red in the first 20 runs; a step of five sds is, once half of the last ten runs have it."""
    values = np.random.default_rng(3).normal(0.0, 1.0, (4, 60, 1))
    values[:, 40:] += 5.0
    red = reds([Rule(level)], values)
    assert not red[:, :40].any()
    assert red[:, 40:47].any(axis=1).all()


def test_quick_tables_are_not_kept():
    """``--save`` with ``--quick`` is refused in one line before anything is measured."""
    command = [sys.executable, "-m", "benchmarks.detection", "--quick", "--save"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "--save keeps the full tables" in done.stderr.splitlines()[-1]
