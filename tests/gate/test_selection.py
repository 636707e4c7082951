"""Selection: which numbers are judged, and every way in which one can be missing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.record import MetricSeries, Record
from gate.reduction import reduced
from gate.selection import select


def _table(selection):
    rows = zip(selection.steps.tolist(), selection.at_steps.tolist(), selection.values.tolist(), strict=True)
    return [row for row in rows if not math.isnan(row[2])]


def test_all_takes_each_step_present(build):
    """``"all"``: one coordinate per step, ascending, whatever the order of the record."""
    selection = select(build.spec(), build.record(m=[(5, 2.0), (1, 1.0)]))
    assert _table(selection) == [(1, 1, 1.0), (5, 5, 2.0)]
    assert not selection.errors
    assert not selection.problems


def test_a_list_takes_the_listed_steps_in_ascending_order(build):
    """Other steps are not judged."""
    selection = select(build.spec(steps=[9, 0]), build.record(m={0: 1.0, 4: 2.0, 9: 3.0}))
    assert _table(selection) == [(0, 0, 1.0), (9, 9, 3.0)]


@pytest.mark.parametrize(("points", "at"), [([(3, 1.0), (7, 2.0)], 7), ([(None, 1.0), (None, 2.0)], -1)])
def test_last_has_a_constant_step_and_says_where_it_came_from(build, points, at):
    """Runs of different length share a history; the place is told beside it, unless the point had none."""
    assert _table(select(build.spec(steps="last"), build.record(m=points))) == [(-1, at, 2.0)]


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ({"reduce": "mean"}, 3.0),
        ({"reduce": "mean", "last": 2}, 4.5),
        ({"reduce": "median", "from": 1}, 3.5),
        ({"reduce": "p50", "last": 3, "from": 1}, 4.0),
        ({"reduce": "p95"}, 4.8),
        ({"reduce": "min", "from": 2}, 3.0),
        ({"reduce": "max"}, 5.0),
    ],
)
def test_reductions_make_one_number_of_a_window(build, rule, value):
    """The window is the last ``last`` points whose step is at least ``from``."""
    selection = select(build.spec(steps=rule), build.record(m={step: step + 1.0 for step in range(5)}))
    assert _table(selection) == [(-1, 4, pytest.approx(value))]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.sampled_from(["mean", "median", "p95"])
)
def test_a_reduction_lies_between_its_values(build, values, name):
    """Nothing overflows up to the largest double, and equal values reduce to themselves."""
    result = reduced(name, build.np.array(values))
    assert min(values) <= result <= max(values)


@pytest.mark.parametrize("name", ["mean", "median", "p50", "p95"])
def test_a_reduction_of_the_largest_doubles_does_not_overflow(build, name):
    """Neither their sum nor their distance."""
    assert reduced(name, build.np.array([1.7e308] * 4)) == 1.7e308
    assert math.isfinite(reduced(name, build.np.array([-1.7e308, 1.7e308])))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_one_bad_value_does_not_hide_the_others(build, bad):
    """Its coordinate is an error that names the marker; the value stays as evidence."""
    selection = select(build.spec(), build.record(m={0: 1.0, 3: bad, 4: 2.0}))
    assert _table(selection)[0] == (0, 0, 1.0)
    assert selection.values[2] == 2.0
    assert str(selection.values[1]) == str(bad)
    marker = "NaN" if math.isnan(bad) else "-Infinity" if bad < 0 else "Infinity"
    assert selection.errors == {1: f"m step 3: logged as {marker}, not a finite number"}


def test_a_listed_step_that_is_missing_is_an_error(build):
    """Never a skip; the sentence says what the record has."""
    selection = select(build.spec(steps=[0, 9]), build.record(m={0: 1.0, 7: 2.0}))
    assert selection.errors == {1: "m step 9: missing; the record has 2 steps from 0 to 7"}
    assert selection.at_steps.tolist() == [0, -1]


def test_one_step_with_different_values_is_an_error_where_selected(build):
    """Nobody can say which of them counts."""
    record = build.record(m=[(0, 1.0), (0, 2.0), (1, 3.0)])
    selection = select(build.spec(), record)
    assert selection.errors == {0: "m step 0: logged with different values (1, 2)"}
    assert _table(selection) == [(1, 1, 3.0)]
    assert not select(build.spec(steps=[1]), record).errors
    assert select(build.spec(steps={"reduce": "mean"}), record).errors
    assert not select(build.spec(steps="last"), record).errors


@pytest.mark.parametrize("pair", [(1.0, 1.0), (0.0, -0.0)])
def test_equal_values_at_one_step_count_once(build, pair):
    """Two processes that agree are one point."""
    selection = select(build.spec(expect=(1, False)), build.record(m=[(0, pair[0]), (0, pair[1])]))
    assert (selection.points, selection.errors, selection.problems) == (1, {}, ())


def test_nan_beside_a_number_at_one_step_is_an_error(build):
    """One of two processes saw NaN: that must not pass."""
    selection = select(build.spec(), build.record(m=[(0, 1.0), (0, math.nan)]))
    assert selection.errors == {0: "m step 0: logged as NaN, not a finite number"}


@pytest.mark.parametrize("steps", ["all", [0]])
def test_a_point_without_step_is_a_problem_for_all_and_lists(build, steps):
    """The rest is still selected."""
    selection = select(build.spec(steps=steps), build.record(m=[(0, 1.0), (None, 2.0)]))
    assert selection.problems == ("m has 1 point without a step; log each with its step",)
    assert _table(selection) == [(0, 0, 1.0)]


@pytest.mark.parametrize("steps", ["last", {"reduce": "mean"}])
def test_mixed_points_have_no_last_one(build, steps):
    """Points without step beside points with one have no order."""
    selection = select(build.spec(steps=steps), build.record(m=[(0, 1.0), (None, 2.0)]))
    assert "log every point with its step" in selection.errors[0]


@pytest.mark.parametrize(
    ("rule", "points", "text"),
    [
        ({"reduce": "mean", "last": 3}, {0: 1.0, 1: 2.0}, "m mean of last 3: the record has 2 points, needs 3"),
        ({"reduce": "max", "from": 5}, {0: 1.0}, "m max from step 5: the record has 0 points from step 5 on, needs 1"),
        ({"reduce": "max", "from": 5}, [(None, 1.0)], "m max from step 5: no point has a step to start from at 5"),
        ({"reduce": "min"}, {0: 1.0, 1: math.inf}, "m min: step 1 was logged as Infinity, not a finite number"),
    ],
)
def test_a_window_that_cannot_be_reduced_is_an_error(build, rule, points, text):
    """Too few points, no place to start, or a value that is no number."""
    selection = select(build.spec(steps=rule), build.record(m=points))
    assert selection.errors == {0: text}


@pytest.mark.parametrize(
    ("expect", "count", "problem"),
    [
        ((3, False), 3, ()),
        ((3, False), 2, ("m has 2 points, expected 3",)),
        ((3, False), 4, ("m has 4 points, expected 3",)),
        ((3, True), 4, ()),
        ((3, True), 2, ("m has 2 points, expected at least 3",)),
    ],
)
def test_expected_points(build, expect, count, problem):
    """``n`` means exactly n, ``{"min": n}`` at least n."""
    record = build.record(m=dict.fromkeys(range(count), 1.0))
    assert select(build.spec(expect=expect), record).problems == problem


def test_a_missing_metric_names_what_there_is(build):
    """A renamed metric is recognised at a glance."""
    selection = select(build.spec("train/k1"), build.record(**{"train/kl": {0: 1.0}}))
    assert selection.problems == ("train/k1 is missing from the record, which holds train/kl",)
    assert selection.steps.size == 0


def test_a_metric_without_numbers_is_a_problem():
    """A defect line alone leaves nothing to judge, and says why."""
    from gate.spec import Constraint, GateSpec, SpecKey

    spec = GateSpec(SpecKey("m", '"all"', "{}"), "all", Constraint())
    record = Record({"m": MetricSeries(defects=("expected a number, got NoneType at step 3",))})
    assert select(spec, record).problems == (
        "m: expected a number, got NoneType at step 3",
        "m has no numeric point in the record",
    )


def test_defects_and_damage_leave_the_values_selected(build):
    """The metric is an error, and its numbers are still shown and stored."""
    record = Record({"m": MetricSeries((0,), (1.0,), ("bad type",))}, damaged="x: garbage")
    selection = select(build.spec(), record)
    assert selection.problems == ("m: bad type", "m: the record is damaged (x: garbage)")
    assert _table(selection) == [(0, 0, 1.0)]


def test_a_declared_name_meets_the_record_in_nfc(build):
    """However the test's author typed the accent."""
    assert not select(build.spec("e\u0301"), Record({"\u00e9": build.series({0: 1.0})})).problems
