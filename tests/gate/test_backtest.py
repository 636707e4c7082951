"""A backtest says what live judging said, and what it would have said."""

from __future__ import annotations

import json
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from driftgate.config.load import load_config
from driftgate.harness.judgement import Judgeable, judge
from gate.backtest import Proposal, backtest, spec_outcome
from gate.errors import DriftgateError
from gate.identity import SeriesIdentity
from gate.provenance import Provenance
from store.opening import open_store

IDENTITY = SeriesIdentity("default", "tests/test_a.py", "cpu", "stage-a-cpu")
START = datetime(2026, 1, 1, tzinfo=UTC)
NARROW = {"abs_floor_up": 0.02, "abs_floor_down": 0.02}
WIDE = {"rel_up": 0.06, "rel_down": 0.06}


def nights(count=64):
    """Records and CI runs: noise, a drift of `loss` from night 40 on, and each way for a night to go wrong."""
    rng = np.random.default_rng(7)
    for night in range(count):
        drift = 0.003 * max(0, night - 40)
        length = 12 if night % 9 else 11
        loss = [[step, 1.0 + drift + rng.normal(0, 0.005)] for step in range(length)]
        kl = [[step, 0.01 * step + rng.normal(0, 0.002)] for step in range(length)]
        match night:
            case 6:
                loss[3][1] = "NaN"
            case 9:
                loss, kl = loss[:4], kl[:4]
            case 12:
                kl = []
            case 15:
                loss[5][1] = 1.5
            case 18:
                loss = [[step + 100, value] for step, value in loss]
            case 21:
                loss.append([2, 9.0])
        attempt = 2 if night == 31 else 1
        yield {"loss": loss, "kl": kl}, Provenance(ci_run_id=101 + night - attempt, ci_run_attempt=attempt)


class Live:
    """The harness, night after night, on one store."""

    def __init__(self, folder, settings=""):
        folder.mkdir()
        (folder / "driftgate.toml").write_text(f"[gate]\n{settings}\n")
        self.folder = folder
        self.config = load_config(file=None, start=folder, env={}, options={})
        self.store = open_store(f"sqlite:///{folder / 'history.db'}", one_shot=False, trust=self.config.trust)
        self.verdicts = []

    def judge(self, specs, record, provenance):
        number = len(self.verdicts)
        records = self.folder / str(number)
        records.mkdir()
        lines = [json.dumps({"metric": name, "series": points}) for name, points in record.items() if points]
        (records / "1.jsonl").write_text("\n".join(lines) + "\n")
        created = START + timedelta(days=number)
        attempt = Judgeable(IDENTITY, tuple(specs), records, provenance, created, writes=True, may_enforce=False)
        verdict = judge(attempt, self.config, lambda: nullcontext(self.store)).verdict
        assert verdict.written is not None, verdict
        self.verdicts.append(verdict)

    def all_nights(self, specs):
        for record, provenance in nights():
            self.judge(specs, record, provenance)
        return self

    def proposal(self, specs):
        return Proposal(tuple(specs), self.config.gate, self.config.trust)

    def backtest(self, specs):
        return backtest(self.store.read_past(IDENTITY), self.proposal(specs))


@pytest.fixture
def live(tmp_path):
    made = []

    def make(settings=""):
        made.append(Live(tmp_path / str(len(made)), settings))
        return made[-1]

    yield make
    for one in made:
        one.store.close()


def told(specs, run_ids):
    """Every check of every gate spec as text; runs by their number, as two stores name them differently."""
    text = repr(
        [(spec.key, {name: (c.status, c.reason, dict(c.facts)) for name, c in spec.checks.items()}) for spec in specs]
    )
    for number, run_id in enumerate(run_ids):
        text = text.replace(run_id, f"run {number}")
    return text


def assert_same(found, nightly):
    """Run by run the same outcome, statuses, numbers and reasons."""
    live_ids = [verdict.written.run_id for verdict in nightly.verdicts]
    ids = [run.run_id for run in found.runs]
    for verdict, run in zip(nightly.verdicts, found.runs, strict=True):
        assert run.outcome == verdict.outcome
        assert told(run.specs, ids) == told(map(spec_outcome, verdict.specs), live_ids)


def declarations(build, constraint):
    return [
        build.spec("loss", "all", constraint),
        build.spec("loss", "last", constraint),
        build.spec("kl", "all", NARROW),
    ]


