"""Real histories: reading a folder of them, and what is told of a judged one."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.detection.corpus import CorpusMissingError, real_histories
from benchmarks.detection.judges import ours
from benchmarks.detection.pages import fill
from benchmarks.detection.real import judge_real, reshuffled

BALANCED = ours()[0]
RUNS, CHANGE, BROKEN, NOT_FINITE = 40, 30, 10, 25


@pytest.fixture
def folder(tmp_path):
    """A small folder of the real ones' form: a step from run 30, a broken run, one that is not finite."""
    rng = np.random.default_rng(11)
    (tmp_path / "X").mkdir()
    names = [f"X/run_{run:03}.jsonl" for run in range(RUNS)]
    for run, name in enumerate(names):
        move = 40.0 if run == BROKEN else 4.0 * (run >= CHANGE)
        series = [[step, 10.0 + step + move + rng.normal(0, 0.2)] for step in range(12)]
        if run == NOT_FINITE:
            series[5][1] = "NaN"
        lines = [{"metric": "train/loss", "series": series}, {"metric": "perf/step_time", "series": [[0, 1.0]]}]
        (tmp_path / name).write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    special = {str(BROKEN): "broken", str(NOT_FINITE): "nonfinite"}
    what = {"scenario": "X", "description": "made up", "env": "none"}
    entry = what | {"change_index": CHANGE, "special_runs": special, "runs": names}
    (tmp_path / "manifest.json").write_text(json.dumps({"scenarios": [entry]}), encoding="utf-8")
    return tmp_path


def test_a_real_history_is_judged_run_by_run(folder):
    """No false alarm, both broken runs untrusted, the step caught at its first run; wall time is left out."""
    (history,) = real_histories(folder)
    found = judge_real(history, BALANCED)
    assert (found.false_alarms, found.missed, found.delay, found.good) == ((), (), 1, True)
    assert "train/loss corridor" in found.caught.why


def test_a_trusted_broken_run_is_told(folder):
    """Without any red run the broken ones are missed and the change is not caught."""
    (history,) = real_histories(folder)
    found = judge_real(history, BALANCED)
    blind = type(found)(history, "blind", wall_time=False, reds=())
    assert (blind.missed, blind.delay, blind.good) == ((BROKEN, NOT_FINITE), None, False)


def test_reshuffled_histories_hold_ordinary_runs_before_changed_ones(folder):
    """A broken run is never among them, and the change keeps its place."""
    (history,) = real_histories(folder)
    (drawn,) = reshuffled(history, [history], 1)
    broken = {id(history.records[run]) for run in history.special}
    assert not broken & {id(record) for record in drawn.records}
    assert {id(record) for record in drawn.records[drawn.change :]} == {id(run) for run in history.records[CHANGE:]}


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_without_real_histories_there_is_one_line(tmp_path, content):
    """No manifest, a broken one, one without scenarios: each says where, and what to give."""
    if content is not None:
        (tmp_path / "manifest.json").write_text(content, encoding="utf-8")
    with pytest.raises(CorpusMissingError, match=r"no real histories at .*--corpus") as raised:
        real_histories(tmp_path)
    assert "\n" not in str(raised.value)


def test_tables_go_between_their_markers():
    """Everything else on the page stays, and filling twice changes nothing."""
    page = "a\n<!-- measured: x -->\nold\n<!-- end -->\nb\n"
    once = fill(page, {"x": "| new |"})
    assert once == "a\n<!-- measured: x -->\n\n| new |\n\n<!-- end -->\nb\n"
    assert fill(once, {"x": "| new |"}) == once


def test_a_metric_that_never_varies_is_left_out(folder, capsys):
    """Wall time is constant here: no band can be suggested for it, and that is said."""
    (history,) = real_histories(folder)
    assert judge_real(history, BALANCED, wall_time=True).reds == ()
    assert "perf/step_time is left out" in capsys.readouterr().err
