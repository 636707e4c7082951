"""Check 3: a small move that the steps share."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.drift import MULTIPLIERS, best_split, multiplier
from gate.report import markdown_report, text_report
from gate.verdict import Status
from gate.verdict_json import to_json

WIDE = {"abs_floor_up": 1.0, "abs_floor_down": 1.0}
ANCHOR = [1.0] * 8 + [0.8, 9.0, 1.2] + [1.0] * 9
"""Of these 20 the 9 is left out; the other 19 have mean 1 and sd sqrt(0.08 / 18) = 0.0667, so that s = 0.0752."""
ALLOWED = 2.0 * 1.128 * math.sqrt(0.08 / 18)
EXTREME = st.sampled_from([1e308, -1e308, 1.7e308, -1.7e308, 0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1.0])


def _verdict(build, levels, constraint=None, policy=None, **spec):
    """The last of ``levels`` (oldest first, a number or {step: value} each) judged against the others."""
    runs = [level if isinstance(level, dict) else {0: level} for level in levels]
    history = build.past(build.rows(runs[-2::-1]), (policy or build.STRICT).anchor_runs)
    declared = build.spec(constraint=constraint or WIDE, **spec)
    return build.judge(declared, build.record(m=runs[-1]), build.reader(m=history), policy or build.STRICT)


def _check(build, levels, *arguments, **named):
    return _verdict(build, levels, *arguments, **named).specs[0].checks["shift"]


@pytest.mark.parametrize(("level", "status"), [(1.15, "pass"), (1.151, "fail"), (0.85, "pass"), (0.849, "fail")])
def test_by_hand(build, level, status):
    """From 19 of 20 anchor runs s = 0.0752; 2 s = 0.1504 is allowed, to both sides."""
    check = _check(build, [*ANCHOR, *[level] * 10])
    assert check.status.label == status
    assert check.facts["moved"] == pytest.approx(level - 1)
    assert check.facts["allowed"] == pytest.approx(ALLOWED)


def test_the_sentence(build):
    """Sign, size, what is allowed, and the run where the move probably began; in both reports."""
    verdict = _verdict(build, [*ANCHOR, *[1.0] * 4, *[1.16] * 12])
    sentence = (
        f"m: over 1 step the median of the last 10 runs is 1.16, 0.16 above the epoch's anchor 1 (allowed 0.15); "
        f"the move probably began with run {25:032x} of 2026-01-26"
    )
    assert verdict.specs[0].checks["shift"].reason == sentence
    assert verdict.specs[0].checks["shift"].facts["since_run_id"] == f"{25:032x}"
    for report in (text_report(verdict), markdown_report(verdict)):
        assert f"shift fail: {sentence}" in report


def test_down_is_told_as_below(build):
    """The sign of the move."""
    check = _check(build, [*[2.0] * 20, *[1.5] * 10])
    assert "is 1.5, 0.5 below the epoch's anchor 2 (allowed 0.05)" in check.reason
    assert check.facts["moved"] == -0.5


@pytest.mark.parametrize(("level", "status"), [(1.0625, Status.PASS), (1.063, Status.FAIL), (0.937, Status.FAIL)])
def test_a_quiet_anchor_allows_a_share_of_the_band(build, level, status):
    """20 equal anchors: s = 0, so f x the tighter band counts, 1/16 of 1; exactly that is allowed."""
    policy = replace(build.STRICT, shift_fraction=1 / 16)
    lopsided = {"abs_floor_up": 1.0, "abs_floor_down": 2.0}
    check = _check(build, [*[1.0] * 20, *[level] * 10], lopsided, policy)
    assert (check.status, check.facts["allowed"]) == (status, 1 / 16)


def test_a_band_of_nothing_allows_no_move(build):
    """All zero and a relative band: as the corridor, any move at all is one; no move is none."""
    relative = {"rel_up": 0.5, "rel_down": 0.5}
    assert _check(build, [0.0] * 21, relative).status is Status.PASS
    assert _check(build, [*[0.0] * 20, *[-0.0] * 10], relative).facts["moved"] == 0.0
    moved = _check(build, [*[0.0] * 20, *[5e-324] * 10], relative)
    assert (moved.status, moved.facts["allowed"]) == (Status.FAIL, 0.0)


@pytest.mark.parametrize(("runs", "status"), [(19, Status.INACTIVE), (20, Status.PASS)])
def test_it_is_inactive_until_the_anchor_is_full(build, runs, status):
    """Then from the first run on, which is compared with what the anchor itself ends with."""
    check = _check(build, [1.0] * runs + [1.0])
    assert check.status is status
    assert set(check.facts) == {"moved", "allowed", "since_run_id"}
    assert (check.facts["moved"] is None) == (status is Status.INACTIVE)


def test_one_odd_run_is_no_shift(build):
    """The median of ten does not follow one, two or four of them."""
    for odd in (1, 2, 4):
        assert _check(build, [*[1.0] * 26, *[5.0] * odd]).status is Status.PASS
    assert _check(build, [*[1.0] * 26, *[5.0] * 6]).status is Status.FAIL


def test_opposite_moves_of_the_steps_cancel(build):
    """Only what the steps share counts: half up and half down is for the other checks to see."""
    past, now = {0: 1.0, 1: 1.0}, {0: 1.5, 1: 0.5}
    assert _check(build, [past] * 20 + [now] * 10).facts["moved"] == 0.0
    assert _check(build, [past] * 20 + [{0: 1.5, 1: 1.5}] * 10).status is Status.FAIL


def test_only_common_steps_are_compared(build):
    """A run that is longer than the anchor is compared over what both have, while that is half of it."""
    short, long = {0: 1.0, 1: 1.0}, {0: 1.0, 1: 1.0, 2: 9.0, 3: 9.0}
    verdict = _verdict(build, [short] * 20 + [long] * 10)
    assert verdict.specs[0].checks["shift"].facts["moved"] == 0.0
    assert verdict.warnings == ()


def test_curves_of_different_length_are_not_compared(build):
    """Under half of the steps in common: inactive, and a warning says why."""
    short, long = {0: 1.0, 1: 1.0}, dict.fromkeys(range(5), 1.0)
    verdict = _verdict(build, [short] * 20 + [long] * 10)
    assert verdict.specs[0].checks["shift"].status is Status.INACTIVE
    (notice,) = (notice for notice in verdict.warnings if notice.kind == "shift_incomparable")
    assert notice.text == (
        "m: shift is inactive: only 2 of 5 steps are in the last 9 runs and in all of the anchor too; "
        "curves of different length are not compared"
    )


def test_a_step_that_vanished_once_is_no_common_step(build):
    """One anchor run without step 1 takes it out of every level."""
    both = {0: 1.0, 1: 1.0}
    check = _check(build, [*[both] * 19, {0: 1.0}, *[{0: 1.0, 1: 1.5}] * 10])
    assert (check.status, check.facts["moved"]) == (Status.PASS, 0.0)


def test_a_broken_coordinate_is_left_out(build):
    """NaN at one step: the others are still compared, and half of the selected steps must be left."""
    past = dict.fromkeys(range(4), 1.0)
    now = dict.fromkeys(range(4), 1.5)
    assert _check(build, [past] * 20 + [now] * 9 + [now | {0: math.nan}]).status is Status.FAIL
    broken = now | dict.fromkeys(range(3), math.nan)
    assert _check(build, [past] * 20 + [now] * 9 + [broken]).status is Status.INACTIVE


def test_the_declaration_can_leave_it_out(build):
    """Without it there is no such check."""
    assert "shift" not in _verdict(build, [*[1.0] * 20, *[1.5] * 10], checks=("anchor",)).specs[0].checks


@pytest.mark.parametrize(
    ("anchor_runs", "shift_runs", "allowed"),
    [(*size, times) for size, times in MULTIPLIERS.items()]
    + [(12, 10, 2.9), (25, 10, 2.0), (200, 12, 1.8), (40, 8, 2.3)],
)
def test_the_multipliers(anchor_runs, shift_runs, allowed):
    """As specified; a size between two takes what the smaller one allows."""
    assert multiplier(anchor_runs, shift_runs) == allowed


@pytest.mark.parametrize(("anchor_runs", "shift_runs"), [(9, 10), (15, 7), (20, 4)])
def test_too_few_runs_have_no_multiplier(anchor_runs, shift_runs):
    """They would say nothing at p = 0.0002."""
    assert multiplier(anchor_runs, shift_runs) is None


def test_the_multipliers_are_those_of_the_formula():
    """Student's t at p = 0.0002 (quantiles of a table) times sqrt(var(median of m) + 1 / K), to one decimal."""
    student = {10: 6.010, 15: 4.985, 20: 4.590, 30: 4.254}
    variance = {5: 0.2868, 7: 0.2104, 10: 0.1383}
    for (k, m), times in MULTIPLIERS.items():
        assert times == pytest.approx(student[k] * math.sqrt(variance[m] + 1 / k), abs=0.05)


