"""One number run by run, beside what each run met."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from gate.identity import SeriesIdentity
from gate.past import PastEpoch, PastRun, PastValues, SeriesPast
from gate.policy import GatePolicy
from gate.trace import trace

START = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = GatePolicy(history=2, anchor_runs=2)
TENTH = {"abs_floor_up": 0.1, "abs_floor_down": 0.2}


@pytest.fixture
def series(build):
    """Five runs with steps 0 and 1, the value at step 1 ten above the one at step 0; the third is red."""
    runs = []
    for number, value in enumerate((1.0, 3.0, 9.0, 5.0, 7.0)):
        values = PastValues(
            build.spec(constraint=TENTH).key, np.arange(2), np.array([value, value + 10]), trusted=True, points=2
        )
        facts = {"trusted": number != 2, "gate_trusted": number != 2, "has_error": False}
        runs.append(PastRun(f"r{number}", START + timedelta(days=number), number, values=(values,), **facts))
    return SeriesPast(SeriesIdentity("default", "tests/test_a.py", "cpu", "stage-a-cpu"), tuple(runs))


def rounded(column):
    return [None if np.isnan(number) else round(number, 6) for number in column.tolist()]


def test_a_step(build, series):
    """Mean and corridor of the newest two trusted runs before each run, anchor of the first two once there are two."""
    found = trace(series, build.spec(constraint=TENTH).key, POLICY, step=0)
    assert found.run_ids == ("r0", "r1", "r2", "r3", "r4")
    assert rounded(found.columns["value"]) == [1.0, 3.0, 9.0, 5.0, 7.0]
    assert rounded(found.columns["mean"]) == [None, 1.0, 2.0, 2.0, 4.0]
    assert rounded(found.columns["lo"]) == [None, 0.8, 1.8, 1.8, 3.8]
    assert rounded(found.columns["hi"]) == [None, 1.1, 2.1, 2.1, 4.1]
    assert rounded(found.columns["anchor"]) == [None, None, 2.0, 2.0, 2.0]
    assert rounded(found.columns["anchor_hi"]) == [None, None, 2.1, 2.1, 2.1]
    assert found.states == ("trusted", "trusted", "untrusted", "trusted", "trusted")


def test_the_mean_over_the_steps(build, series):
    """Without a step, every number is the mean over the run's steps."""
    found = trace(series, build.spec(constraint=TENTH).key, POLICY)
    assert rounded(found.columns["value"]) == [6.0, 8.0, 14.0, 10.0, 12.0]
    assert rounded(found.columns["mean"])[1:] == [6.0, 7.0, 7.0, 9.0]


def test_what_became_of_a_run(build, series):
    """Marked by an operator and superseded by a rerun are told apart from red."""
    runs = list(series.runs)
    runs[1] = replace(runs[1], trusted=False, marked=False)
    runs[3] = replace(runs[3], superseded_by="r4")
    found = trace(replace(series, runs=tuple(runs)), build.spec(constraint=TENTH).key, POLICY, step=0)
    assert found.states == ("trusted", "marked", "untrusted", "superseded", "trusted")
    assert rounded(found.columns["mean"]) == [None, 1.0, 1.0, 1.0, 1.0 + 2.0]


def test_epochs(build, series):
    """Each begins at its first run, which meets no reference."""
    epoch = PastEpoch(1, "e", None, series.runs[3].place)
    found = trace(replace(series, epochs=(epoch,)), build.spec(constraint=TENTH).key, POLICY, step=0)
    assert found.epochs == (3,)
    assert rounded(found.columns["mean"]) == [None, 1.0, 2.0, None, 5.0]


def test_nothing_to_trace(build, series):
    """An unknown gate spec or step has no runs, and columns all the same."""
    for key, step in ((build.spec("other").key, None), (build.spec(constraint=TENTH).key, 7)):
        found = trace(series, key, POLICY, step=step)
        assert (found.run_ids, found.columns["value"].size, found.epochs) == ((), 0, ())
