"""Flaky or broken, from stored attempts alone."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.harness.flakes import find_flakes
from gate.identity import SeriesIdentity
from store.contract import Attempt

START = datetime(2026, 1, 1, tzinfo=UTC)
A = SeriesIdentity("default", "tests/test_a.py", "cpu", "s")
B = SeriesIdentity("default", "tests/test_b.py", "cpu", "s")


def nights(identity, *executions, ci=True):
    """One execution a night, each a list of attempt classes; outside of CI where ``ci`` is false."""
    return [
        Attempt(identity, night if ci else None, 1 if ci else None, number, name, 1.0, _at(night, number))
        for night, classes in enumerate(executions, start=1)
        for number, name in enumerate(classes, start=1)
    ]


def _at(night, number):
    return START + timedelta(days=night, minutes=number)


@pytest.mark.parametrize("ci", [True, False])
@pytest.mark.parametrize(
    ("executions", "counts", "streak", "classes"),
    [
        ([["pass"]], (1, 0, 0), 0, {}),
        ([["fail", "pass"]], (0, 1, 0), 0, {"fail": 1}),
        ([["fail", "fail"]], (0, 0, 1), 1, {"fail": 2}),
        ([["pass"], ["timeout", "fail", "pass"], ["pass"]], (2, 1, 0), 0, {"fail": 1, "timeout": 1}),
        ([["pass"], ["fail"], ["fail", "timeout"]], (1, 0, 2), 2, {"fail": 2, "timeout": 1}),
        ([["fail"], ["pass"]], (1, 0, 1), 0, {"fail": 1}),
        ([["fail"], ["fail", "pass"]], (0, 1, 1), 0, {"fail": 2}),
    ],
)
def test_what_became_of_the_executions(executions, counts, streak, classes, ci):
    """Passed, flaky and failed; how many failed last in a row; the failing attempts by class."""
    found = find_flakes(nights(A, *executions, ci=ci))
    assert (found.tests, found.executions) == (1, len(executions))
    for record in (*found.flaky, *found.failing):
        assert (record.passed, record.flaky, record.failed) == counts
        assert (record.streak, record.classes) == (streak, classes)
        assert record.always_fails == (counts[:2] == (0, 0))
    assert (bool(found.flaky), bool(found.failing)) == (counts[1] > 0, counts[2] > 0)


def test_a_rerun_of_the_job_belongs_to_the_execution():
    """Failed in the first attempt of the CI run, passed in the second: flaky, and not a failure of its own."""
    rerun = [
        Attempt(A, 7, 1, 1, "fail", 1.0, START),
        Attempt(A, 7, 1, 2, "fail", 1.0, START + timedelta(minutes=1)),
        Attempt(A, 7, 2, 1, "pass", 1.0, START + timedelta(hours=5)),
    ]
    found = find_flakes(rerun)
    assert ([record.flaky for record in found.flaky], found.failing, found.executions) == ([1], (), 1)


def test_a_pass_that_a_rerun_takes_back_is_flaky_too():
    """Both outcomes on one code: the order says nothing."""
    (record,) = find_flakes(nights(A, ["pass", "fail"])).flaky
    assert (record.flaky, record.last_flaky_at) == (1, _at(1, 2))


def test_real_failures_stand_apart_from_flaky_ones():
    """A test that always fails is no flake, one that passes on retry no failure; rates and times are told."""
    found = find_flakes([*nights(A, ["pass"], ["fail", "pass"]), *nights(B, ["fail"], ["fail"])])
    assert [(r.identity, r.flake_rate, r.last_flaky_at) for r in found.flaky] == [(A, 0.5, _at(2, 2))]
    assert [(r.identity, r.always_fails, r.last_failed_at) for r in found.failing] == [(B, True, _at(2, 1))]


def test_the_newest_executions_alone():
    """``newest`` cuts whole executions of each test."""
    attempts = nights(A, ["fail", "pass"], ["fail", "fail", "pass"], ["pass"])
    assert find_flakes(attempts, 1).flaky == ()
    (record,) = find_flakes(attempts, 2).flaky
    assert (record.executions, record.classes) == (2, {"fail": 2})


def test_nothing_is_stored():
    """No attempts, no lists."""
    found = find_flakes([])
    assert (found.flaky, found.failing, found.tests, found.executions) == ((), (), 0, 0)


@given(
    st.lists(st.lists(st.sampled_from(["pass", "fail", "timeout"]), min_size=1, max_size=4), max_size=6), st.randoms()
)
def test_the_order_of_the_rows_does_not_matter(executions, random):
    """Whatever a database answers first, the lists are the same."""
    attempts = [*nights(A, *executions), *nights(B, *executions[::-1])]
    shuffled = random.sample(attempts, len(attempts))
    assert find_flakes(shuffled) == find_flakes(attempts)
