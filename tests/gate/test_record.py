"""Records: what is kept, what is dropped, and what is said about it."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.record import MetricSeries, Record, dump_record, load_record, merge, parse

STEPS = st.one_of(st.none(), st.integers(0, 2**63 - 1))
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


def _line(**entry):
    return json.dumps(entry).encode() + b"\n"


def test_series_of_one_metric_are_concatenated():
    """A file may hold many lines of one metric."""
    data = (
        _line(metric="a", series=[[0, 1.0]]) + _line(metric="b", series=[[0, 2]]) + _line(metric="a", series=[[1, 3.0]])
    )
    record = parse(data)
    assert record.metrics["a"] == MetricSeries((0, 1), (1.0, 3.0))
    assert record.metrics["b"] == MetricSeries((0,), (2.0,))


def test_a_whole_series_on_one_line_is_read():
    """The format of one line per metric is the same shape."""
    assert parse(_line(metric="a", series=[[0, 1.0], [1, 2.0]])).metrics["a"].steps == (0, 1)


def test_values_that_are_not_finite_are_evidence():
    """Markers, and the bare words that Python's json writes, are kept as what they say."""
    data = b'{"metric": "a", "series": [[0, "NaN"], [1, "Infinity"], [2, "-Infinity"], [3, NaN], [4, -Infinity]]}\n'
    assert list(map(str, parse(data).metrics["a"].values)) == ["nan", "inf", "-inf", "nan", "-inf"]


@pytest.mark.parametrize("value", ["true", '"0.5"', "null", "[1]", "{}"])
def test_a_value_that_is_no_number_is_ignored_and_noted(value):
    """Other points than numbers do not count, and somebody is told."""
    record = parse(b'{"metric": "a", "series": [[0, %s], [1, 2.0]]}\n' % value.encode(), "x.jsonl")
    assert record.metrics["a"] == MetricSeries((1,), (2.0,))
    assert record.notes == ("x.jsonl: ignored, for they are no numbers: 1 value of a",)
    assert record.damaged is None


def test_a_torn_last_line_is_dropped_and_noted():
    """A kill in mid-write costs the last line only."""
    record = parse(_line(metric="a", series=[[0, 1.0]]) + b'{"metric": "a", "ser', "x.jsonl")
    assert (record.metrics["a"].steps, record.damaged) == ((0,), None)
    assert record.notes == ("x.jsonl: line 2 was cut short and is dropped",)


def test_a_whole_last_line_without_its_newline_is_kept():
    """Only the newline was lost: nothing of the content."""
    assert parse(_line(metric="a", series=[[0, 1.0]]).rstrip(b"\n")).metrics["a"].values == (1.0,)


@pytest.mark.parametrize(
    "garbage",
    [
        b"not json\n",
        b"{]\n",
        b"[]\n",
        b"3\n",
        b'{"metric": 3, "series": []}\n',
        b'{"metric": "a"}\n',
        b'{"metric": "a", "series": 3}\n',
        b"\xff\xfe\n",
        b"\0\0\0\0\n",
        b"trailing words",
        b'{"metric": "a", "series": ' + b"[" * 100_000 + b"\n",
    ],
)
def test_garbage_damages_the_record_and_the_rest_is_kept(garbage):
    """A line that is no record line is dropped and said; it crashes nothing."""
    record = parse(_line(metric="a", series=[[0, 1.0]]) + garbage, "x.jsonl")
    assert record.damaged == "x.jsonl: 1 line is no record line, first line 2"
    assert record.metrics["a"].values == (1.0,)


def test_blank_lines_are_no_garbage():
    """An empty line holds nothing to lose."""
    assert parse(b"\n \r\n" + _line(metric="a", series=[[0, 1.0]])).damaged is None


@pytest.mark.parametrize(
    ("point", "defect"),
    [
        ("[0, 1%s]" % ("0" * 400), "expected a number, got an int too large for a double"),
        ("[-1, 1.0]", "expected a step that is an int >= 0 or null, got a negative int"),
        ("[9223372036854775808, 1.0]", "expected a step that is an int >= 0 or null, got an int above 2**63 - 1"),
        ("[true, 1.0]", "expected a step that is an int >= 0 or null, got a bool"),
        ("[1.5, 1.0]", "expected a step that is an int >= 0 or null, got a float"),
        ("[0]", "expected points of the form [step, value]"),
        ("7", "expected points of the form [step, value]"),
    ],
)
def test_a_point_nobody_can_place_is_a_defect_of_its_metric(point, defect):
    """The metric becomes ERROR, the others do not."""
    record = parse(b'{"metric": "a", "series": [%s, [2, 5.0]]}\n' % point.encode())
    assert record.metrics["a"] == MetricSeries((2,), (5.0,), (defect,))
    assert record.damaged is None


