"""What stored attempts tell at the command line: flaky tests, and how long tests take."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gate.identity import SeriesIdentity
from store.contract import Attempt
from store.opening import open_store

NOW = datetime.now(UTC)
FLAKY = SeriesIdentity("default", "tests/test_flaky.py", "cpu", "stage-a-cpu")
BROKEN = SeriesIdentity("default", "tests/test_broken.py", "cuda", "stage-c-8-gpu-h100")


@pytest.fixture
def store(person):
    with open_store("sqlite:///.driftgate/history.db") as opened:
        yield opened


@pytest.fixture
def history(store):
    """Three nights: one test flaky in the second, one that always fails."""
    for night in (1, 2, 3):
        at = NOW - timedelta(days=4 - night)
        attempt = Attempt(FLAKY, night, 1, 1, "pass", 10.0 * night, at)
        retried = [replace(attempt, attempt_class="timeout"), replace(attempt, test_attempt=2)]
        store.record_attempts(retried if night == 2 else [attempt])
        store.record_attempts([Attempt(BROKEN, night, 1, 1, "fail", 99.0, at, exit_code=1)])
    return store


def test_flaky_and_broken_tests_are_told_apart(person, history):
    """Two lists, each with shares, classes and the time of the last one."""
    out = person.call("flakes").out
    flaky, failing = out.split("FAILING")
    assert all(word in flaky for word in ("tests/test_flaky.py", "1 of 3", "33%", "timeout 1"))
    assert "broken" not in flaky
    assert all(word in failing for word in ("tests/test_broken.py", "all 3", "fail 3"))
    assert "flaky" not in failing


def test_flakes_for_machines(person, history):
    """Every number that a person sees."""
    found = person.json("flakes")
    assert (found["tests"], found["executions"], found["since_days"], found["runs"]) == (2, 6, 30, None)
    (flaky,), (failing,) = found["flaky"], found["failing"]
    assert (flaky["series"]["test_path"], flaky["flaky"], flaky["passed"]) == ("tests/test_flaky.py", 1, 2)
    assert (flaky["classes"], flaky["always_fails"], flaky["last_failed_at"]) == ({"timeout": 1}, False, None)
    assert (failing["streak"], failing["always_fails"], failing["executions"]) == (3, True, 3)


@pytest.mark.parametrize(
    ("options", "executions"),
    [
        (("--since", "2"), 2),
        (("--runs", "2"), 4),
        (("--runs", "2", "--since", "2"), 2),
        (("--suite", "stage-a-cpu"), 3),
        (("--backend", "cuda"), 3),
    ],
)
def test_which_attempts_are_looked_at(person, history, options, executions):
    """By days, by number of executions, by place."""
    assert person.json("flakes", *options)["executions"] == executions


def test_no_flakes(person, store):
    """Said, with how much was looked at."""
    answer = person.call("flakes")
    assert (answer.out, answer.lines) == ("", ["no flaky and no failing test; 0 tests, 0 executions looked at"])


def test_durations_of_passing_attempts(person, history):
    """A table; the file says the same as --json, and a plan can read it."""
    assert "tests/test_flaky.py  cpu      stage-a-cpu  30     3" in person.call("durations").out
    document = person.json("durations", "--output", "out/durations.json")
    assert json.loads((person.home / "out/durations.json").read_text()) == document
    assert document["durations"] == [
        {"file": "tests/test_flaky.py", "backend": "cpu", "suite": "stage-a-cpu", "p90_s": 30.0, "n": 3}
    ]
    assert person.json("durations", "--runs", "1")["durations"][0]["n"] == 1


def test_no_durations_yet(person, store):
    """An empty file is still a file that a plan can read."""
    answer = person.call("durations")
    assert (answer.out, "no attempt that passed" in answer.err) == ("", True)
    assert person.json("durations", "--output", "d.json") == {"schema": 1, "durations": []}


def test_a_file_that_cannot_be_written(person, store):
    """One line, before anything is read."""
    answer = person.call("durations", "--output", "/proc/nowhere/d.json")
    assert (answer.code, len(answer.lines), "cannot be written" in answer.err) == (2, 1, True)


def test_a_hostile_name_stays_in_its_row(person, store):
    """A line break or an escape sequence in a name neither breaks the table nor reaches the terminal."""
    hostile = replace(FLAKY, test_path="tests/\n::error::\x1b[31m.py")
    store.record_attempts(
        [Attempt(hostile, 1, 1, 1, "\x1b]0;x", 1.0, NOW), Attempt(hostile, 2, 1, 1, "pass", 1.0, NOW)]
    )
    for out in (person.call("flakes").out, person.call("durations").out):
        assert "\x1b" not in out
        assert r"tests/\n::error::\x1b[31m.py" in out
