"""Learned durations, and that the plan reads what is written."""

import json
import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.harness.durations import durations_document, learned_durations, p90
from driftgate.harness.durations_file import read_durations
from gate.identity import SeriesIdentity
from store.contract import Attempt

A = SeriesIdentity("default", "tests/test_a.py", "cuda", "big")
START = datetime(2026, 1, 1, tzinfo=UTC)


def took(*seconds, identity=A):
    return [Attempt(identity, n, 1, 1, "pass", s, START) for n, s in enumerate(seconds)]


@pytest.mark.parametrize(
    ("count", "rank"), [(1, 1), (2, 2), (9, 9), (10, 9), (11, 10), (20, 18), (30, 27), (100, 90), (101, 91)]
)
def test_which_value_is_the_p90(count, rank):
    """Nearest rank: 9 of 10 are at most as long."""
    assert p90([float(n) for n in range(1, count + 1)]) == rank


@given(st.lists(st.floats(0, 1e6), min_size=1).map(sorted))
def test_the_p90_is_the_smallest_that_covers_nine_of_ten(seconds):
    """The law itself, by counting."""
    covered = {value: sum(s <= value for s in seconds) * 10 >= 9 * len(seconds) for value in seconds}
    assert p90(seconds) == min(value for value, enough in covered.items() if enough)


def test_one_duration_for_each_test_and_suite():
    """Suites are not mixed; sorted; what is no duration teaches nothing."""
    other = SeriesIdentity("default", "tests/test_a.py", "cpu", "small")
    found = learned_durations([*took(10.0, 30.0004, 20.0), *took(math.nan, 5.0, -1.0, math.inf, identity=other)])
    assert [(each.backend, each.suite, each.p90_s, each.n) for each in found] == [
        ("cpu", "small", 5.0, 1),
        ("cuda", "big", 30.0, 3),
    ]


def test_the_plan_reads_what_is_written(tmp_path):
    """Byte for byte the same for the same attempts in any order, and the reader finds each place."""
    attempts = took(1.0, 2.0, 3.5)
    document = durations_document(learned_durations(attempts))
    assert document == durations_document(learned_durations(attempts[::-1]))
    file = tmp_path / "durations.json"
    file.write_text(json.dumps(document))
    assert read_durations(file) == {("tests/test_a.py", "cuda", "big"): 3.5}
