"""The baseline as people ask for it agrees with what the gate judges by."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from gate.history import RunRef, SpecHistory, StoredSeries
from gate.identity import SpecKey
from gate.summary import summarise

KEY = SpecKey("train/ppo_kl", '"all"', '{"abs_floor_up":0.1,"rel_down":0.5,"rel_up":0.5}')


def _row(age, steps, values):
    at = datetime(2026, 1, 31, tzinfo=UTC) - timedelta(days=age)
    ref = RunRef(f"run{age}", at, trusted=True, counting=True, valid=True)
    return StoredSeries(ref, np.array(steps, np.int64), np.array(values, float), len(steps))


def test_columns_agree_with_hand_computed_values_where_runs_lack_steps():
    """Each step has its own newest ``limit`` values; a run that serves no step is not listed."""
    rows = (_row(0, [0, 1], [1.0, 2.0]), _row(1, [0], [3.0]), _row(2, [0, 1], [5.0, 4.0]), _row(3, [0], [9.0]))
    summary = summarise(KEY, SpecHistory(baseline=rows), limit=2, anchor_runs=20)
    assert summary.run_ids == ("run0", "run1", "run2")
    assert summary.steps.tolist() == [0, 1]
    assert summary.n.tolist() == [2, 2]
    assert summary.mean.tolist() == [2.0, 3.0]
    assert summary.lo.tolist() == [1.0, 1.5]
    assert summary.hi.tolist() == [3.0, 4.5]
    assert summary.sd.tolist() == pytest.approx([2.0**0.5, 2.0**0.5])
    assert summary.to_json()["values"] == [[1.0, 2.0], [3.0, None], [None, 4.0]]


def test_anchor_mean_is_null_until_the_anchor_is_full():
    """Fewer anchor runs than asked for show no anchor; enough show their mean."""
    rows = (_row(0, [0], [1.0]), _row(1, [0], [3.0]))
    history = SpecHistory(baseline=rows, anchor=rows[::-1])
    assert summarise(KEY, history, limit=20, anchor_runs=3).to_json()["anchor_mean"] == [None]
    assert summarise(KEY, history, limit=20, anchor_runs=2).to_json()["anchor_mean"] == [2.0]


def test_an_empty_history_gives_empty_columns():
    """No run, no step, no row: every column is empty and nothing warns."""
    shown = summarise(KEY, SpecHistory(), limit=20, anchor_runs=20).to_json()
    assert {len(shown[name]) for name in ("runs", "steps", "values", "n", "mean", "sd", "lo", "hi", "anchor_mean")} == {
        0
    }


def test_one_value_has_no_sd():
    """A sample sd needs two values; with one it is null, not zero."""
    assert summarise(KEY, SpecHistory(baseline=(_row(0, [0], [1.0]),)), limit=20, anchor_runs=20).to_json()["sd"] == [
        None
    ]


@pytest.mark.parametrize(
    "constraint",
    ["band", "[1]", '{"rel_up":1}', '{"rel_up":"x","rel_down":1}', pytest.param("[" * 100_000, id="deep"), "NaN"],
)
def test_a_key_that_no_declaration_made_has_a_mean_and_no_corridor(constraint):
    """Other writers may store such a key: their values are shown, and no bound is invented."""
    summary = summarise(
        SpecKey("m", '"all"', constraint), SpecHistory(baseline=(_row(0, [0], [2.0]),)), limit=20, anchor_runs=1
    ).to_json()
    assert (summary["mean"], summary["lo"], summary["hi"]) == ([2.0], [None], [None])
