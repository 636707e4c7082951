"""`select`, `evaluate_constraint`, `parse_merged_record`: from points to one comparison."""

import math

import pytest

from driftgate.compat import Selection, SelectionError, evaluate_constraint, parse_merged_record, select

NAN, INF = math.nan, math.inf
SELECTED = {
    "last": ([[0, 0.1], [2, 0.35]], "last", [(-1, 2, 0.35)]),
    "last in the order of the series": ([[5, 0.1], [2, 0.35]], "last", [(-1, 2, 0.35)]),
    "last of two at one step": ([[0, 1.0], [0, 2.0]], "last", [(-1, 0, 2.0)]),
    "last without a step": ([[0, 1.0], [None, 2.0]], "last", [(-1, None, 2.0)]),
    "what is no number does not count": ([[0, True], [1, 2.5], [2, None], [3, "x"]], "last", [(-1, 1, 2.5)]),
    "a fault before the last": ([[0, NAN], [1, 2.5]], "last", [(-1, 1, 2.5)]),
    "all": ([[0, 1.0], [1, 2]], "all", [(0, 0, 1.0), (1, 1, 2.0)]),
    "a list in its own order": ([[0, 1.0], [1, 2.0], [2, 3.0]], [2, 0], [(2, 2, 3.0), (0, 0, 1.0)]),
    "a fault beside the list": ([[0, 1.0], [1, NAN], [1, 3.0]], [0], [(0, 0, 1.0)]),
    "points as tuples": ([(0, 1.0)], "all", [(0, 0, 1.0)]),
}
REFUSED = {
    "last is NaN": ([[0, 1.0], [1, NAN]], "last"),
    "last is infinite": ([[0, 1.0], [1, INF]], "last"),
    "one of all is NaN": ([[0, 1.0], [1, NAN]], "all"),
    "a listed one is infinite": ([[0, 1.0], [1, -INF]], [1]),
    "last of nothing": ([], "last"),
    "all of nothing": ([], "all"),
    "a list of nothing": ([], [0]),
    "no numeric point": ([[0, None]], "last"),
    "a step twice": ([[0, 1.0], [0, 2.0]], "all"),
    "a step twice with one value": ([[0, 1.0], [0, 1.0]], "all"),
    "a listed step twice": ([[0, 1.0], [0, 2.0]], [0]),
    "a point without a step": ([[0, 1.0], [None, 2.0]], "all"),
    "a listed step missing": ([[0, 1.0]], [0, 3]),
    "no list of points": ([3.0], "last"),
    "a negative step": ([[-1, 3.0]], "last"),
    "points that JSON cannot hold": ([[0, object()]], "last"),
    "unknown steps": ([[0, 1.0]], "median"),
    "no steps": ([[0, 1.0]], []),
    "a reduction": ([[0, 1.0]], {"reduce": "mean"}),
}
BAND = {"rel_up": 0.5, "abs_floor_up": 0.0, "rel_down": 0.25, "abs_floor_down": 0.0}
COMPARED = {
    "on the upper bound": (BAND, 3.0, 2.0, (True, 1.5, 3.0)),
    "above": (BAND, math.nextafter(3.0, 4), 2.0, (False, 1.5, 3.0)),
    "on the lower bound": (BAND, 1.5, 2.0, (True, 1.5, 3.0)),
    "below": (BAND, math.nextafter(1.5, 0), 2.0, (False, 1.5, 3.0)),
    "the band scales from the reference alone": (BAND, 100.0, 60.0, (False, 45.0, 90.0)),
    "a negative reference": (BAND, -2.5, -2.0, (True, -2.5, -1.0)),
    "the floor near zero": ({**BAND, "abs_floor_up": 1.0, "abs_floor_down": 0.5}, 1.0, 0.0, (True, -0.5, 1.0)),
    "the wider of both": ({**BAND, "abs_floor_up": 4.0}, 5.0, 2.0, (True, 1.5, 6.0)),
    "left out is zero": ({"rel_up": 1.0, "rel_down": 0.5}, 2.0, 2.0, (True, 1.0, 4.0)),
    "NaN is never inside": (BAND, NAN, 2.0, (False, 1.5, 3.0)),
}


@pytest.mark.parametrize(("series", "steps", "expected"), SELECTED.values(), ids=SELECTED)
def test_a_selection(series, steps, expected):
    """Which step keys the value, where it came from, and what it is."""
    assert select(series, steps) == [Selection(*row) for row in expected]


@pytest.mark.parametrize(("series", "steps"), REFUSED.values(), ids=REFUSED)
def test_a_fault_at_a_selected_place_selects_nothing(series, steps):
    """A SelectionError that says why, never a value less."""
    with pytest.raises(SelectionError, match=r"\w{4}"):
        select(series, steps)


@pytest.mark.parametrize(("constraint", "cur", "ref", "expected"), COMPARED.values(), ids=COMPARED)
def test_a_comparison(constraint, cur, ref, expected):
    """Closed interval, each side with its own band."""
    outcome = evaluate_constraint(constraint, cur, ref)
    assert (outcome.ok, outcome.lo, outcome.hi) == expected
    assert type(outcome.ok) is bool


def test_an_unknown_parameter_of_a_constraint_is_a_type_error():
    """It is not left out in silence."""
    with pytest.raises(TypeError):
        evaluate_constraint({"rel": 0.2}, 1.0, 1.0)


@pytest.mark.parametrize(
    ("constraint", "cur", "ref"),
    [({"rel_up": "0.2"}, 1.0, 1.0), ({"rel_up": None}, 1.0, 1.0), ({}, "1", 1.0), ({}, 1.0, None), ({}, None, 1.0)],
)
def test_what_is_no_number_is_a_type_error(constraint, cur, ref):
    """It is not compared in silence."""
    with pytest.raises(TypeError, match="expected a number, got"):
        evaluate_constraint(constraint, cur, ref)


def test_a_record_is_read_with_its_markers(record):
    """What is not finite was written as text and is a number again."""
    found = parse_merged_record(record(a__b=[[0, 0.5], [1, "NaN"], [2, "Infinity"], [3, "-Infinity"]], c=[[0, 1]]))
    assert found["c"] == [[0, 1.0]]
    assert found["a/b"][0] == [0, 0.5]
    assert math.isnan(found["a/b"][1][1])
    assert found["a/b"][2:] == [[2, INF], [3, -INF]]


def test_the_lines_of_one_metric_belong_together(tmp_path):
    """The file of one process, a line for each call, reads as well: its points in the order of the steps."""
    path = tmp_path / "1-a.jsonl"
    path.write_text("".join(f'{{"metric": "m", "series": [[{step}, 1.5]]}}\n\n' for step in (1, "null", 0)))
    assert parse_merged_record(str(path)) == {"m": [[0, 1.5], [1, 1.5], [None, 1.5]]}


def test_a_record_that_is_none(tmp_path):
    """Missing is an OSError, garbage a ValueError that names the file."""
    with pytest.raises(FileNotFoundError):
        parse_merged_record(str(tmp_path / "missing"))
    (tmp_path / "m.jsonl").write_text("garbage\n")
    with pytest.raises(ValueError, match=r"m\.jsonl: the record is damaged"):
        parse_merged_record(str(tmp_path / "m.jsonl"))
