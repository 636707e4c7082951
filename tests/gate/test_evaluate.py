"""Composition: one read, one outcome."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gate.provenance import Provenance
from gate.record import Record
from gate.verdict import Status


def test_no_declaration_is_not_judged_and_reads_nothing(build):
    """Without a gate spec the store is not asked."""
    reader = build.Reader()
    verdict = build.judge([], build.record(m={0: 1.0}), reader)
    assert (verdict.outcome, verdict.reason, reader.calls) == ("not_judged", "no declaration", [])


def test_history_is_read_once_for_all_specs(build):
    """One question holds every spec, both window sizes and the CI run to leave out."""
    reader = build.Reader()
    specs = [build.spec("a"), build.spec("b")]
    build.judge(specs, build.record(a={0: 1.0}, b={0: 1.0}), reader, provenance=Provenance(ci_run_id=7))
    assert reader.calls == [(build.IDENTITY, [spec.key for spec in specs], 20, 20, 7)]


def test_a_cold_start_is_trusted_and_compares_nothing(build):
    """This is how a baseline is seeded."""
    verdict = build.judge(build.spec(), build.record(m={0: 1.0, 1: 2.0}))
    assert (verdict.outcome, verdict.compared, verdict.coordinates_total) == ("trusted", 0, 2)
    assert verdict.specs[0].checks["corridor"].status is Status.INACTIVE


@pytest.mark.parametrize(("value", "outcome"), [(1.1, "trusted"), (1.2, "not_trusted")])
def test_one_spec_decides_for_the_run(build, value, outcome):
    """A run is trusted iff no check of any spec fails."""
    reader = build.reader(a=build.rows([{0: 1.0}] * 3), b=build.rows([{0: 1.0}] * 3))
    verdict = build.judge([build.spec("a"), build.spec("b")], build.record(a={0: 1.0}, b={0: value}), reader)
    assert verdict.outcome == outcome


def test_the_epoch_and_the_runs_of_the_baseline_are_named(build):
    """A verdict says which history it was judged against."""
    stored = build.rows([{0: 1.0}] * 2)
    judged = build.judge(build.spec(), build.record(m={0: 1.0}), build.reader(m=stored)).specs[0]
    assert (judged.epoch_id, judged.baseline) == ("e1", tuple(row.run.run_id for row in stored))


def test_damage_and_notes_of_the_record_become_warnings(build):
    """Nothing that was dropped from a record goes untold."""
    rec = Record(build.record(m={0: 1.0}).metrics, damaged="a.jsonl: garbage", notes=("b.jsonl: cut short",))
    verdict = build.judge(build.spec(), rec)
    assert [(w.kind, w.text) for w in verdict.warnings] == [
        ("damaged_record", "a.jsonl: garbage"),
        ("record_note", "b.jsonl: cut short"),
    ]
    assert verdict.outcome == "not_trusted"


def test_what_planning_needs_imports_no_numpy():
    """A bare runner has the standard library only."""
    names = "gate, gate.errors, gate.identity, gate.spec, gate.policy, gate.provenance, gate.declarations"
    code = f"import sys, {names}; print([m for m in ('numpy', 'orjson', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