def test_other_sizes_take_the_sd_of_the_whole_anchor(build):
    """K = 10: plain sd (ddof 1) of all ten, 2.9 times."""
    policy = replace(build.STRICT, anchor_runs=10)
    anchor = [0.9, 1.1] * 5
    check = _check(build, [*anchor, *[1.0] * 10], policy=policy)
    assert check.facts["allowed"] == pytest.approx(2.9 * np.std(anchor, ddof=1))


def test_a_short_baseline_still_compares_the_newest_nine(build):
    """``history = 3`` reads and names what shift needs."""
    policy = replace(build.STRICT, history=3)
    verdict = _verdict(build, [*[1.0] * 20, *[1.5] * 10], policy=policy)
    assert verdict.specs[0].checks["shift"].status is Status.FAIL
    assert len(verdict.specs[0].baseline) == 9


@given(st.lists(EXTREME, min_size=31, max_size=31), st.sampled_from([WIDE, {"rel_up": 1e308, "rel_down": 1e308}]))
def test_no_number_is_ever_nan(build, levels, constraint):
    """Largest doubles of both signs, denormals, -0: a status, numbers or null, and JSON that can be written."""
    verdict = _verdict(build, levels, constraint)
    check = verdict.specs[0].checks["shift"]
    assert check.status in (Status.PASS, Status.FAIL)
    assert all(fact is None or math.isfinite(fact) for fact in (check.facts["moved"], check.facts["allowed"]))
    json.dumps(to_json(verdict), allow_nan=False)


def test_a_move_beyond_the_largest_double_is_seen(build):
    """From -1.7e308 to 1.7e308: the distance is no double, the verdict is right, the number null."""
    check = _check(build, [*[-1.7e308] * 20, *[1.7e308] * 10])
    assert (check.status, check.facts["moved"], check.facts["allowed"]) == (Status.FAIL, None, 0.05)


@given(st.lists(st.floats(-1e-9, 1e-9), min_size=40, max_size=40), st.integers(6, 33))
def test_a_clear_step_is_found_where_it_is(noise, first):
    """The best split of a step far above the noise is the step."""
    levels = np.array(noise) + np.where(np.arange(40) >= first, 1.0, 0.0)
    assert best_split(levels, 5) == first