@pytest.mark.parametrize("settings", ['profile = "strict"', 'profile = "balanced"', 'trust = "metric"', "history = 5"])
def test_a_backtest_of_the_same_declaration_is_what_happened(build, live, settings):
    """Run by run the same outcome, statuses, numbers and reasons, broken records, a rerun and red runs included."""
    nightly = live(settings)
    specs = declarations(build, NARROW)
    found = nightly.all_nights(specs).backtest(specs)
    assert len({verdict.outcome for verdict in nightly.verdicts}) == 2
    assert_same(found, nightly)
    assert [run.trusted for run in found.runs] == [run.stored_trusted for run in found.runs]


@pytest.mark.parametrize("settings", ['profile = "strict"', 'profile = "balanced"'])
def test_a_backtest_of_another_band_is_what_would_have_happened(build, live, settings):
    """The history stored under one band, judged under another, comes out as the same nights live under that other."""
    stored, wanted = live(settings), live(settings)
    stored.all_nights(declarations(build, NARROW))
    specs = declarations(build, WIDE)
    wanted.all_nights(specs)
    found = stored.backtest(specs)
    assert_same(found, wanted)
    assert [run.outcome for run in found.runs] != [verdict.outcome for verdict in stored.verdicts]


def test_red_runs_do_not_enter(build, live):
    """A run that the proposal would have rejected is in no later baseline, though it was trusted when it came."""
    nightly = live()
    for value in (1.0, 1.05, 1.06):
        nightly.judge([build.spec("loss")], {"loss": [[0, value]]}, Provenance(ci_run_id=len(nightly.verdicts) + 1))
    found = nightly.backtest([build.spec("loss", constraint=NARROW)])
    assert [run.red for run in found.runs] == [False, True, True]
    assert [run.trusted for run in found.runs] == [True, False, False]
    assert found.runs[2].reasons[1] == "loss step 0: 1.06 is 3 bands above the mean 1 of 1 run (allowed 0.98 to 1.02)"


def test_marks_are_respected(build, live):
    """What an operator decided stands, whatever the proposal says of the run."""
    nightly = live()
    for value in (1.0, 1.0, 1.05):
        nightly.judge([build.spec("loss")], {"loss": [[0, value]]}, Provenance(ci_run_id=len(nightly.verdicts) + 1))
    ids = [verdict.written.run_id for verdict in nightly.verdicts]
    nightly.store.mark_untrusted(project="default", run_id=ids[0], reason="x", actor="y")
    nightly.store.mark_trusted(project="default", run_id=ids[1], reason="x", actor="y")
    found = nightly.backtest([build.spec("loss", constraint=NARROW)])
    assert [run.trusted for run in found.runs] == [False, True, False]
    assert found.runs[1].specs[0].checks["corridor"].status.label == "inactive"


def test_delay(build, live):
    """Runs from the given one to the first red one, both counted; None where none is red."""
    nightly = live().all_nights(declarations(build, NARROW))
    found = nightly.backtest([build.spec("kl", "all", {"abs_floor_up": 1, "abs_floor_down": 1}, checks=())])
    ids = [run.run_id for run in found.runs]
    assert found.delay_from(ids[8]).runs == 2
    assert found.delay_from(ids[20]).to_json() == {"from_run_id": ids[20], "first_red_run_id": None, "runs": None}
    with pytest.raises(DriftgateError, match="run 1 is not one of this series"):
        found.delay_from("1")


def test_values_of_no_proposed_metric(build, live):
    """A proposal for a metric that was never stored judges nothing and changes nobody's trust."""
    nightly = live()
    nightly.judge([build.spec("loss")], {"loss": [[0, 1.0]]}, Provenance(ci_run_id=1))
    found = nightly.backtest([build.spec("other")])
    assert (found.judged, found.runs[0].outcome, found.runs[0].trusted) == (0, "not_judged", True)


def test_the_json_form_holds_plain_values_only(build, live):
    """Counts, every run, and reasons for the red ones."""
    nightly = live().all_nights(declarations(build, NARROW))
    specs = declarations(build, NARROW)
    found = json.loads(json.dumps(nightly.backtest(specs).to_json()))
    red = [run for run in found["runs"] if run["verdict"] == "not_trusted"]
    assert (found["red"], found["judged"], len(found["runs"])) == (len(red), 64, 64)
    assert all(run["reasons"] and run["red_specs"] for run in red)
    assert found["trusted"] == sum(run["trusted"] for run in found["runs"])
