"""Check 4: absolute bounds from the first run on."""

from __future__ import annotations

import math

import pytest

from gate.verdict import Status


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, None),
        (1.0, None),
        (1.0001, "m step 0: 1.0001 is above the limit 1"),
        (-0.25, "m step 0: -0.25 is below the limit 0"),
        (math.nextafter(1, 2), "m step 0: 1.0000000000000002 is above the limit 1"),
    ],
)
def test_bounds_are_included_and_need_no_history(build, value, text):
    """A first run is judged by them already."""
    verdict = build.judge(build.spec(limits=(0.0, 1.0)), build.record(m={0: value}))
    assert verdict.specs[0].columns["limits"].reasons.get(0) == text
    assert verdict.trusted == (text is None)


def test_no_limits_no_check(build):
    """A check that was not asked for is absent."""
    assert "limits" not in build.judge(build.spec(), build.record(m={0: 1.0})).specs[0].checks


def test_one_side_may_be_open(build):
    """``{"max": 1}`` says nothing about small values."""
    assert build.judge(build.spec(limits=(None, 1.0)), build.record(m={0: -1e308})).trusted


def test_a_value_that_is_no_number_is_no_pass(build):
    """Selection's error shows in every check of the coordinate."""
    judged = build.judge(build.spec(limits=(0.0, 1.0)), build.record(m={0: math.nan, 1: 0.5})).specs[0]
    assert judged.columns["limits"].status.tolist() == [Status.ERROR, Status.PASS]
    assert judged.checks["limits"].facts == {"outside": 0, "of": 1}
