"""The check `spread`: noise over many steps that grows or shrinks."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.report import markdown_report, text_report
from gate.spread import FEWEST_STEPS, log_spreads
from gate.verdict import Status
from gate.verdict_json import to_json

WIDE = {"abs_floor_up": 1.0, "abs_floor_down": 1.0}
UNIT_SD = math.sqrt(8 / 7)
"""Of eight values 1, -1, 1, ... (ddof 1)."""
EXTREME = st.sampled_from([1e308, -1e308, 1.7e308, -1.7e308, 0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1.0])


def _curves(sizes, steps=FEWEST_STEPS, level=0.0):
    """One run for each size: ``level`` plus and minus it in turn, begun the other way round in every other run, so
    that the mean of pairs of equal size is the level.
    """
    return [{s: level + size * (-1) ** (s + number) for s in range(steps)} for number, size in enumerate(sizes)]


def _verdict(build, runs, constraint=None, policy=None, **spec):
    """The last of ``runs`` (oldest first) judged against the others."""
    policy = policy or build.STRICT
    history = build.past(build.rows(runs[-2::-1]), policy.anchor_runs)
    declared = build.spec(constraint=constraint or WIDE, **spec)
    return build.judge(declared, build.record(m=runs[-1]), build.reader(m=history), policy)


def _check(build, runs, *arguments, **named):
    return _verdict(build, runs, *arguments, **named).specs[0].checks["spread"]


@pytest.mark.parametrize(("size", "status"), [(0.263, "pass"), (0.264, "fail"), (0.169, "pass"), (0.168, "fail")])
def test_a_steady_anchor_by_hand(build, size, status):
    """20 equal spreads of 0.2, each 20/19 times that around the mean of the other 19: 1.25 times it is allowed."""
    check = _check(build, _curves([0.2] * 20 + [size] * 10))
    assert check.status.label == status
    assert check.facts["ratio"] == pytest.approx(size / 0.2 * 19 / 20)
    assert check.facts["allowed"] == pytest.approx(1.25)


@pytest.mark.parametrize(("size", "status"), [(0.367, "pass"), (0.368, "fail"), (0.155, "pass"), (0.154, "fail")])
def test_a_noisy_anchor_by_hand(build, size, status):
    """12 spreads of 0.2 and 8 of 0.28, of which one is left out: the logs of 12 and 7 have a mean 7/19 of log 1.4
    above the first and the sd log 1.4 sqrt(12 * 7 / 19 / 18), of which 2.3 times 1.128 is allowed.
    """
    check = _check(build, _curves([0.2] * 12 + [0.28] * 8 + [size] * 10))
    assert check.status.label == status
    sd = math.log(1.4) * math.sqrt(12 * 7 / 19 / 18)
    assert math.log(check.facts["allowed"]) == pytest.approx(2.3 * 1.128 * sd)
    centre = math.log(0.2 * 20 / 19) + math.log(1.4) * 7 / 19
    assert math.log(check.facts["ratio"]) == pytest.approx(math.log(size) - centre)


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (0.3, "0.321 in the median of the last 10 runs, 1.42 times the anchor's 0.225 (allowed up to 1.25 times)"),
        (0.1, "0.107 in the median of the last 10 runs, 0.475 times the anchor's 0.225 (allowed down to 0.8 times)"),
    ],
)
def test_the_sentence(build, size, told):
    """In units of the metric, with what is allowed and the run where it probably began; in both reports."""
    verdict = _verdict(build, _curves([0.2] * 24 + [size] * 12))
    sentence = (
        f"m: over 8 steps the spread around the anchor's curve is {told}; "
        f"it probably began with run {25:032x} of 2026-01-26"
    )
    check = verdict.specs[0].checks["spread"]
    assert (check.reason, check.facts["since_run_id"]) == (sentence, f"{25:032x}")
    for report in (text_report(verdict), markdown_report(verdict)):
        assert f"spread fail: {sentence}" in report


def test_neither_anchor_nor_shift_sees_it(build):
    """The level stands still and every value is within its band."""
    checks = _verdict(build, _curves([0.2] * 20 + [0.4] * 10)).specs[0].checks
    assert {name: check.status.label for name, check in checks.items()} == {
        "corridor": "pass",
        "anchor": "pass",
        "shift": "pass",
        "spread": "fail",
    }


def test_a_step_of_the_last_steps_is_a_spread(build):
    """The curve has changed its form: a fifth of its steps has moved, the others have not."""
    curves = _curves([0.1] * 30, steps=20, level=1.0)
    late = [curve | {step: curve[step] + 0.3 for step in range(16, 20)} for curve in curves[20:]]
    assert _check(build, [*curves[:20], *late]).status is Status.FAIL


def test_a_move_that_all_steps_share_is_none(build):
    """That is the business of `shift`."""
    moved = _curves([0.1] * 10, level=0.4)
    assert _check(build, [*_curves([0.1] * 20), *moved]).status is Status.PASS


@pytest.mark.parametrize(("steps", "status"), [(7, Status.INACTIVE), (8, Status.FAIL)])
def test_it_asks_for_eight_common_steps(build, steps, status):
    """Below, no sd is worth following; nothing warns of it, and a check that compared still passes the spec."""
    verdict = _verdict(build, _curves([0.05] * 20 + [0.2] * 10, steps))
    check = verdict.specs[0].checks["spread"]
    assert (check.status, set(check.facts)) == (status, {"ratio", "allowed", "since_run_id"})
    assert verdict.trusted == (status is Status.INACTIVE)
    assert verdict.warnings == ()


@pytest.mark.parametrize(("runs", "status"), [(19, Status.INACTIVE), (20, Status.PASS)])
def test_it_is_inactive_until_the_anchor_is_full(build, runs, status):
    """As `shift`."""
    assert _check(build, _curves([0.1] * (runs + 1))).status is status


def test_the_declaration_can_leave_it_out(build):
    """Without it there is no such check."""
    runs = _curves([0.1] * 20 + [0.4] * 10)
    assert "spread" not in _verdict(build, runs, checks=("anchor", "shift")).specs[0].checks


def test_one_wild_run_is_no_growth(build):
    """The median of ten does not follow one or four of them."""
    for odd in (1, 4):
        assert _check(build, _curves([0.1] * 26 + [0.9] * odd)).status is Status.PASS
    assert _check(build, _curves([0.1] * 26 + [0.9] * 6)).status is Status.FAIL


@pytest.mark.parametrize(("size", "status"), [(0.0, "pass"), (1e-9, "pass"), (0.05, "pass"), (0.07, "fail")])
def test_what_is_small_beside_the_band_is_no_spread(build, size, status):
    """20 equal anchors: a spread counts from a twentieth of the band on, 0.05, and 1.25 times that is allowed."""
    runs = [*_curves([0.0] * 20, level=1.0), *_curves([size] * 10, level=1.0)]
    check = _check(build, runs)
    assert check.status.label == status
    assert check.facts["ratio"] == pytest.approx(max(1.0, size * UNIT_SD / 0.05))


def test_noise_that_vanishes_is_a_change(build):
    """From 0.2 to none: told as the least spread that counts."""
    check = _check(build, _curves([0.2] * 20 + [0.0] * 10))
    assert (check.status, check.facts["ratio"]) == (Status.FAIL, pytest.approx(0.05 / (0.2 * UNIT_SD * 20 / 19)))


@pytest.mark.parametrize("constraint", [{"rel_up": 0.5, "rel_down": 0.5}, {"rel_up": 1e308, "rel_down": 1e308}])
def test_a_band_of_nothing_or_without_end_leaves_it_inactive(build, constraint):
    """There is no least spread that matters."""
    level = 0.0 if constraint["rel_up"] < 1 else 1e10
    assert _check(build, _curves([0.0] * 20 + [0.1] * 10, level=level), constraint).status is Status.INACTIVE


def test_other_sizes_take_their_own_multiple(build):
    """K = 10: plain sd of all ten logs, 1.15 times 2.9."""
    policy = replace(build.STRICT, anchor_runs=10)
    check = _check(build, _curves([0.2] * 6 + [0.3] * 14), policy=policy)
    logs = np.log([0.2] * 6 + [0.3] * 4)
    assert math.log(check.facts["allowed"]) == pytest.approx(1.15 * 2.9 * np.std(logs, ddof=1))


@given(
    st.lists(st.lists(EXTREME, min_size=8, max_size=8), min_size=31, max_size=31),
    st.sampled_from([WIDE, {"rel_up": 1e308, "rel_down": 1e308}, {"abs_floor_up": 1e-300, "abs_floor_down": 1e-300}]),
)
def test_no_number_is_ever_nan(build, rows, constraint):
    """Largest doubles of both signs, denormals, -0: a status, finite numbers, and JSON that can be written."""
    verdict = _verdict(build, [dict(enumerate(row)) for row in rows], constraint)
    check = verdict.specs[0].checks["spread"]
    assert check.status in (Status.PASS, Status.FAIL, Status.INACTIVE)
    assert all(fact is None or math.isfinite(fact) for fact in (check.facts["ratio"], check.facts["allowed"]))
    json.dumps(to_json(verdict), allow_nan=False)


@given(
    st.lists(st.lists(st.floats(-1, 1), min_size=9, max_size=9), min_size=12, max_size=12),
    st.sampled_from([2.0**-900, 1.0, 2.0**900]),
)
def test_an_anchor_run_is_held_against_the_others(rows, scale):
    """Its number is the spread around the mean of the other nine; a later run's, around the mean of all ten."""
    values = np.round(np.array(rows), 3)
    mean = values[:10].mean(axis=0)
    found = np.exp(log_spreads(list(values * scale), mean * scale, 10) - math.log(scale))
    others = [(mean * 10 - row) / 9 for row in values[:10]]
    expected = [np.std(row - ref, ddof=1) for row, ref in zip(values, [*others, mean, mean], strict=True)]
    assert found == pytest.approx(expected, abs=1e-12)
