"""The rivals' adapter, with rivals made up."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.detection.judges import Trial
from benchmarks.detection.rival_process import judged
from benchmarks.detection.rivals import RivalJudge, RivalsUnavailableError, rivals

VALUES = np.array([[[0.0], [0.0]], [[0.0], [9.0]], [[9.0], [0.0]], [[9.0], [9.0]]])


def above_five(series, watch_from):
    return (run for run, value in enumerate(series) if run >= watch_from and value > 5)


def interpreter(folder: Path, program: str) -> Path:
    """A stand-in for the rivals' interpreter: it ignores what it is told to run and runs ``program``."""
    script = folder / "program.py"
    script.write_text(program, encoding="utf-8")
    stand_in = folder / "python"
    stand_in.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}"\n', encoding="utf-8")
    stand_in.chmod(0o755)
    return stand_in


def test_a_run_is_red_where_any_metric_is():
    """The series of all metrics are watched, each alone."""
    answer = judged(VALUES[:, :, 0].T.tolist(), above_five, 0, None)
    assert (answer["red"], answer["judged"]) == ([1, 2, 3], 4)


def test_nothing_is_judged_after_the_first_red_run_that_matters():
    """The earliest red run of any metric from ``stop_from`` on ends the history for all."""
    answer = judged(VALUES[:, :, 0].T.tolist(), above_five, 0, 2)
    assert (answer["red"], answer["judged"]) == ([1, 2], 3)


def test_what_a_rival_gets_and_how_its_answer_is_read(tmp_path):
    """Run means by metric go in as JSON; red runs come out as booleans by run."""
    python = interpreter(
        tmp_path,
        "import json, sys\n"
        "asked = json.load(sys.stdin)\n"
        "assert asked['rival'] == 'otava', asked\n"
        "assert asked['histories'][0] == {'series': [[0.0, 0.0, 9.0, 9.0], [0.0, 9.0, 0.0, 9.0]], 'stop_from': None}\n"
        "print(json.dumps([{'red': [2], 'judged': 4, 'seconds': 0.5}]))\n",
    )
    (found,) = RivalJudge("otava", python).judge([Trial(VALUES, ())])
    assert (found.red.tolist(), found.seconds) == ([False, False, True, False], 0.5)


def test_a_rival_that_fails_is_one_line(tmp_path):
    """The table then says why it has no such rows."""
    python = interpreter(tmp_path, "raise SystemExit('no module named otava')")
    with pytest.raises(RivalsUnavailableError, match="ended with 1: no module named otava") as raised:
        RivalJudge("otava", python).judge([])
    assert "\n" not in str(raised.value)


def test_a_rival_without_interpreter_is_unavailable(tmp_path):
    """No environment, no rows, no traceback."""
    with pytest.raises(RivalsUnavailableError):
        RivalJudge("adwin", tmp_path / "none").judge([])


def test_an_environment_that_cannot_be_made_is_one_line(tmp_path):
    """Where a file is in the way, the message names the place."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(RivalsUnavailableError, match=r"no environment at .*file") as raised:
        rivals(tmp_path / "file" / "env")
    assert "\n" not in str(raised.value)
