"""Check 1: bounds, profiles, quorum, and sentences that are visibly true."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.corridor import Corridor
from gate.quorum import quorum
from gate.spec import Constraint
from gate.verdict import Status

FINITE = st.floats(allow_nan=False, allow_infinity=False)
WIDTH = st.floats(0, 1e3)
RULES = st.builds(Constraint, WIDTH, WIDTH, WIDTH, WIDTH)


def _judged(build, value, past, policy, constraint=None, size=1):
    """One gate spec of ``size`` equal coordinates, the first of them at ``value``."""
    points = {0: value} | dict.fromkeys(range(1, size), 1.0)
    runs = [dict.fromkeys(range(size), reference) for reference in past]
    spec = build.spec(constraint=constraint or build.TENTH)
    return build.judge(spec, build.record(m=points), build.reader(m=build.rows(runs)), policy).specs[0]


@given(FINITE, RULES)
def test_the_corridor_contains_its_reference(ref, rule):
    """Whatever the bands."""
    corridor = Corridor.around(np.array([ref]), rule)
    assert corridor.lo[0] <= ref <= corridor.hi[0]
    assert not corridor.excludes(np.array([ref]))[0]


@given(st.floats(-1e6, 1e6), RULES)
def test_both_bounds_are_inside_and_their_neighbours_outside(ref, rule):
    """The interval is closed."""
    corridor = Corridor.around(np.array([ref]), rule)
    lo, hi = corridor.lo[0], corridor.hi[0]
    assert not corridor.excludes(np.array([lo]))[0]
    assert not corridor.excludes(np.array([hi]))[0]
    assert corridor.excludes(np.array([math.nextafter(hi, math.inf)]))[0]
    assert corridor.excludes(np.array([math.nextafter(lo, -math.inf)]))[0]


@pytest.mark.parametrize(
    ("ref", "lo", "hi"), [(1.0, 0.2, 1.5), (-1.0, -1.8, -0.5), (0.0, -0.02, 0.01), (0.01, -0.01, 0.02)]
)
def test_the_wider_of_relative_and_floor_counts(ref, lo, hi):
    """Bands scale from |reference|, and never vanish below the floor."""
    corridor = Corridor.around(np.array([ref]), Constraint(0.5, 0.01, 0.8, 0.02))
    assert (corridor.lo[0], corridor.hi[0]) == (pytest.approx(lo), pytest.approx(hi))


@pytest.mark.parametrize(
    ("profile", "runs", "status"),
    [("STRICT", 0, "inactive"), ("STRICT", 1, "fail"), ("BALANCED", 2, "inactive"), ("BALANCED", 3, "outside")],
)
def test_how_many_runs_make_it_active(build, profile, runs, status):
    """Strict judges from one value on, balanced from three."""
    judged = _judged(build, 1.2, [1.0] * runs, getattr(build, profile))
    assert Status(judged.columns["corridor"].status[0]).label == status


def test_an_inactive_coordinate_still_shows_its_corridor(build):
    """A person sees what is building up."""
    column = _judged(build, 1.2, [1.0], build.BALANCED).columns["corridor"]
    assert (column.n[0], column.mean[0], column.lo[0], column.hi[0]) == (1, 1.0, 0.9, 1.1)


@pytest.mark.parametrize(
    ("judged", "needed"), [(1, 1), (9, 1), (10, 2), (40, 2), (41, 3), (60, 3), (61, 4), (1000, 50), (1001, 51)]
)
def test_the_quorum(judged, needed):
    """max(2, 5 % rounded up), any one where there are fewer than ten."""
    assert quorum(judged) == needed


@pytest.mark.parametrize(
    ("value", "size", "status"),
    [
        (1.15, 9, Status.FAIL),
        (1.15, 10, Status.PASS),
        (1.19, 50, Status.PASS),
        (1.21, 50, Status.FAIL),
        (0.79, 50, Status.FAIL),
    ],
)
def test_balanced_fails_by_few_coordinates_or_by_distance(build, value, size, status):
    """One outside among many is chance unless it is more than two bands away."""
    judged = _judged(build, value, [1.0] * 3, build.BALANCED, size=size)
    assert judged.checks["corridor"].status is status
    assert judged.checks["corridor"].facts == {"outside": 1, "of": size}
    assert judged.columns["corridor"].status[0] == Status.OUTSIDE


def test_exactly_two_bands_is_not_far(build):
    """More than two, not two: 1.5 is exactly two bands of 0.25 above 1."""
    quarter = {"abs_floor_up": 0.25, "abs_floor_down": 0.25}
    at = _judged(build, 1.5, [1.0] * 3, build.BALANCED, quarter, size=20)
    beyond = _judged(build, math.nextafter(1.5, 2), [1.0] * 3, build.BALANCED, quarter, size=20)
    assert (at.checks["corridor"].status, beyond.checks["corridor"].status) == (Status.PASS, Status.FAIL)


@pytest.mark.parametrize(
    ("value", "status"), [(0.7, Status.PASS), (0.55, Status.FAIL), (1.19, Status.PASS), (1.3, Status.FAIL)]
)
def test_far_is_measured_in_bands_of_its_own_side(build, value, status):
    """A wide band below does not excuse a value above, nor the other way round."""
    lopsided = {"abs_floor_up": 0.1, "abs_floor_down": 0.2}
    judged = _judged(build, value, [1.0] * 3, build.BALANCED, lopsided, size=20)
    assert judged.checks["corridor"].status is status


def test_far_is_seen_where_the_distance_overflows(build):
    """1.7e308 is far from -1.7e308 although their difference is no double."""
    constraint = {"abs_floor_up": 1e308, "abs_floor_down": 1e308}
    points = {0: 1.7e308} | dict.fromkeys(range(1, 20), -1.7e308)
    rows = build.rows([dict.fromkeys(range(20), -1.7e308)] * 3)
    judged = build.judge(
        build.spec(constraint=constraint), build.record(m=points), build.reader(m=rows), build.BALANCED
    )
    assert judged.outcome == "not_trusted"


def test_only_active_coordinates_count_for_the_quorum(build):
    """Cold steps neither dilute nor add."""
    points = {step: 1.15 if step == 0 else 1.0 for step in range(15)}
    rows = build.rows([dict.fromkeys(range(9), 1.0)] * 3)
    judged = build.judge(build.spec(), build.record(m=points), build.reader(m=rows), build.BALANCED).specs[0]
    assert judged.checks["corridor"].facts == {"outside": 1, "of": 9}
    assert judged.checks["corridor"].status is Status.FAIL


def test_the_sentence_says_how_far_and_against_what(build):
    """An engineer reads it without a manual."""
    judged = _judged(build, 0.0414, [0.0202] * 20, build.STRICT, {"rel_up": 0.5, "abs_floor_up": 0.02, "rel_down": 0.8})
    assert judged.columns["corridor"].reasons == {
        0: "m step 0: 0.0414 is 1.1 bands above the mean 0.0202 of 20 runs (allowed 0.00404 to 0.0402)"
    }


def test_a_band_of_zero_is_told_without_a_number_of_bands(build):
    """A relative band around zero."""
    judged = _judged(build, -0.5, [0.0], build.STRICT, {"rel_up": 0.5, "rel_down": 0.5})
    assert judged.columns["corridor"].reasons[0] == "m step 0: -0.5 is below the mean 0 of 1 run (allowed 0 to 0)"


@given(value=FINITE, past=st.lists(FINITE, min_size=1, max_size=4), rule=st.tuples(WIDTH, WIDTH, WIDTH, WIDTH))
def test_every_stated_comparison_is_visibly_true(build, value, past, rule):
    """The value printed lies outside the range printed, on the side and by the bands that are stated."""
    constraint = dict(zip(("rel_up", "abs_floor_up", "rel_down", "abs_floor_down"), rule, strict=True))
    judged = _judged(build, value, past, build.STRICT, constraint)
    for reason in judged.columns["corridor"].reasons.values():
        told = re.fullmatch(
            r"m step 0: (\S+) is (?:(\S+) bands )?(above|below) the mean (\S+) of \d runs? \(allowed (\S+) to (\S+)\)",
            reason,
        )
        stated, bands, side, mean, lo, hi = told.groups()
        assert float(lo) <= float(mean) <= float(hi)
        assert float(stated) > float(hi) if side == "above" else float(stated) < float(lo)
        assert bands is None or float(bands) > 1
    assert bool(judged.columns["corridor"].reasons) == (judged.checks["corridor"].status is Status.FAIL)