def test_defect_lines_of_the_collector_are_kept_with_their_step():
    """The author's mistake is told with its place."""
    record = parse(_line(metric="a", defect="expected a number, got NoneType", step=3))
    assert record.metrics["a"] == MetricSeries(defects=("expected a number, got NoneType at step 3",))


def test_merge_sorts_by_step_none_last_and_keeps_ties_in_order():
    """Two processes may log one step: both values stay, the first file's first."""
    first = parse(_line(metric="a", series=[[2, 1.0], [None, 2.0], [0, 3.0]]))
    second = parse(_line(metric="a", series=[[0, 4.0], [None, 5.0]]))
    assert merge([first, second]).metrics["a"] == MetricSeries((0, 0, 2, None, None), (3.0, 4.0, 1.0, 2.0, 5.0))


def test_merge_keeps_every_damage_note_and_defect():
    """Nothing that one file says is lost beside another."""
    files = [parse(b"x\n", "1"), parse(b"y\n", "2"), parse(b'{"metric', "3"), parse(_line(metric="a", defect="d"))]
    merged = merge(files)
    assert merged.damaged == "1: 1 line is no record line, first line 1; 2: 1 line is no record line, first line 1"
    assert merged.notes == ("3: line 1 was cut short and is dropped",)
    assert merged.metrics["a"].defects == ("d",)


def test_one_name_in_two_unicode_forms_is_one_metric():
    """Names are compared in NFC."""
    merged = merge(
        [parse(_line(metric="e\u0301", series=[[0, 1.0]])), parse(_line(metric="\u00e9", series=[[1, 2.0]]))]
    )
    assert merged.metrics == {"\u00e9": MetricSeries((0, 1), (1.0, 2.0))}


@pytest.mark.parametrize("name", ["\ud800", "a\0b"])
def test_a_name_that_no_database_holds_is_replaced(name):
    """Lone surrogates and NUL do not travel further."""
    (found,) = parse(_line(metric=name, series=[[0, 1.0]])).metrics
    assert "\0" not in found
    assert found.encode()


@given(
    metrics=st.dictionaries(NAMES, st.lists(st.tuples(STEPS, st.floats()), max_size=6), max_size=4),
    damaged=st.one_of(st.none(), st.just("x: 2 lines are no record line")),
    notes=st.lists(st.just("cut short"), max_size=2),
)
def test_a_merged_record_survives_its_file(build, metrics, damaged, notes):
    """Dump and load give the same record: NaN, infinities, -0.0, 1e308 and subnormals included."""
    raw = Record({name: build.series(points) for name, points in metrics.items()}, damaged, tuple(notes))
    record = load_record(dump_record(merge([raw])))
    again = load_record(dump_record(record))
    assert repr(again) == repr(record)
    assert (record.damaged, record.notes) == (damaged, tuple(notes))
    assert sum(len(series.values) for series in record.metrics.values()) == sum(map(len, metrics.values()))


@given(st.dictionaries(NAMES, st.lists(st.tuples(STEPS, st.floats()), min_size=1), min_size=1))
def test_every_dumped_line_is_strict_json(build, metrics):
    """No reader needs to know Python's extensions."""

    def refuse(word):
        raise ValueError(word)

    dumped = dump_record(Record({name: build.series(points) for name, points in metrics.items()}))
    for line in dumped.decode().rstrip("\n").split("\n"):
        json.loads(line, parse_constant=refuse)


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_no_bytes_crash_the_reader(chunks):
    """Whatever a file holds, it is read to the end and the result can be written."""
    record = parse(b"\n".join(chunks))
    assert load_record(dump_record(record)).damaged == record.damaged


def test_cut_anywhere_a_file_loses_its_last_line_only():
    """A prefix of a good file never damages the record and never invents a value."""
    data = b"".join(_line(metric="a", series=[[step, step + math.pi]]) for step in range(3))
    for size in range(len(data)):
        record = parse(data[:size])
        values = record.metrics["a"].values if record.metrics else ()
        assert record.damaged is None
        assert values == tuple(step + math.pi for step in range(len(values)))
        assert len(values) >= data[:size].count(b"\n")


def test_a_last_line_that_is_whole_and_no_record_is_garbage():
    """Only what does not parse was cut short; a whole document that is no record line damages the record."""
    good = b'{"metric": "m", "series": [[0, 1.0]]}\n'
    assert parse(good + b'{"foo": 1}').damaged is not None
    cut = parse(good + b'{"metric": "m", "ser')
    assert (cut.damaged, len(cut.notes)) == (None, 1)
